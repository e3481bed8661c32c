// Requests to the server, and elements out of text. Every request has the token; one that writes has a key of its
// own, so that it can be sent again when no answer came, and still counts once.

const fragment = new URLSearchParams(location.hash.slice(1));
const token = fragment.get("token") ?? new URLSearchParams(location.search).get("token") ?? "";
const TRIES = 3;

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(path, options) {
  const response = await fetch(path, {
    ...options,
    headers: { Authorization: `Bearer ${token}`, ...options.headers },
    credentials: "omit",
    cache: "no-store",
  });
  if (response.ok) return response.json();
  let message = "";
  try {
    message = (await response.json()).error;
  } catch {
    // no JSON: the server did not answer, something between did
  }
  throw new Refused(response.status, message || `The server answered ${response.status}.`);
}

export function get(path, values = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== "") query.set(key, value);
  }
  return request(`${path}?${query}`, { method: "GET" });
}

export async function post(path, values) {
  const body = JSON.stringify({ ...values, key: newKey() });
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request(path, { method: "POST", body, headers: { "Content-Type": "application/json" } });
    } catch (error) {
      if (error instanceof Refused || attempt === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 400 * attempt));
    }
  }
}

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Whatever comes from data is set as text, never as markup.

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

export const count = (number) => Math.round(number).toLocaleString("en-GB");

export const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

// 99.7 % is not 100 %: the ends are reached only where nothing is left.
export function percent(share) {
  const whole = Math.round(share * 100);
  if (whole === 100 && share < 1) return "> 99 %";
  if (whole === 0 && share > 0) return "< 1 %";
  return `${whole} %`;
}

export function announce(text, kind = "") {
  const place = $("message");
  place.className = kind;
  place.replaceChildren();
  // Announced again even if it is the same: a new element is a change.
  requestAnimationFrame(() => place.replaceChildren(make("span", {}, text)));
}
