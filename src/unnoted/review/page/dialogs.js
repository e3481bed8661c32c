// What is asked in a box of its own: the reviewer's name, and a relation between two entities.

import { $, get, make } from "./api.js";
import { entityOf, nameOf } from "./fact.js";

export function prepareDialogs() {
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
}

export const anyOpen = () => document.querySelector("dialog[open]") !== null;

export function askName(known) {
  const box = $("name-dialog");
  $("name").value = known;
  box.showModal();
  return new Promise((resolve) => {
    box.addEventListener("close", () => resolve($("name").value.trim() || known), { once: true });
  });
}

// One choice for each entity of a document: of those that were merged, the first.
function fillEntities(select, entities, chosen) {
  const options = entities.map((entity, index) => (entity.same_as === index ? make("option", { value: String(index) }, entityOf(entity, index)) : null));
  select.replaceChildren(...options.filter(Boolean));
  select.value = String(chosen);
}

// Asks for two entities that are one. Gives null if none were chosen.
export function askMerge(entities, [one, other]) {
  const [box, first, second] = [$("merge-dialog"), $("merge-one"), $("merge-other")];
  fillEntities(first, entities, one);
  fillEntities(second, entities, other);
  const form = box.querySelector("form");
  const check = () => { form.querySelector(".primary").disabled = first.value === second.value; };
  first.onchange = second.onchange = check;
  check();
  box.showModal();
  second.focus();
  return new Promise((resolve) => {
    form.onsubmit = () => resolve({ one: Number(first.value), other: Number(second.value) });
    box.addEventListener("close", () => resolve(null), { once: true });
  });
}

// Asks for a relation, and for head and tail where these are open. Gives null if nothing was chosen.
export class RelationDialog {
  constructor(session) {
    this.session = session;
    this.box = $("relation-dialog");
    this.usual = [];
    this.active = 0;
    $("search").addEventListener("input", () => this.list());
    $("search").addEventListener("keydown", (event) => this.pressed(event));
    $("choices").addEventListener("click", (event) => {
      const option = event.target.closest("[data-relation]");
      if (option) this.finish(option.dataset.relation);
    });
    for (const end of [$("pair-head"), $("pair-tail")]) end.addEventListener("change", () => this.pairChanged());
    this.box.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.finish(this.shown[this.active]);
    });
    this.box.addEventListener("close", () => this.resolve?.(null));
  }

  async ask({ title, submit, item, head, tail, fixed, without }) {
    // From now on: whoever is fast answers before the usual relations have come.
    const answered = new Promise((resolve) => {
      this.resolve = (found) => {
        this.resolve = null;
        resolve(found);
      };
    });
    Object.assign(this, { item, without, usual: [], shown: [], active: 0 });
    $("relation-title").textContent = title;
    this.box.querySelector(".primary").textContent = submit;
    $("pair").hidden = fixed;
    for (const [end, chosen] of [[$("pair-head"), head], [$("pair-tail"), tail]]) fillEntities(end, item.entities, chosen);
    $("search").value = "";
    $("choices").replaceChildren();
    this.box.showModal();
    (fixed || head !== tail ? $("search") : $("pair-head")).focus();
    this.pairChanged().catch(() => this.list()); // without them, all relations are still there
    return answered;
  }

  get pair() {
    return { head: Number($("pair-head").value), tail: Number($("pair-tail").value) };
  }

  async pairChanged() {
    const { head, tail } = this.pair;
    const [from, to] = [this.item.entities[head], this.item.entities[tail]];
    this.describe();
    this.usual = await get("api/usual", { head_type: from.type, tail_type: to.type });
    this.list();
  }

  describe() {
    const { head, tail } = this.pair;
    const relation = this.shown?.[this.active];
    const same = head === tail;
    $("relation-fact").textContent = same
      ? "Choose two different entities."
      : `${this.item.entities[head].name} – ${relation ? nameOf(this.session, relation) : "…"} → ${this.item.entities[tail].name}`;
    this.box.querySelector(".primary").disabled = same || !relation;
  }

  list() {
    const wanted = $("search").value.trim().toLowerCase();
    const usual = new Set(this.usual);
    const ordered = [...this.usual, ...this.session.relations.map((each) => each.id).filter((id) => !usual.has(id))];
    const matches = (id) => {
      const { name, description } = this.session.byId.get(id);
      return `${id} ${name}`.toLowerCase().includes(wanted) || (wanted.length > 2 && description.toLowerCase().includes(wanted));
    };
    const rank = (id) => (nameOf(this.session, id).toLowerCase().startsWith(wanted) ? 0 : 1);
    this.shown = ordered.filter((id) => id !== this.without && this.session.byId.has(id) && matches(id));
    if (wanted) this.shown.sort((a, b) => rank(a) - rank(b));
    this.active = 0;
    const options = this.shown.map((id, index) => {
      const relation = this.session.byId.get(id);
      return make("div", { id: `choice-${index}`, role: "option", "aria-selected": String(index === 0), data: { relation: id } },
        make("span", { class: "name" }, relation.name || id),
        usual.has(id) ? make("span", { class: "tag" }, "usual here") : null,
        relation.description ? make("span", { class: "soft" }, relation.description) : null);
    });
    $("choices").replaceChildren(...(options.length ? options : [make("p", { class: "soft" }, "No such relation.")]));
    this.mark(0);
  }

  mark(index) {
    const options = $("choices").querySelectorAll("[role=option]");
    options[this.active]?.setAttribute("aria-selected", "false");
    this.active = Math.min(Math.max(index, 0), options.length - 1);
    const option = options[this.active];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) $("search").setAttribute("aria-activedescendant", option.id);
    else $("search").removeAttribute("aria-activedescendant");
    this.describe();
  }

  pressed(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.mark(this.active + steps[event.key]);
  }

  finish(relation) {
    const pair = this.pair;
    if (!relation || pair.head === pair.tail) return;
    const resolve = this.resolve;
    this.resolve = null;
    this.box.close();
    resolve?.({ ...pair, relation });
  }
}
