// The page as a whole: who reviews, which fact is shown, and what keys and clicks do to it.

import { $, Refused, announce, count, get, make, percent, plural, post } from "./api.js";
import { RelationDialog, anyOpen, askMerge, askName, prepareDialogs } from "./dialogs.js";
import { entityOf, nameOf, showFact, showNothing } from "./fact.js";
import { QueueList } from "./queue.js";

const NAME = "unnoted.reviewer";
const KEYS = "unnoted.keys";
const GOALS = [50, 200]; // the first fifty, then what completeness needs; from then on every 200
const PAST = { accept: "Accepted", reject: "Rejected", skip: "Skipped" };

const nextGoal = (decided) => GOALS.find((goal) => goal > decided) ?? 200 * (Math.floor(decided / 200) + 1);

class Review {
  constructor(session, reviewer) {
    this.session = session;
    this.reviewer = reviewer;
    this.item = null;
    this.rank = -1;
    this.head = null;
    this.picked = false; // the reviewer chose this fact, the queue did not
    this.busy = false;
    this.choice = 0;
    this.queue = new QueueList(session, reviewer, (item, picked) => this.select(item, picked));
    this.figures = new Figures((changes) => this.changed(changes));
    this.relations = new RelationDialog(session);
    this.actions = {
      accept: () => this.decide("accept"),
      reject: () => this.decide("reject"),
      skip: () => this.decide("skip"),
      undo: () => this.undo(),
      other: () => this.other(),
      swap: () => this.swap(),
      add: () => this.add(null, null),
      merge: () => this.merge(),
    };
  }

  async begin() {
    await this.select(this.queue.first());
    this.figures.refresh();
  }

  // One thing at a time, and announced when the next fact is there: a key that is pressed while another is being
  // written would meet a fact that was not seen.
  async act(name) {
    if (this.busy) return;
    this.busy = true;
    try {
      await this.actions[name]();
    } catch (error) {
      const message = error instanceof Refused ? error.message : "The server does not answer. Nothing was lost; try again.";
      announce(message, "wrong");
      if (!(error instanceof Refused) && !(error instanceof TypeError)) console.error(error);
    } finally {
      this.busy = false;
    }
  }

  // How the fact was shown: only what the random order brings without filters is a random sample.
  get event() {
    return { reviewer: this.reviewer, order: this.queue.chosen.order, filters: this.queue.filters, picked: this.picked, note: $("note")?.value.trim() ?? "" };
  }

  // Shows a fact, given its id or a promise of it. The last choice wins, whichever answer comes last.
  async select(chosen, picked = false) {
    this.choice += 1;
    const choice = this.choice;
    this.clearHead();
    const id = await chosen;
    if (choice !== this.choice) return;
    if (id === null) {
      this.item = null;
      const finished = this.queue.chosen.view === "open" ? "Everything in this view is decided." : "Nothing is in this view.";
      showNothing(finished, "Choose other filters, or another view of the queue.");
      return;
    }
    const item = await get(`api/items/${id}`, { as: this.reviewer });
    if (choice !== this.choice) return;
    this.item = item;
    this.picked = picked;
    this.rank = item.ranks[this.queue.chosen.order];
    showFact(item, this.session, (name) => this.act(name));
    this.queue.show(id, this.rank); // the list may have pages to load; the fact can be decided meanwhile
  }

  async advance() {
    if (this.figures.reached()) {
      this.choice += 1;
      return this.rest();
    }
    await this.select(this.queue.following(this.rank));
  }

  // A goal is a place to stop at, with the result so far.
  async rest() {
    await this.figures.refresh();
    const { accepted, rejected, decided, goal } = this.figures;
    const next = make("button", { type: "button", class: "primary", id: "go-on" }, `Go on to ${count(nextGoal(decided))}`);
    next.addEventListener("click", () => {
      this.figures.aim();
      this.actWith(() => this.advance());
    });
    this.item = null;
    showNothing(`The first ${count(goal)} are decided.`, `${count(accepted)} hold and ${count(rejected)} do not. Everything is saved; “unnoted review export” writes it into your corpus.`, next);
    next.focus();
  }

