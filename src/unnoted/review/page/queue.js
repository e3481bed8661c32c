// The queue: filters, and a list that is loaded a page at a time while it is scrolled.

import { $, announce, get, make, plural } from "./api.js";

const PAGE = 100;
// With few labels, `order` is random.
const DEFAULTS = { order: "score", view: "open", relation: "", document: "", low: "0", high: "1", suspicious: "", by: "" };
const NARROWING = ["relation", "document", "low", "high", "suspicious", "by"];
const MARKS = {
  open: ["", "undecided"],
  accepted: ["✓", "accepted"],
  rejected: ["✕", "rejected"],
  skipped: ["–", "skipped"],
  disagreed: ["≠", "disagreement"],
  merged: ["=", "said by another fact"],
};

export class QueueList {
  constructor(session, reviewer, select) {
    this.defaults = { ...DEFAULTS, order: session.rough ? "random" : "score" };
    this.names = new Map(session.relations.map((each) => [each.id, each.name || each.id]));
    this.reviewer = reviewer;
    this.select = select;
    this.rows = [];
    this.total = 0;
    this.more = false;
    this.fromStart = true;
    this.loads = 0;
    this.current = null;
    this.loading = null;
    this.fillFilters(session);
    $("rows").addEventListener("scroll", () => this.loadMore(), { passive: true });
    $("rows").addEventListener("click", (event) => {
      const row = event.target.closest("[data-item]");
      if (!row) return;
      this.select(Number(row.dataset.item), true);
      this.open(false);
    });
    $("show-queue").addEventListener("click", () => this.open(true));
    $("hide-queue").addEventListener("click", () => this.open(false));
    $("rows").addEventListener("keydown", (event) => this.pressed(event));
    $("from-start").addEventListener("click", () => this.load());
  }

  fillFilters(session) {
    const byName = [...session.relations].sort((a, b) => (a.name || a.id).localeCompare(b.name || b.id));
    for (const each of byName) $("relation").append(make("option", { value: each.id }, each.name || each.id));
    const given = new URLSearchParams(location.search);
    for (const name of Object.keys(this.defaults)) {
      const field = $("filters").elements[name];
      if (name === "by" && given.get(name)) $("by").append(make("option", { value: given.get(name) }, given.get(name)));
      field.value = given.get(name) ?? this.defaults[name];
      if (field.value === "") field.value = this.defaults[name]; // the address had what cannot be chosen
    }
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    $("filters").addEventListener("change", () => this.changed());
    $("of-document").addEventListener("input", () => this.suggestDocuments());
    $("clear-filters").addEventListener("click", () => {
      for (const name of NARROWING) $("filters").elements[name].value = this.defaults[name];
      this.changed();
    });
  }

  async suggestDocuments() {
    const found = await get("api/documents", { search: $("of-document").value });
    $("documents").replaceChildren(...found.map((id) => make("option", { value: id })));
  }

  get chosen() {
    const fields = $("filters").elements;
    return Object.fromEntries(Object.keys(this.defaults).map((name) => [name, fields[name].value]));
  }

  // The filters that are on, as the server has them.
  get filters() {
    const { order, ...chosen } = this.chosen;
    const found = {};
    for (const [name, value] of Object.entries(chosen)) {
      if (value === this.defaults[name] || value === "") continue;
      if (name === "low" || name === "high") found[name] = Math.min(Math.max(Number(value), 0), 1);
      else found[name] = name === "suspicious" ? value === "true" : value;
    }
    return found;
  }

  get asked() {
    return { as: this.reviewer, order: this.chosen.order, ...this.filters };
  }

  // The address keeps the filters, so that a reload and a colleague see the same.
  remember() {
    const query = new URLSearchParams({ as: this.reviewer });
    for (const [name, value] of Object.entries(this.chosen)) if (value !== this.defaults[name]) query.set(name, value);
    history.replaceState(null, "", `${location.pathname}?${query}${location.hash}`);
    const set = NARROWING.filter((name) => this.chosen[name] !== this.defaults[name]).length;
    $("filter-count").textContent = set ? `(${set} set)` : "";
  }

  changed() {
    const chosen = this.first();
    chosen.then(() => announce(`${plural(this.total, "fact")} shown`));
    this.select(chosen);
  }

  async first() {
    await this.load();
    return this.following(-1);
  }

  // The page of facts that come after a rank.
  async load(after = -1) {
    this.remember();
    this.loads += 1;
    const load = this.loads;
    const page = await get("api/queue", { ...this.asked, after, limit: PAGE });
    if (load !== this.loads) return; // the filters were changed again meanwhile
    this.rows = page.rows;
    this.more = page.more;
    this.total = page.total ?? this.total;
    this.fromStart = after < 0;
    $("from-start").hidden = this.fromStart;
    $("count").textContent = plural(this.total, "fact");
    $("rows").scrollTop = 0;
    this.draw();
  }

