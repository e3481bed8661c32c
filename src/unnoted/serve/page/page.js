// Sends what was pasted, and shows the facts that come back. highlight.js highlights them in the text.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const takesText = document.body.dataset.text === "yes";
  const form = byId("ask"), given = byId("given"), found = byId("found"), status = byId("status");

  const TEXT =
    "Marie Curie was born in Warsaw. In 1891 she moved to Paris, where she studied at the University of Paris " +
    "and met Pierre Curie.\n\nThe couple married in 1895 in Sceaux. Their daughter Irène Joliot-Curie was born in " +
    "Paris in 1897. Marie Curie founded the Curie Institute in Paris and in Warsaw, the capital of Poland.";
  const NAMES = {
    PER: ["Marie Curie", "Pierre Curie", "Irène Joliot-Curie"],
    LOC: ["Warsaw", "Paris", "Sceaux", "Poland"],
    ORG: ["University of Paris", "Curie Institute"],
    TIME: ["1891", "1895", "1897"],
  };

  // The example with its entities marked, for a service that does not find them; longer names first, so that no part
  // of one is taken for another.
  function documentOf(text) {
    const taken = [], entities = [];
    const all = Object.entries(NAMES).flatMap(([type, names]) => names.map((name) => ({ type, name })));
    for (const { type, name } of all.sort((one, other) => other.name.length - one.name.length)) {
      const mentions = [];
      for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + 1)) {
        const end = start + name.length;
        if (taken.some(([from, to]) => start < to && from < end)) continue;
        taken.push([start, end]);
        mentions.push({ start: [...text.slice(0, start)].length, end: [...text.slice(0, end)].length });
      }
      if (mentions.length) entities.push({ type, mentions });
    }
    entities.sort((one, other) => one.mentions[0].start - other.mentions[0].start);
    return { text, entities };
  }

  function example() {
    if (takesText) return TEXT;
    const { text, entities } = documentOf(TEXT);
    const lines = entities.map((entity) => "    " + JSON.stringify(entity));
    return `{\n  "text": ${JSON.stringify(text)},\n  "entities": [\n${lines.join(",\n")}\n  ]\n}`;
  }

  function show(text, bad = false) {
    status.textContent = text;
    status.classList.toggle("bad", bad);
  }

  async function answerOf(response) {
    if (response.ok) return response.text();
    let why = "";
    try {
      why = (await response.json()).error;
    } catch {
      // a proxy may answer in its own words
    }
    throw new Error(why || `the service answered ${response.status}`);
  }

  async function ask(event) {
    event.preventDefault();
    if (!given.value.trim()) {
      show(takesText ? "Paste a text first." : "Paste a document first.", true);
      given.focus();
      return;
    }
    const headers = { "Content-Type": "application/json", Accept: "text/html" };
    if (byId("token")) headers.Authorization = "Bearer " + byId("token").value;
    const button = byId("extract"), started = performance.now();
    button.disabled = true;
    show("Extracting facts…");
    try {
      const body = takesText ? JSON.stringify({ text: given.value }) : given.value;
      const path = takesText ? "extract/text" : "extract";
      found.innerHTML = await answerOf(await fetch(path, { method: "POST", headers, body }));
      found.hidden = false;
      document.dispatchEvent(new Event("facts"));
      const facts = found.querySelectorAll("tr.fact:not([hidden])").length;
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      show(facts ? `Done in ${seconds} s. Point at a fact to see it in the text.`
                 : `Done in ${seconds} s. No fact here has such a score; a lower one shows less likely facts.`);
    } catch (error) {
      found.hidden = true;
      show(error instanceof TypeError ? "The service cannot be reached." : error.message, true);
    } finally {
      button.disabled = false;
    }
  }

  form.addEventListener("submit", ask);
  byId("example").addEventListener("click", () => {
    given.value = example();
    form.requestSubmit();
  });
  given.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
})();
