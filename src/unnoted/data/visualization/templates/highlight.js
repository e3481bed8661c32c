// Shows a fact in its text: its head, its tail, an arrow between the two, and the sentences that support it.
// Pointing at a fact, or reaching it with the keyboard, shows it for the moment; a click keeps it; Escape lets go.
// Pointing at a mention highlights all mentions of its entity.
(() => {
  "use strict";
  if (window.unnotedDocuments) return; // a notebook has the script in every cell
  window.unnotedDocuments = true;
  const MARKS = ["head", "tail", "supports", "shown", "lit"];
  const pinned = new WeakMap();
  let last = null;

  const rootOf = (element) => element.closest?.(".unnoted-document") ?? null;

  function mark(root, selector, name) {
    for (const element of root.querySelectorAll(selector)) element.classList.add(name);
  }

  function clear(root) {
    for (const element of root.querySelectorAll(MARKS.map((name) => "." + name).join(","))) {
      element.classList.remove(...MARKS);
    }
    for (const arrow of root.querySelectorAll(".pointer")) arrow.remove();
  }

  // A fact's row, or the whole document, which may have a head and a tail of its own.
  function show(root, from) {
    clear(root);
    const { fact, head, tail, sentences } = from.dataset;
    if (fact !== undefined) mark(root, `[data-fact="${fact}"]`, "shown");
    for (const number of (sentences ?? "").split(" ")) {
      if (number) mark(root, `.sentence[data-sentence="${number}"]`, "supports");
    }
    if (head !== undefined) mark(root, `.mention[data-entity="${head}"]`, "head");
    if (tail !== undefined) mark(root, `.mention[data-entity="${tail}"]`, "tail");
    if (fact !== undefined) drawArrow(root.querySelector(".text"));
  }

  function light(root, entity) {
    show(root, pinned.get(root) ?? root);
    mark(root, `[data-entity="${entity}"]`, "lit");
  }

  const restore = (root) => show(root, pinned.get(root) ?? root);

  // From the head's mention to the tail's mention that is nearest to it, in a supporting sentence if there is one.
  function nearest(text) {
    const ends = (name) => {
      const all = [...text.querySelectorAll(".mention." + name)];
      const supported = all.filter((mention) => mention.closest(".supports"));
      return (supported.length ? supported : all).map((mention) => mention.getClientRects()[0]).filter(Boolean);
    };
    let best = null;
    for (const head of ends("head")) {
      for (const tail of ends("tail")) {
        const distance = 3 * Math.abs(head.top - tail.top) + Math.abs(head.left - tail.left);
        if (best === null || distance < best.distance) best = { distance, head, tail };
      }
    }
    return best;
  }

  function drawArrow(text) {
    const found = nearest(text);
    if (found === null || found.distance === 0) return;
    const box = text.getBoundingClientRect();
    const point = (rect, y) => [rect.left + rect.width / 2 - box.left, rect[y] - box.top + text.scrollTop];
    const below = found.tail.top - found.head.top > 8;
    const above = found.head.top - found.tail.top > 8;
    const [x1, y1] = point(found.head, below ? "bottom" : "top");
    const [x2, y2] = point(found.tail, above ? "bottom" : "top");
    const bend = below || above ? Math.max(14, Math.abs(y2 - y1) / 2) : 16;
    const c1 = y1 + (below ? bend : -bend), c2 = y2 + (above ? bend : -bend);
    const angle = y2 > c2 ? Math.PI / 2 : -Math.PI / 2;
    const wing = (turn) => `${x2 - 8 * Math.cos(angle + turn)} ${y2 - 8 * Math.sin(angle + turn)}`;
    const path = `M${x1} ${y1}C${x1} ${c1} ${x2} ${c2} ${x2} ${y2}M${wing(0.45)}L${x2} ${y2}L${wing(-0.45)}`;
    const size = `width="${text.clientWidth}" height="${text.scrollHeight}"`;
    text.insertAdjacentHTML("beforeend", `<svg class="pointer" aria-hidden="true" ${size}><path d="${path}"/></svg>`);
  }

  function bringIntoView(root) {
    const text = root.querySelector(".text");
    const first = text.querySelector(".supports") ?? text.querySelector(".head");
    if (first === null || text.scrollHeight <= text.clientHeight) return;
    text.scrollTop += first.getBoundingClientRect().top - text.getBoundingClientRect().top - 8;
  }

  function pin(root, row) {
    if (row === null) pinned.delete(root);
    else pinned.set(root, row);
    for (const button of root.querySelectorAll(".fact button")) {
      button.setAttribute("aria-pressed", String(button.closest(".fact") === row));
    }
    restore(root);
    if (row !== null) bringIntoView(root);
  }

  function pinFragment() {
    const row = document.getElementById(location.hash.slice(1));
    if (row === null || !row.matches(".unnoted-document .fact")) return;
    for (let fold = row.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    pin(rootOf(row), row);
  }

  function look(event) {
    const root = rootOf(event.target);
    if (last !== null && last !== root) restore(last);
    last = root;
    if (root === null) return;
    const fact = event.target.closest("[data-fact]");
    const entity = event.target.closest("[data-entity]");
    if (fact !== null) show(root, fact);
    else if (entity !== null) light(root, entity.dataset.entity);
    else restore(root);
  }

  document.addEventListener("pointerover", look);
  document.addEventListener("focusin", look);
  document.addEventListener("focusout", (event) => {
    const root = rootOf(event.target);
    if (root !== null) restore(root);
  });
  document.addEventListener("click", (event) => {
    const fact = event.target.closest?.(".unnoted-document [data-fact]") ?? null;
    if (fact === null) return;
    const root = rootOf(fact);
    const row = root.querySelector(`tr[data-fact="${fact.dataset.fact}"]`) ?? fact;
    const again = pinned.get(root) === row;
    pin(root, again ? null : row);
    if (row.id) history.replaceState(null, "", again ? location.pathname + location.search : "#" + row.id);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && last !== null) pin(last, null);
  });
  window.addEventListener("hashchange", pinFragment);
  pinFragment();
})();
