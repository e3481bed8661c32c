// Shows the documents in which a text is found, and says how many there are.
(() => {
  "use strict";
  const field = document.getElementById("find"), told = document.getElementById("found");
  const entries = [...document.querySelectorAll(".entry")];
  let waiting = null, texts = null;

  function find() {
    texts ??= entries.map((entry) => entry.textContent.toLowerCase().replace(/\s+/g, " "));
    const wanted = field.value.trim().toLowerCase().replace(/\s+/g, " ");
    let count = 0;
    entries.forEach((entry, number) => {
      entry.hidden = !texts[number].includes(wanted);
      count += entry.hidden ? 0 : 1;
    });
    told.textContent = wanted ? `in ${count} of ${entries.length} ${entries.length === 1 ? "document" : "documents"}` : "";
  }

  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, 120);
  });
})();
