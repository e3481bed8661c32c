// The queue: filters, and a list of which only the rows in sight are elements and only the pages in sight are loaded.

import { get } from "./api.js";
import { $, announce, make, percent, plural, putInOrder } from "./making.js";

const ROW = 58;
const PAGE = 100;
const SPARE = 6;
const DEFAULTS = { order: "score", view: "open", relation: "", document: "", low: "0", high: "100", doubtful: "", by: "" };
const MARKS = {
  open: ["", "undecided"],
  accepted: ["✓", "accepted"],
  rejected: ["✕", "rejected"],
  skipped: ["–", "skipped"],
  disagreed: ["≠", "disagreement"],
};

export class QueueList {
  constructor(session, reviewer, select) {
    this.session = session;
    this.names = new Map(session.relations.map((each) => [each.id, each.name || each.id]));
    this.reviewer = reviewer;
    this.select = select;
    this.rows = [];
    this.total = 0;
    this.more = false;
    this.loads = 0;
    this.current = null;
    this.loading = null;
    this.fillFilters();
    $("rows").addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe($("rows"));
    $("rows").addEventListener("click", (event) => {
      const row = event.target.closest("[data-item]");
      if (row) this.select(Number(row.dataset.item));
    });
    $("rows").addEventListener("keydown", (event) => this.pressed(event));
  }

  fillFilters() {
    const byName = [...this.session.relations].sort((a, b) => (a.name || a.id).localeCompare(b.name || b.id));
    for (const each of byName) $("relation").append(make("option", { value: each.id }, each.name || each.id));
    if (!this.session.calibrated) $("low-label").textContent = "Confidence, %";
    const given = new URLSearchParams(location.search);
    for (const name of Object.keys(DEFAULTS)) {
      const field = $("filters").elements[name];
      if (name === "by" && given.get(name)) $("by").append(make("option", { value: given.get(name) }, given.get(name)));
      if (given.has(name)) field.value = given.get(name);
      if (field.value === "" && DEFAULTS[name] !== "") field.value = DEFAULTS[name];
    }
    $("filters").addEventListener("submit", (event) => event.preventDefault());
    $("filters").addEventListener("change", () => this.changed());
    $("of-document").addEventListener("input", () => this.suggestDocuments());
    $("clear-filters").addEventListener("click", () => {
      for (const name of ["relation", "document", "low", "high", "doubtful", "by"]) {
        $("filters").elements[name].value = DEFAULTS[name];
      }
      this.changed();
    });
  }

  async suggestDocuments() {
    const found = await get("api/documents", { search: $("of-document").value });
    $("documents").replaceChildren(...found.map((id) => make("option", { value: id })));
  }

  get chosen() {
    const fields = $("filters").elements;
    return Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, fields[name].value]));
  }

  get asked() {
    const { low, high, ...others } = this.chosen;
    const share = (text, otherwise) => (text === "" ? otherwise : Math.min(Math.max(Number(text) / 100, 0), 1));
    return { as: this.reviewer, ...others, low: share(low, 0), high: share(high, 1) };
  }

  // The address keeps the filters, so that a reload and a colleague see the same.
  remember() {
    const query = new URLSearchParams({ as: this.reviewer });
    for (const [name, value] of Object.entries(this.chosen)) if (value !== DEFAULTS[name]) query.set(name, value);
    history.replaceState(null, "", `${location.pathname}?${query}${location.hash}`);
    const narrowing = ["relation", "document", "low", "high", "doubtful", "by"];
    const set = narrowing.filter((name) => this.chosen[name] !== DEFAULTS[name]).length;
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

  async load() {
    this.remember();
    this.loads += 1;
    const load = this.loads;
    const page = await get("api/queue", { ...this.asked, limit: PAGE });
    if (load !== this.loads) return; // the filters were changed again meanwhile
    this.rows = page.rows;
    this.total = page.total;
    this.more = page.more;
    $("count").textContent = plural(this.total, "fact");
    $("rows").scrollTop = 0;
    this.draw();
  }

  async loadMore() {
    if (!this.more || this.loading) return this.loading;
    const rows = this.rows;
    this.loading = get("api/queue", { ...this.asked, after: rows.at(-1)?.rank ?? -1, limit: PAGE });
    try {
      const page = await this.loading;
      if (rows === this.rows) {
        this.rows.push(...page.rows);
        this.more = page.more;
      }
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
    while (this.more && !this.row(item) && (this.rows.at(-1)?.rank ?? -1) < rank) {
      const before = this.rows.length;
      await this.loadMore();
      if (this.rows.length === before) break;
    }
    const place = this.rows.findIndex((row) => row.id === item);
    const list = $("rows");
    if (place >= 0) {
      const top = place * ROW;
      if (top < list.scrollTop) list.scrollTop = top;
      else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top - list.clientHeight / 2;
    }
    this.draw();
  }

  pressed(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in steps) {
      event.preventDefault();
      const place = this.rows.findIndex((row) => row.id === this.current);
      const wanted = Math.min(Math.max(place + steps[event.key], 0), this.rows.length - 1);
      if (wanted >= 0) this.select(this.rows[wanted].id);
    } else if (event.key === "Home" && this.rows.length) {
      event.preventDefault();
      this.select(this.rows[0].id);
    }
  }

  draw() {
    const list = $("rows");
    const first = Math.max(Math.floor(list.scrollTop / ROW) - SPARE, 0);
    const last = Math.min(Math.ceil((list.scrollTop + list.clientHeight) / ROW) + SPARE, this.rows.length);
    $("window").style.height = `${this.rows.length * ROW}px`;
    putInOrder($("window"), this.rows.slice(first, last).map((row, index) => this.element(row, first + index)));
    const shown = this.rows.some((row) => row.id === this.current);
    if (shown) list.setAttribute("aria-activedescendant", `row-${this.current}`);
    else list.removeAttribute("aria-activedescendant");
    if (this.more && last > this.rows.length - 30) this.loadMore();
  }

  // The element of a row stays, and its content while that is the same: a click is lost if what was pressed is replaced
  // before it is let go.
  element(row, place) {
    const id = `row-${row.id}`;
    const element = $(id) ?? make("div", { id, role: "option", data: { item: row.id } });
    const current = row.id === this.current;
    element.className = `row ${row.state}${current ? " current" : ""}`;
    element.setAttribute("aria-selected", String(current));
    element.setAttribute("aria-setsize", String(Math.max(this.total, this.rows.length)));
    element.setAttribute("aria-posinset", String(place + 1));
    element.style.transform = `translateY(${place * ROW}px)`;
    const says = JSON.stringify(row);
    if (element.dataset.says !== says) {
      element.dataset.says = says;
      element.replaceChildren(...this.content(row));
    }
    return element;
  }

  content(row) {
    const [symbol, word] = MARKS[row.state];
    const relation = this.names.get(row.relation);
    const score = row.proposed ? percent(row.score) : "added";
    return [
      make("span", { class: "symbol", title: word }, symbol, make("span", { class: "unseen" }, `${word}: `)),
      make("span", { class: "what" },
        make("span", { class: "pair" }, make("span", {}, row.head_name), make("span", { class: "arrow" }, "→"), make("span", {}, row.tail_name)),
        make("span", { class: "where" }, make("span", { class: "relation" }, relation), ` · ${row.document}`)),
      make("span", { class: "score" }, row.labelled ? make("span", { class: "doubt", title: "a label that looks wrong" }, "?") : null, score),
    ];
  }
}
