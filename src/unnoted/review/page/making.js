// Elements out of text. Whatever comes from data is set as text, never as markup.

export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") element.className = value;
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// Makes these the children of a place; those that are there already are not touched.
export function putInOrder(place, children) {
  let next = place.firstElementChild;
  for (const child of children) {
    if (child === next) next = next.nextElementSibling;
    else place.insertBefore(child, next);
  }
  const kept = new Set(children);
  for (const child of [...place.children]) if (!kept.has(child)) child.remove();
}

export const count = (number) => Math.round(number).toLocaleString("en-GB");

// 99.7 % is not 100 %: the ends are reached only where nothing is left.
export function percent(share) {
  const whole = Math.round(share * 100);
  if (whole === 100 && share < 1) return "> 99 %";
  if (whole === 0 && share > 0) return "< 1 %";
  return `${whole} %`;
}

export const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

export function announce(text, kind = "") {
  const place = $("said");
  place.className = kind;
  place.replaceChildren();
  // Said again even if it is the same: a new element is a change.
  requestAnimationFrame(() => place.replaceChildren(make("span", {}, text)));
}
