// The fact that is decided: as a sentence with what helps to decide it, and in its document.

import { $, count, make, plural } from "./api.js";

const VERBS = { accept: "accepts", reject: "rejects", skip: "skipped" };

let shown = null;

export function showFact(item, session, act) {
  const focused = document.activeElement?.closest("#proposal") ? document.activeElement.id : "";
  showProposal(item, session, act);
  showDocument(item, session);
  // Whoever decides with a button continues with the same button, and on a narrow page begins above the next fact.
  if (focused) $(focused)?.focus({ preventScroll: true });
  const root = document.scrollingElement;
  if (shown !== null && shown !== item.id && root.scrollHeight > root.clientHeight) {
    $("proposal").firstElementChild.scrollIntoView({ block: "start" });
  }
  shown = item.id;
}

export function showNothing(text, detail, button = null) {
  $("proposal").replaceChildren(make("div", { class: "empty" }, make("h2", {}, text), make("p", {}, detail), button));
  $("document").replaceChildren();
}

export const relationOf = (session, id) => session.byId.get(id) ?? { id, name: id, description: "" };
// Entities are counted from 1.
export const entityOf = (entity, index) => `${entity.name} (${entity.type} ${index + 1})`;
export const nameOf = (session, id) => relationOf(session, id).name || id;

function showProposal(item, session, act) {
  const relation = relationOf(session, item.relation);
  const [head, tail] = [item.entities[item.head], item.entities[item.tail]];
  $("proposal").replaceChildren(
    make("div", { class: "card panel" },
      make("p", { class: "kind" }, kindOf(item)),
      make("h2", { class: "fact" },
        entity(head, "head", item.head, session), make("span", { class: "relation" }, relation.name || relation.id),
        entity(tail, "tail", item.tail, session)),
      score(item, session),
      alike(item, act),
      item.rule ? make("p", { class: "rule" }, make("span", { class: "label" }, "Follows by a rule "), item.rule) : null,
      decisionsOf(item)),
    buttons(item, act),
    about(relation),
    examples(item, relation, session),
  );
}

function alike(item, act) {
  if (!item.alike.length) return null;
  const [one, other] = item.alike[0].map((index) => entityOf(item.entities[index], index));
  const button = make("button", { type: "button", class: "plain", id: "merge-alike" }, "Merge them?");
  button.addEventListener("click", () => act("merge"));
  return make("p", { class: "alike" }, `${one} and ${other} may be one entity. `, button);
}

function kindOf(item) {
  if (item.labelled) return "A label that looks wrong. Does it hold?";
  return item.proposed ? "Not labelled. Does it hold?" : "Added by hand";
}

function colourOf(type, session) {
  const colour = session.types.indexOf(type) % 8;
  return `type-${colour < 0 ? 7 : colour}`;
}

function entity(found, role, index, session) {
  return make("span", { class: `entity ${role} ${colourOf(found.type, session)}` }, found.name,
    make("small", {}, `${found.type} ${index + 1}`));
}

function score(item, session) {
  if (!item.proposed) return null;
  const bar = make("span", { class: "fill" });
  bar.style.width = `${Math.min(Math.max(item.score, 0), 1) * 100}%`;
  const note = session.calibrated ? null : make("small", {}, " not calibrated");
  return make("p", { class: "score-of" }, make("span", { class: "large" }, `Score ${item.score.toFixed(2)}`, note),
    make("span", { class: "meter", "aria-hidden": "true" }, bar));
}

function decisionsOf(item) {
  if (!item.decisions.length) return null;
  const lines = item.decisions.map((each) => make("li", { class: each.verdict },
    make("b", {}, each.reviewer), ` ${VERBS[each.verdict]} `, make("time", { datetime: each.at }, timeOf(each.at)),
    each.note ? make("span", { class: "said" }, ` “${each.note}”`) : null));
  return make("ul", { class: "decisions", "aria-label": "Decisions" }, ...lines);
}

function timeOf(at) {
  const then = new Date(at);
  const today = then.toDateString() === new Date().toDateString();
  const day = today ? {} : { day: "numeric", month: "short" };
  return then.toLocaleString("en-GB", { hour: "2-digit", minute: "2-digit", ...day });
}

