// @ts-check
// What an overlay is: numbers of nodes, shown as colours. One file exports an OverlayKind, `make
// docs` lists it; button, key, legend, tooltip and card follow. Types only: nothing here runs.

/**
 * @typedef {object} Value of one box
 * @property {number} amount
 * @property {number} share 0 to 1, on the scale that all panes share
 */

/** @typedef {{id: string, text: string, hint: string}} Choice between numbers of the same nodes */

/**
 * @typedef {object} Legend
 * @property {string} middle what a quarter of the most is: shares are square roots
 * @property {string} most
 * @property {string} note on how the numbers came about
 * @property {string} hint to the note
 * @property {string} choosing what the choices are of
 */

/**
 * @typedef {object} Overlay numbers that were loaded
 * @property {Choice[]} choices
 * @property {string} choice id of the one that is shown
 * @property {boolean} ofSource whether there are any of the source: all that a viewer without a trace
 *   shows
 * @property {(s: Session,
 *   which: Which) =>
 *   (box: Box) => Value | null} values of a pane's boxes
 * @property {(theme: Theme, share: number) =>
 *   {tint: string, edge: string}} colour fill and border
 * @property {(value: Value) => string} label on the box
 * @property {(value: Value) => string} text a line of the tooltip
 * @property {(id: string) => [string, string][]} rows of the node's card: which, how much
 * @property {() => Legend} legend
 */

/**
 * @typedef {object} OverlayKind
 * @property {string} id in the descriptor's `overlays`
 * @property {string} title of the legend
 * @property {string} heading in the node's card
 * @property {string} plural what is shown, in words
 * @property {string} key on the keyboard
 * @property {string} available when there is one, in words
 * @property {string} icon path in a square of 16
 * @property {(json: any) => Overlay} load
 */

export {};
