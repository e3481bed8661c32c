// Documents are kept as text until they are opened, so that a page of a thousand opens at once.
// Shows the documents in which a text is found, and says how many there are.
(() => {
  "use strict";
  const field = document.getElementById("find"), told = document.getElementById("found");
  const entries = [...document.querySelectorAll(".entry")];
  const LETTERS = { amp: "&", lt: "<", gt: ">", "#39": "'", "#34": '"', nbsp: " " };
  let waiting = null, texts = null;

  function unfold(entry) {
    const kept = entry.querySelector("script.kept");
    if (kept === null) return;
    kept.insertAdjacentHTML("beforebegin", kept.textContent); // what is not markup is escaped in it
    kept.remove();
  }

  // As it is read: without the numbers of entities, in lower case.
  function textOf(entry) {
    const html = entry.querySelector("script.kept")?.textContent ?? entry.innerHTML;
    const text = html.replace(/<small[^>]*>[^<]*<\/small>|<[^>]*>/g, "").replace(/&([a-z0-9#]+);/g, (all, name) => LETTERS[name] ?? all);
    return plain(entry.querySelector("summary").textContent + " " + text);
  }

  const plain = (text) => text.toLowerCase().replace(/\s+/g, " ");

  function find() {
    texts ??= entries.map(textOf);
    const wanted = plain(field.value.trim());
    let count = 0;
    entries.forEach((entry, number) => {
      entry.hidden = !texts[number].includes(wanted);
      count += entry.hidden ? 0 : 1;
    });
    const documents = entries.length === 1 ? "document" : "documents";
    told.textContent = wanted ? `in ${count} of ${entries.length} ${documents}` : "";
  }

  function openFragment() {
    const number = /^#document-([0-9]+)/.exec(location.hash)?.[1];
    const entry = entries[Number(number) - 1];
    if (entry === undefined) return;
    unfold(entry);
    entry.open = true;
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }

  document.addEventListener("toggle", (event) => {
    if (event.target.matches(".entry") && event.target.open) unfold(event.target);
  }, true);
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, 120);
  });
  window.addEventListener("hashchange", openFragment);
  openFragment();
})();