  settled(answer) {
    this.figures.count(answer.decided);
    for (const each of answer.items) {
      const mine = each.decisions.find((each) => each.reviewer === this.reviewer)?.verdict ?? null;
      this.queue.note(each.id, each.state, mine);
    }
    this.figures.soon();
  }

  fact(each) {
    return `${each.head_name} – ${nameOf(this.session, each.relation)} → ${each.tail_name}`;
  }

  async decide(verdict) {
    if (!this.item) return;
    const answer = await post("api/decisions", { ...this.event, item: this.item.id, verdict });
    this.settled(answer);
    await this.advance();
    announce(`${PAST[verdict]}: ${this.fact(answer.items[0])}`, verdict);
  }

  async undo() {
    const answer = await post("api/undo", this.event);
    this.settled(answer);
    const back = answer.items[0];
    if (!back) { // entities are apart again
      await this.select(this.item?.id ?? this.queue.first(), this.picked);
      await this.queue.load();
      announce("Undone: the entities are two again.", "undo");
      return;
    }
    await this.select(back.id, true);
    announce(`Undone: ${this.fact(back)}`, "undo");
  }

  async state(fact, insteadOf) {
    const values = { ...this.event, document: this.item.document, ...fact };
    if (insteadOf !== null) values.instead_of = insteadOf;
    const answer = await post("api/facts", values);
    this.settled(answer);
    return answer.items.at(-1);
  }

  async other() {
    if (!this.item) return;
    const { head, tail, relation, id } = this.item;
    const title = "Which relation holds instead?";
    const found = await this.relations.ask({ title, submit: "This one holds", item: this.item, head, tail, fixed: true, without: relation });
    if (!found) return;
    const stated = await this.state(found, id);
    await this.advance();
    announce(`Rejected, and accepted instead: ${this.fact(stated)}`, "accept");
  }

  async swap() {
    if (!this.item) return;
    const { head, tail, relation, id } = this.item;
    const stated = await this.state({ head: tail, tail: head, relation }, id);
    const known = stated.id === id;
    await this.advance();
    announce(known ? "Rejected; the other direction is labelled already." : `Swapped: ${this.fact(stated)}`, "accept");
  }

  async merge() {
    if (!this.item) return;
    const { entities, alike, head, tail, document, id } = this.item;
    const found = await askMerge(entities, alike[0] ?? [head, tail]);
    if (!found) return;
    const answer = await post("api/merges", { ...this.event, document, ...found });
    this.settled(answer);
    const { state } = await get(`api/items/${id}`, { as: this.reviewer });
    await this.queue.load();
    if (state === "merged") await this.advance();
    else await this.select(id, this.picked);
    const [one, other] = [found.one, found.other].map((index) => entityOf(entities[index], index));
    announce(`Merged: ${one} and ${other}`, "accept");
  }

  async add(head, tail) {
    if (!this.item) return;
    const clicked = head !== null;
    const found = await this.relations.ask({
      title: "Add a fact", submit: "Add the fact", item: this.item, without: null, fixed: false,
      head: clicked ? head : this.item.head, tail: clicked ? tail : this.item.tail,
    });
    this.clearHead();
    if (!found) return;
    const stated = await this.state(found, null);
    await this.select(this.item.id, this.picked);
    announce(`Added: ${this.fact(stated)}`, "accept");
  }

  // Adding with the mouse: the first click chooses the head, the second the tail.
  clicked(entity) {
    if (this.head === null) {
      this.head = entity;
      for (const mention of document.querySelectorAll(`#text .mention[data-entity="${entity}"]`)) mention.classList.add("chosen");
      announce(`Head: ${this.item.entities[entity].name}. Now click the tail, or press Escape.`);
      return;
    }
    const head = this.head;
    this.clearHead();
    if (head === entity) announce("No head is chosen.");
    else this.actWith(() => this.add(head, entity));
  }

  actWith(action) {
    this.actions.clicked = action;
    this.act("clicked");
  }

