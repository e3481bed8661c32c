// The figures above everything: how far, how fast, how complete, how alike.

import { get } from "./api.js";
import { $, count, make, percent } from "./making.js";

export class Figures {
  constructor(reviewer, changed) {
    this.reviewer = reviewer;
    this.changed = changed;
    this.last = null;
    this.waiting = null;
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
      found = await get("api/progress", { as: this.reviewer });
    } catch {
      return; // the next decision says that the server is away
    }
    this.show(found);
    if (this.last !== null && found.last_act > this.last) this.changed(await get("api/changes", { since: this.last }));
    this.last = found.last_act;
  }

  show(found) {
    const { open, skipped, ...decided } = found.states;
    const done = Object.values(decided).reduce((sum, each) => sum + each, 0);
    const all = done + open + skipped;
    $("decided").textContent = `${count(done)} of ${count(all)}`;
    $("progress").value = all ? done / all : 1;
    $("pace").textContent = found.pace === null ? "–" : `${found.pace.toFixed(found.pace < 10 ? 1 : 0)} / min`;
    this.showCompleteness(found.completeness);
    this.showReviewers(found);
  }

  showCompleteness(found) {
    $("interval").hidden = found === null;
    if (found === null) {
      $("complete").textContent = "–";
      return;
    }
    const { estimate, low, high, sampled, level } = found;
    $("complete").textContent = `${percent(estimate)} (${percent(low).replace(" %", "")}–${percent(high)})`;
    const basis = sampled ? `from ${count(sampled)} random decisions` : "as the model says: decide some in the order “Random sample” without a filter";
    $("complete").title = `${count(found.found)} facts are labelled, about ${count(found.missing)} are missing; ${percent(level)} interval, ${basis}`;
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