function buttons(item, act) {
  const button = (name, key, words, kind = "") => {
    const made = make("button", { type: "button", class: kind, id: `do-${name}`, "aria-keyshortcuts": key },
      make("span", {}, words), make("kbd", { "aria-hidden": "true" }, key.toUpperCase()));
    made.addEventListener("click", () => act(name));
    return made;
  };
  return make("div", { class: "actions" },
    make("div", { class: "verdicts", role: "group", "aria-label": "Decide" },
      button("accept", "a", "Accept", "accept"), button("reject", "r", "Reject", "reject"),
      button("skip", "s", "Skip"), button("undo", "u", "Undo")),
    make("div", { class: "corrections", role: "group", "aria-label": "Correct" },
      button("other", "o", "Other relation"), button("swap", "x", "Swap"), button("add", "n", "Add fact"), button("merge", "m", "Same entity")),
    note());
}

function note() {
  const field = make("input", { id: "note", maxlength: "500", autocomplete: "off", placeholder: "goes with your decision" });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") $("proposal").focus(); // single keys decide again
  });
  return make("p", { class: "note-of" }, make("label", { for: "note" }, "Note"), field, make("kbd", { "aria-hidden": "true" }, "C"));
}

function about(relation) {
  const missing = relation.missing === null ? "" :
    `, about ${count(relation.missing)} missing (${count(relation.low)} to ${count(relation.high)})`;
  const id = relation.name && relation.name !== relation.id ? make("small", {}, ` ${relation.id}`) : null;
  return make("section", { class: "about" },
    make("h3", {}, relation.name || relation.id, id),
    relation.description ? make("p", {}, relation.description) : null,
    make("p", { class: "soft" }, `${plural(relation.labelled, "label")} in the corpus${missing}`));
}

function examples(item, relation, session) {
  if (!item.examples.length) return null;
  const shown = item.examples.map((each) => make("li", {},
    make("p", { class: "example" }, ...sentence(each, session)),
    make("p", { class: "soft" }, `${each.head_name} → ${each.tail_name} · ${each.document}`)));
  return make("section", { class: "examples" }, make("h3", {}, `Labelled “${relation.name || relation.id}”`), make("ul", {}, ...shown));
}

const CLOSING = new Set([".", ",", ";", ":", "!", "?", ")", "]", "%", "'s", "’s"]);

// Words in a row that belong to one mention become one mark.
function sentence({ words, head_type, tail_type }, session) {
  const colours = { head: colourOf(head_type, session), tail: colourOf(tail_type, session) };
  const parts = [];
  let before = "";
  for (const [word, role] of words) {
    const gap = before && !CLOSING.has(word) && before !== "(" && before !== "[" ? " " : "";
    const last = parts.at(-1);
    if (last && last.role === role) last.text += gap + word;
    else {
      if (last && gap) last.role ? parts.push({ role: "", text: gap }) : (last.text += gap);
      parts.push({ role, text: word });
    }
    before = word;
  }
  return parts.map(({ role, text }) => (role ? make("mark", { class: `${role} ${colours[role]}` }, text) : text));
}

function showDocument(item, session) {
  const place = $("document");
  const known = item.facts.length;
  place.replaceChildren(
    make("h2", { class: "title" }, item.document),
    make("p", { class: "soft", id: "hint" }, `${plural(known, "known fact")}. To add one, click its head and then its tail.`),
    make("div", { id: "text" }),
  );
  // Escaped by the server's renderer; the policy of the page runs no script that got in anyway.
  $("text").innerHTML = item.text;
  const types = [...new Set(item.entities.map((each) => each.type))].sort();
  const spans = types.map((type) => make("span", { class: `mention ${colourOf(type, session)}` }, type));
  $("text").prepend(make("div", { class: "unnoted-document legend" }, make("p", { class: "types" }, ...spans.flatMap((span) => [span, " "]))));
  bringIntoView();
}

function bringIntoView() {
  const pane = $("document");
  const target = pane.querySelector(".supports .mention.head, .supports .mention.tail, .supports, .mention.head");
  pane.scrollTop = 0;
  if (!target || pane.scrollHeight <= pane.clientHeight) return;
  const below = target.getBoundingClientRect().bottom - pane.getBoundingClientRect().top - pane.clientHeight * 0.8;
  if (below > 0) pane.scrollTop = below + pane.clientHeight * 0.3;
}