  clearHead() {
    this.head = null;
    for (const mention of document.querySelectorAll("#text .chosen")) mention.classList.remove("chosen");
  }

  async step(by) {
    const row = this.queue.neighbour(by);
    if (row) await this.select(row.id, true);
    else if (by > 0) await this.advance();
  }

  // What others decided meanwhile.
  changed(changes) {
    for (const { id, state } of changes) this.queue.note(id, state);
  }
}

// The figures above everything: how far, how complete, how alike.
class Figures {
  constructor(changed) {
    this.changed = changed;
    this.last = null;
    this.waiting = null;
    this.goal = null;
    this.decided = 0;
    setInterval(() => document.hidden || this.refresh(), 5000);
  }

  // Soon, and once for several decisions.
  soon() {
    this.waiting ??= setTimeout(() => {
      this.waiting = null;
      this.refresh();
    }, 250);
  }

  async refresh() {
    let found;
    try {
      found = await get("api/progress");
    } catch {
      return; // the next decision says that the server is away
    }
    this.show(found);
    if (this.last !== null && found.last_event > this.last) this.changed(await get("api/changes", { since: this.last }));
    this.last = found.last_event;
  }

  reached() {
    return this.goal !== null && this.decided >= this.goal && this.decided < this.all;
  }

  // At once: the other figures follow.
  count(decided) {
    this.decided = decided;
    if (this.goal !== null) this.showGoal();
  }

  aim() {
    this.goal = nextGoal(this.decided);
    this.showGoal();
  }

  showGoal() {
    const goal = Math.min(this.goal, this.all);
    $("goal").textContent = goal < this.all ? `The first ${count(goal)}` : "Decided";
    $("decided").textContent = `${count(this.decided)} of ${count(goal)}`;
    $("of-all").textContent = goal < this.all ? `${count(this.all)} in all` : "";
    $("progress").value = goal ? this.decided / goal : 1;
  }

  show(found) {
    const { open, skipped, accepted, rejected, disagreed } = found.states;
    Object.assign(this, { accepted, rejected, decided: accepted + rejected + disagreed });
    this.all = this.decided + open + skipped;
    if (this.goal === null) this.aim();
    else this.showGoal();
    this.showCompleteness(found.completeness);
    this.showReviewers(found);
  }

  showCompleteness(found) {
    $("interval").hidden = found === null;
    $("multiplier-figure").hidden = found === null || !found.sampled;
    if (found === null) {
      $("complete").textContent = "–";
      return;
    }
    const { estimate, low, high, sampled, needed, level, multiplier } = found;
    const isRough = sampled < needed;
    for (const id of ["complete-figure", "multiplier-figure"]) $(id).classList.toggle("unsure", isRough);
    $("why").textContent = isRough ? `rough: ${count(sampled)} of ${count(needed)} random decisions` : "";
    $("complete").textContent = `${percent(estimate)} (${percent(low).replace(" %", "")}–${percent(high)})`;
    const basis = sampled ? `from ${count(sampled)} random decisions` : "from the scores alone: decide some in the order “Random sample”";
    const missing = `${count(found.found)} facts are labelled, about ${count(found.missing)} are missing`;
    $("complete").title = `${missing}; ${percent(level)} interval, ${basis}`;
    const [least, most] = [multiplier.low, multiplier.high].map((each) => each.toFixed(2));
    $("multiplier").textContent = `${multiplier.estimate.toFixed(2)} (${least}–${most})`;
    $("interval").querySelector(".band").style.left = `${low * 100}%`;
    $("interval").querySelector(".band").style.right = `${100 - high * 100}%`;
    $("interval").querySelector(".point").style.left = `${estimate * 100}%`;
  }

