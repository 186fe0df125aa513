// @ts-check
// The page's font, which may still be on its way when the first graph is there.

const FONT_PATIENCE_MS = 400;

/** Widths follow the text, so its font must be there; but not for long. @param {string} [family] */
export function fontReady(family) {
  const timeout = new Promise((done) => window.setTimeout(done, FONT_PATIENCE_MS));
  const fonts = ["400", "600"].map((weight) =>
    document.fonts.load(`${weight} 12px ${family ?? "sans-serif"}`),
  );
  return Promise.race([Promise.allSettled(fonts), timeout]);
}
