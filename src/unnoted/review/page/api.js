// Requests to the server. Every one has the token; one that writes has a key of its own, so that it can be sent
// again when no answer came, and still counts once.

const fragment = new URLSearchParams(location.hash.slice(1));
const token = fragment.get("token") ?? new URLSearchParams(location.search).get("token") ?? "";
const TRIES = 3;

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function answer(path, options) {
  const response = await fetch(path, {
    ...options,
    headers: { "X-Unnoted-Token": token, ...options.headers },
    credentials: "omit",
    cache: "no-store",
  });
  if (response.ok) return response.json();
  const text = await response.text();
  let message = text;
  try {
    const detail = JSON.parse(text).detail;
    message = typeof detail === "string" ? detail : "The server could not read the request.";
  } catch {
    // plain text, or nothing
  }
  throw new Refused(response.status, message || `The server answered ${response.status}.`);
}

export function get(path, values = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== "") query.set(key, value);
  }
  return answer(`${path}?${query}`, { method: "GET" });
}

export async function post(path, values) {
  const body = JSON.stringify({ ...values, key: newKey() });
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await answer(path, { method: "POST", body, headers: { "Content-Type": "application/json" } });
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
