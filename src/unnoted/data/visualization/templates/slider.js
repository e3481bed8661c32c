// Shows the facts with a score above the slider's value, and says how many they are and which precision is expected.
(() => {
  "use strict";
  const slider = document.getElementById("threshold"), outcome = document.getElementById("outcome");
  const precision = JSON.parse(slider.dataset.precision);
  const counted = (count) => `${count} ${count === 1 ? "fact" : "facts"}`;

  function filter() {
    const threshold = slider.valueAsNumber;
    for (const row of document.querySelectorAll("tr.fact[data-score]")) {
      row.hidden = !(Number(row.dataset.score) > threshold);
    }
    // Documents that were never opened are kept as text: their scores stand beside their names.
    let shown = 0;
    const documents = document.querySelectorAll("[data-scores]");
    for (const each of documents) {
      const above = each.dataset.scores.split(" ").filter((score) => score && Number(score) > threshold).length;
      each.textContent = counted(above);
      shown += above;
    }
    const expected = precision[Math.min(99, Math.round(100 * threshold))] ?? null;
    const outlook = expected === null ? "" : `expected precision ${expected.toFixed(2)}`;
    const parts = [documents.length ? counted(shown) : "", outlook].filter(Boolean);
    outcome.textContent = `${threshold.toFixed(2)}${parts.length ? ": " : ""}${parts.join(", ")}`;
  }

  slider.addEventListener("input", filter);
  document.addEventListener("facts", filter); // a page has got others
  document.addEventListener("toggle", filter, true);
  filter();
})();