  async loadMore() {
    const list = $("rows");
    const isNearEnd = list.scrollTop + 2 * list.clientHeight >= list.scrollHeight;
    if (!this.more || this.loading || !isNearEnd) return;
    const rows = this.rows;
    this.loading = get("api/queue", { ...this.asked, after: rows.at(-1).rank, limit: PAGE });
    try {
      const page = await this.loading;
      if (rows !== this.rows) return;
      this.rows.push(...page.rows);
      this.more = page.more;
    } finally {
      this.loading = null;
    }
    this.draw();
  }

  // The next fact of the view that no other reviewer is looking at; from the start again when the end is reached, null
  // when the view is empty.
  async following(rank) {
    const next = async (after) => (await get("api/next", { ...this.asked, after })).row?.id ?? null;
    return (await next(rank)) ?? (rank >= 0 ? next(-1) : null);
  }

  row(item) {
    return this.rows.find((row) => row.id === item);
  }

  neighbour(step) {
    const place = this.rows.findIndex((row) => row.id === this.current);
    return this.rows[place + step] ?? null;
  }

  note(item, state, mine) {
    const row = this.row(item);
    if (!row) return;
    row.state = state;
    if (mine !== undefined) row.mine = mine;
    this.draw();
  }

  async show(item, rank) {
    this.current = item;
    if (!this.row(item) && (this.more || !this.fromStart)) await this.load(rank - 1);
    this.draw();
    this.bringIntoView();
  }

  // Scrolls the list alone: on a phone, the page shows the fact.
  bringIntoView() {
    const [list, row] = [$("rows"), $(`row-${this.current}`)];
    if (!row) return;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 2;
  }

  // On a narrow page the queue lies above the fact, or is hidden; on a wide one it stands beside it anyway.
  open(isOpen) {
    const was = $("queue").classList.contains("open");
    $("queue").classList.toggle("open", isOpen);
    $("show-queue").setAttribute("aria-expanded", String(isOpen));
    if (isOpen) {
      $("rows").focus();
      this.bringIntoView();
    } else if (was) $("show-queue").focus({ preventScroll: true });
  }

  pressed(event) {
    if (event.key === "Enter") this.open(false);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -Infinity };
    if (!(event.key in steps) || !this.rows.length) return;
    event.preventDefault();
    const place = this.rows.findIndex((row) => row.id === this.current);
    const wanted = Math.min(Math.max(place + steps[event.key], 0), this.rows.length - 1);
    this.select(this.rows[wanted].id, true);
  }

  draw() {
    const list = $("rows");
    const elements = this.rows.map((row, place) => this.element(row, place));
    let next = list.firstElementChild; // those that are there already are not touched
    for (const element of elements) {
      if (element === next) next = next.nextElementSibling;
      else list.insertBefore(element, next);
    }
    while (next) {
      const gone = next;
      next = next.nextElementSibling;
      gone.remove();
    }
    if (this.row(this.current)) list.setAttribute("aria-activedescendant", `row-${this.current}`);
    else list.removeAttribute("aria-activedescendant");
  }

  // The element of a row stays, and its content while that is the same: a click is lost if what was pressed is replaced
  // before it is let go.
  element(row, place) {
    const id = `row-${row.id}`;
    const element = $(id) ?? make("div", { id, role: "option", data: { item: row.id } });
    const current = row.id === this.current;
    element.className = `row ${row.state}${current ? " current" : ""}`;
    element.setAttribute("aria-selected", String(current));
    if (this.fromStart) {
      element.setAttribute("aria-setsize", String(Math.max(this.total, this.rows.length)));
      element.setAttribute("aria-posinset", String(place + 1));
    }
    const says = JSON.stringify(row);
    if (element.dataset.says !== says) {
      element.dataset.says = says;
      element.replaceChildren(...this.content(row));
    }
    return element;
  }

  content(row) {
    const [symbol, word] = MARKS[row.state];
    return [
      make("span", { class: "symbol", title: word }, symbol, make("span", { class: "unseen" }, `${word}: `)),
      make("span", { class: "what" },
        make("span", { class: "pair" }, make("span", {}, row.head_name), make("span", { class: "arrow" }, "→"), make("span", {}, row.tail_name)),
        make("span", { class: "where" }, make("span", { class: "relation" }, this.names.get(row.relation)), ` · ${row.document}`)),
      make("span", { class: "score", title: "score" },
        row.labelled ? make("span", { class: "doubt", title: "a label that looks wrong" }, "?") : null,
        row.proposed ? row.score.toFixed(2) : "added"),
    ];
  }
}
