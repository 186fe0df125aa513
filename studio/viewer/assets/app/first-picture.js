// @ts-check
// The first picture, before Streamlit has arrived: drawn in a place of its own, and handed over to
// the component as it is once there is one.

import { h } from "../page/dom.js";
import { Viewer } from "./viewer.js";

/**
 * @typedef {object} Opening
 * @property {Descriptor | null} data what to draw; null as long as the model is being opened
 * @property {string} ask where to ask for it
 * @property {{script: string, preloads: string[]}} frame what brings Streamlit
 */

const PLACE = "first-picture";
const PATIENCE_MS = 1500; // with a model that is being opened, before Streamlit takes the processor
const SETTLED_MS = 1000; // after a run of the page's script, before its outcome is looked at
const VIEWER = '[class*="st-key-"][class*="-viewer"]'; // where the page's own component will be

/** @type {{viewer: Viewer, said: Said} | null} */
let unclaimed = null;
let requested = false;

/** What the visitor did before there was a server to tell it to. */
class Said {
  constructor() {
    /** @type {Map<string, any>} */ this.states = new Map();
  }

  /** @param {Descriptor} data @param {any} parentElement @returns {Component} */
  component(data, parentElement) {
    return {
      data,
      parentElement,
      setStateValue: (name, value) => this.states.set(name, value),
    };
  }

  /** @param {Component} component */
  repeat(component) {
    for (const [name, value] of this.states) component.setStateValue(name, value);
  }
}

/**
 * Draw what a link asks for; then loadStreamlit Streamlit, which would be in the picture's way.
 * @param {Opening} opening
 * @param {() => Promise<CSSStyleSheet | null>} loadStyles
 */
export async function draw(opening, loadStyles) {
  const place = document.getElementById(PLACE);
  if (!place) return loadStreamlit(opening.frame);
  applyTheme(place);
  watchRuns();
  const timeout = opening.data ? 0 : setTimeout(() => loadStreamlit(opening.frame), PATIENCE_MS);
  try {
    const data = opening.data ?? (await ask(opening.ask));
    if (data && place.isConnected) await show(place, data, loadStyles);
    else place.remove();
    if (data?.busy) follow(opening.ask);
  } catch {
    place.remove();
  }
  clearTimeout(timeout);
  loadStreamlit(opening.frame);
}

/** @param {HTMLElement} place @param {Descriptor} data @param {() => Promise<CSSStyleSheet | null>} loadStyles */
async function show(place, data, loadStyles) {
  const home = /** @type {HTMLElement} */ (place.querySelector("[data-home]"));
  const shadow = home.shadowRoot ?? home.attachShadow({ mode: "open" });
  const viewer = new Viewer(shadow, loadStyles);
  const said = new Said();
  unclaimed = { viewer, said };
  viewer.update(said.component(data, shadow));
  await viewer.report.drawn;
  await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
}

/**
 * The viewer that was there first, for the component that shows the same kind of page.
 * @param {Component} component
 * @returns {Viewer | null}
 */
export function claim(component) {
  const found = unclaimed;
  if (!found || found.viewer.state.data?.mode !== component.data.mode) {
    drop(found);
    return null;
  }
  unclaimed = null;
  found.viewer.moveTo(component.parentElement);
  document.getElementById(PLACE)?.remove();
  found.said.repeat(component);
  return found.viewer;
}

/** Steps come later than the graph. @param {string} address */
async function follow(address) {
  const data = await ask(`${address}&whole=1`).catch(() => null);
  if (data && unclaimed) {
    const { viewer, said } = unclaimed;
    viewer.update(said.component(data, viewer.parent));
  }
}

/** @param {string} address @returns {Promise<Descriptor | null>} */
async function ask(address) {
  const response = await fetch(new URL(address, document.baseURI));
  return response.ok ? response.json() : null;
}

/** Light or dark, as Streamlit will choose. @param {HTMLElement} place */
function applyTheme(place) {
  const kept = localStorage.getItem(`stActiveTheme-${location.pathname}-v2`) ?? "";
  const system = matchMedia("(prefers-color-scheme: dark)").matches;
  const dark = kept.includes("Dark") || (system && !kept.includes("Light"));
  place.dataset.theme = dark ? "dark" : "light";
}

/** A page that has run and has no viewer is what the visitor should see. */
function watchRuns() {
  const state = "data-test-script-state";
  let ran = false;
  const watch = new MutationObserver(() => {
    const now = document.querySelector(`[${state}]`)?.getAttribute(state);
    ran ||= now === "running";
    if (ran && now === "notRunning") window.setTimeout(settle, SETTLED_MS);
  });
  const settle = () => {
    if (document.getElementById(PLACE) && document.querySelector(VIEWER)) return;
    watch.disconnect();
    drop(unclaimed);
  };
  watch.observe(document.body, { attributeFilter: [state], subtree: true });
}

/** @param {{viewer: Viewer} | null} found */
function drop(found) {
  unclaimed = null;
  document.getElementById(PLACE)?.remove();
  found?.viewer.dispose();
}

/** @param {Opening["frame"]} frame */
function loadStreamlit({ script, preloads }) {
  if (requested) return;
  requested = true;
  const origin = { crossorigin: "anonymous" };
  for (const href of preloads)
    document.head.append(h("link", { rel: "modulepreload", ...origin, href }));
  document.head.append(h("script", { type: "module", ...origin, src: script }));
}
