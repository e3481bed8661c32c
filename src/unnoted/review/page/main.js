// The page as a whole: who reviews, which fact is shown, and what keys and clicks do to it.

import { Refused, get, post } from "./api.js";
import { RelationDialog, anyOpen, askName, prepareDialogs } from "./dialogs.js";
import { nameOf, showFact, showNothing } from "./fact.js";
import { Figures } from "./figures.js";
import { $, announce } from "./making.js";
import { QueueList } from "./queue.js";

const NAME = "unnoted.reviewer";
const KEYS = "unnoted.keys";
const PAST = { accept: "Accepted", reject: "Rejected", skip: "Skipped" };

class Review {
  constructor(session, reviewer) {
    this.session = session;
    this.reviewer = reviewer;
    this.item = null;
    this.rank = -1;
    this.head = null;
    this.busy = false;
    this.choice = 0;
    this.queue = new QueueList(session, reviewer, (item) => this.select(item));
    this.figures = new Figures(reviewer, (changes) => this.changed(changes));
    this.relations = new RelationDialog(session);
    this.acts = {
      accept: () => this.decide("accept"),
      reject: () => this.decide("reject"),
      skip: () => this.decide("skip"),
      undo: () => this.undo(),
      other: () => this.other(),
      swap: () => this.swap(),
      add: () => this.add(null, null),
    };
  }

  async begin() {
    await this.select(this.queue.first());
    this.figures.refresh();
  }

  // One thing at a time, and said when the next fact is there: a key that is pressed while another is being written would meet a fact that was not seen.
  async act(name) {
    if (this.busy) return;
    this.busy = true;
    try {
      await this.acts[name]();
    } catch (error) {
      announce(error instanceof Refused ? error.message : "The server does not answer. Nothing was lost; try again.", "wrong");
      if (!(error instanceof Refused) && !(error instanceof TypeError)) console.error(error);
    } finally {
      this.busy = false;
    }
  }

  get written() {
    const { order, relation, document: of, low, high, doubtful, by } = this.queue.chosen;
    const filtered = [relation, of, doubtful, by].some(Boolean) || Number(low || 0) > 0 || Number(high || 100) < 100;
    return { reviewer: this.reviewer, order, filtered };
  }

  // Shows a fact, given its id or a promise of it. The last choice wins, whichever answer comes last.
  async select(chosen) {
    this.choice += 1;
    const choice = this.choice;
    this.letGo();
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
    this.rank = item.ranks[this.queue.chosen.order];
    showFact(item, this.session, (name) => this.act(name));
    this.queue.show(id, this.rank); // the list may have pages to load; the fact can be decided meanwhile
  }

  async advance() {
    await this.select(this.queue.following(this.rank));
  }

  settled(answer) {
    for (const each of answer.items) {
      const mine = each.said.find((said) => said.reviewer === this.reviewer)?.verdict ?? null;
      this.queue.note(each.id, each.state, mine);
    }
    this.figures.soon();
  }

  fact(each) {
    return `${each.head_name} – ${nameOf(this.session, each.relation)} → ${each.tail_name}`;
  }

  async decide(verdict) {
    if (!this.item) return;
    const answer = await post("api/decisions", { ...this.written, item: this.item.id, verdict });
    this.settled(answer);
    await this.advance();
    announce(`${PAST[verdict]}: ${this.fact(answer.items[0])}`, verdict);
  }

  async undo() {
    const answer = await post("api/undo", this.written);
    this.settled(answer);
    const back = answer.items[0];
    if (!this.queue.row(back.id)) await this.queue.load();
    await this.select(back.id);
    announce(`Undone: ${this.fact(back)}`, "undo");
  }

  async state(fact, insteadOf) {
    const values = { ...this.written, document: this.item.document, ...fact };
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

  async add(head, tail) {
    if (!this.item) return;
    const clicked = head !== null;
    const found = await this.relations.ask({
      title: "Add a fact", submit: "Add the fact", item: this.item, without: null, fixed: false,
      head: clicked ? head : this.item.head, tail: clicked ? tail : this.item.tail,
    });
    this.letGo();
    if (!found) return;
    const stated = await this.state(found, null);
    await this.select(this.item.id);
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
    this.letGo();
    if (head === entity) announce("No head is chosen.");
    else this.actWith(() => this.add(head, entity));
  }

  actWith(action) {
    this.acts.clicked = action;
    this.act("clicked");
  }

  letGo() {
    this.head = null;
    for (const mention of document.querySelectorAll("#text .chosen")) mention.classList.remove("chosen");
  }

  async step(by) {
    const row = this.queue.neighbour(by);
    if (row) await this.select(row.id);
    else if (by > 0) await this.advance();
  }

  // What others decided meanwhile.
  changed(changes) {
    for (const { id, state } of changes) this.queue.note(id, state);
  }
}

function listen(review) {
  const keys = {
    a: "accept", r: "reject", s: "skip", u: "undo", o: "other", x: "swap", n: "add",
  };
  const moves = { j: 1, k: -1 };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || anyOpen()) return;
    if (event.key === "Escape") {
      review.letGo();
      return;
    }
    if (!$("keys-on").checked || event.target.closest("input, select, textarea")) return;
    const key = event.key.toLowerCase();
    if (key in keys) review.act(keys[key]);
    else if (key in moves) review.step(moves[key]);
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
  $("about").textContent = `${session.suggestions} · documents of ${session.source} · judged by ${session.model}`;
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
