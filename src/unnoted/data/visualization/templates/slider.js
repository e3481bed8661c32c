// Shows the facts with a score above the slider's value, and says how many they are and which precision is expected.
(() => {
  "use strict";
  const slider = document.getElementById("threshold"), outcome = document.getElementById("outcome");
  const precision = JSON.parse(slider.dataset.precision);
  const counted = (count) => `${count} ${count === 1 ? "fact" : "facts"}`;

  function filter() {
    const threshold = slider.valueAsNumber;
    let shown = 0;
    for (const row of document.querySelectorAll("tr.fact[data-score]")) {
      row.hidden = !(Number(row.dataset.score) > threshold);
      shown += row.hidden ? 0 : 1;
    }
    // Documents that were never opened are kept as text: their scores stand beside their names.
    const entries = [...document.querySelectorAll("[data-scores]")];
    const counts = entries.map((entry) => {
      const above = entry.dataset.scores.split(" ").filter((score) => score && Number(score) > threshold).length;
      entry.textContent = counted(above);
      return above;
    });
    if (entries.length) shown = counts.reduce((one, other) => one + other, 0);
    const expected = precision[Math.min(99, Math.round(100 * threshold))] ?? null;
    const outlook = expected === null ? "" : `, expected precision ${expected.toFixed(2)}`;
    outcome.textContent = `${threshold.toFixed(2)}: ${counted(shown)}${outlook}`;
  }

  slider.addEventListener("input", filter);
  document.addEventListener("facts", filter); // a page has got others
  document.addEventListener("toggle", filter, true);
  filter();
})();
