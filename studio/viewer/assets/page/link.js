// @ts-check
// Where the user looks, as the server keeps it and as a link says it.

/**
 * @param {State} state
 * @returns {{step: number, before: "source" | "previous", select: string[], open: string[] | null}}
 */
export function viewNow({ session: s, selected, opened }) {
  return {
    step: s?.linkedStep() ?? 0,
    before: s?.before ?? "source",
    select: selected === null ? [] : [selected],
    open: s?.tree.openChanges()?.filter((id) => !opened.has(id.slice(1))) ?? null,
  };
}

/** The page's address with this step, selection and folding in it. @param {State} state */
export function permalink(state) {
  const view = viewNow(state);
  const url = new URL(window.location.href);
  const values = {
    step: String(view.step),
    before: view.before === "source" ? "" : view.before,
    select: view.select.join(","),
    open: (view.open ?? []).join("|"),
  };
  for (const [name, value] of Object.entries(values))
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  return url.href;
}

const ASKED = "passlens-link";

/** The address of what one sees, from whoever knows more than the address bar does. */
export function pageLink() {
  const asked = new CustomEvent(ASKED, { detail: { url: window.location.href } });
  window.dispatchEvent(asked);
  return asked.detail.url;
}

/**
 * Answer for a viewer: the server, and with it the address bar, hears of a step a little later.
 * @param {State} state @returns {() => void} ends it
 */
export function answerForLinks(state) {
  return answerAsked((url) =>
    state.session?.trace && state.data?.mode === "rewrite" ? permalink(state) : url,
  );
}

/** Answer for whoever knows better: the address of what is seen. @param {(url: string) => string} better @returns {() => void} ends it */
export function answerAsked(better) {
  const answer = (/** @type {any} */ asked) => {
    asked.detail.url = better(asked.detail.url);
  };
  window.addEventListener(ASKED, answer);
  return () => window.removeEventListener(ASKED, answer);
}

const LEFT = "passlens-left";

/** Tell whoever stays when the page changes: a component that goes has no voice any more. @param {State} state */
export function tellLeaving(state) {
  window.dispatchEvent(new CustomEvent(LEFT, { detail: viewNow(state) }));
}

/** @param {(view: object) => void} keep */
export function hearLeaving(keep) {
  window.addEventListener(LEFT, (/** @type {any} */ left) => keep(left.detail));
}

/**
 * The clipboard is closed to pages that did not come over https; the old way still works there.
 * @param {string} text @param {HTMLElement} home beside which what is copied stands for a moment
 * @returns {Promise<boolean>}
 */
export async function copyText(text, home) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const active = /** @type {any} */ (home.getRootNode()).activeElement ?? home;
    const field = document.createElement("textarea");
    field.value = text;
    home.after(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    active.focus({ preventScroll: true });
    return done;
  }
}
