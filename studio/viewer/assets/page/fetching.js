// @ts-check
// What the server has under an address that carries a content hash: fetched once, kept a while.

/** @type {Map<string, any>} */
const fetched = new Map();
const KEEP = 8;

/** What the server says by now. @param {string} url @returns {Promise<any>} */
export async function askJson(url) {
  const response = await fetch(new URL(url, document.baseURI));
  if (!response.ok)
    throw new Error(`The server answered ${response.status} for ${url}. Reload the page.`);
  return response.json();
}

/** @param {string} url @returns {Promise<any>} */
export async function fetchJson(url) {
  const json = fetched.get(url) || (await askJson(url));
  fetched.delete(url); // what is used again stays longest
  fetched.set(url, json);
  for (const old of fetched.keys()) {
    if (fetched.size <= KEEP) break;
    fetched.delete(old);
  }
  return json;
}

/** What a session is made of, as one text. @param {Descriptor} data */
export const wanted = ({ graph, steps, versus }) =>
  [graph, steps, versus?.steps].map((source) => source?.key ?? "").join("|");

const FONT_PATIENCE_MS = 400;

/** Widths follow the text, so its font must be there; but not for long. @param {string} [family] */
export function fontReady(family) {
  const timeout = new Promise((done) => window.setTimeout(done, FONT_PATIENCE_MS));
  const fonts = ["400", "600"].map((weight) =>
    document.fonts.load(`${weight} 12px ${family ?? "sans-serif"}`),
  );
  return Promise.race([Promise.allSettled(fonts), timeout]);
}