  showReviewers({ reviewers, agreement }) {
    const row = (cells) => make("tr", {}, ...cells.map((cell, index) => make(index ? "td" : "th", index ? {} : { scope: "row" }, cell)));
    const kappa = (value) => (value === null ? "–" : value.toFixed(2));
    $("reviewers").tBodies[0].replaceChildren(...reviewers.map((each) => row([each.name, count(each.accepted), count(each.rejected), count(each.skipped)])));
    $("agreements").tBodies[0].replaceChildren(...agreement.map((each) => row([each.reviewers.join(" and "), count(each.both), count(each.agreed), kappa(each.kappa)])));
    $("agreements").hidden = agreement.length === 0;
    $("no-agreement").hidden = agreement.length > 0;
    $("kappa-figure").hidden = reviewers.length < 2;
    // Several pairs: the mean, each pair by the number of facts that both have decided.
    const known = agreement.filter((each) => each.kappa !== null);
    const both = known.reduce((sum, each) => sum + each.both, 0);
    $("kappa").textContent = known.length ? kappa(known.reduce((sum, each) => sum + each.kappa * each.both, 0) / both) : "–";
    const chosen = $("by").value;
    const names = new Set([...reviewers.map((each) => each.name), ...(chosen ? [chosen] : [])]);
    $("by").replaceChildren(make("option", { value: "" }, "Anybody"), ...[...names].map((name) => make("option", { value: name }, name)));
    $("by").value = chosen;
  }
}

function listen(review) {
  const keys = {
    a: "accept", r: "reject", s: "skip", u: "undo", o: "other", x: "swap", n: "add", m: "merge",
  };
  const moves = { j: 1, k: -1 };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || anyOpen()) return;
    if (event.key === "Escape") {
      review.clearHead();
      review.queue.open(false);
      return;
    }
    if (!$("keys-on").checked || event.target.closest("input, select, textarea")) return;
    const key = event.key.toLowerCase();
    if (key in keys) review.act(keys[key]);
    else if (key in moves) review.step(moves[key]);
    else if (key === "c") $("note")?.focus();
    else if (key === "/") {
      $("more-filters").open = true;
      $("relation").focus();
    } else if (key === "?") $("help-dialog").showModal();
    else return;
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const mention = event.target.closest("#text .text .mention[data-entity]");
    if (mention && review.item && !review.busy) review.clicked(Number(mention.dataset.entity));
  });
  $("show-help").addEventListener("click", () => $("help-dialog").showModal());
  $("kappa").addEventListener("click", () => $("agreement-dialog").showModal());
  $("show-disagreements").addEventListener("click", () => {
    $("agreement-dialog").close();
    $("view").value = "disagreed";
    review.queue.changed();
  });
  $("keys-on").addEventListener("change", () => localStorage.setItem(KEYS, $("keys-on").checked ? "on" : "off"));
}

async function named() {
  const given = new URLSearchParams(location.search).get("as")?.trim() || localStorage.getItem(NAME) || "";
  const name = given || (await askName(""));
  if (name) localStorage.setItem(NAME, name);
  return name || named();
}

async function changeName(known) {
  const name = await askName(known);
  if (name === known) return;
  localStorage.setItem(NAME, name);
  const query = new URLSearchParams(location.search);
  query.set("as", name);
  history.replaceState(null, "", `${location.pathname}?${query}${location.hash}`);
  location.reload();
}

async function start() {
  prepareDialogs();
  let session;
  try {
    session = await get("api/session");
  } catch (error) {
    const missing = error instanceof Refused && error.status === 401;
    showNothing(
      missing ? "This address has no token, or an old one." : "The server does not answer.",
      missing ? "Open the address that the command printed." : String(error.message),
    );
    return;
  }
  session.byId = new Map(session.relations.map((each) => [each.id, each]));
  $("keys-on").checked = localStorage.getItem(KEYS) !== "off";
  $("about").textContent = `${session.suggestions} · documents of ${session.source} · scored by ${session.model}`;
  $("rough").hidden = !session.rough;
  $("rough").replaceChildren(`Only ${plural(session.labels, "label")}: scores are rough. `, make("span", {}, "The queue begins in random order."));
  const reviewer = await named();
  $("who").textContent = reviewer;
  $("who").addEventListener("click", () => changeName(reviewer));
  const review = new Review(session, reviewer);
  listen(review);
  try {
    await review.begin();
  } catch (error) {
    showNothing("The queue could not be read.", String(error.message));
  }
}

start();
