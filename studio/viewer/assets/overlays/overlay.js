// @ts-check
// What an overlay is: something of nodes, shown as colours. A number of each (NodeTimes), or one of
// a few names (Categorical). One file exports an OverlayKind, `make docs` lists it; button, key,
// legend, tags on wires, tooltip and card follow. Types only: nothing here runs.

/**
 * @typedef {object} Amount of one box
 * @property {number} amount
 * @property {number} share 0 to 1, on the scale that all panes share
 * @property {string} [finding] what is wrong there, or begins there: it bears a mark
 */

/** @typedef {{tint: string, edge: string, solid?: string}} Shade fill, border; and the cap of a node */

/** @typedef {{id: string, text: string, hint: string}} Choice between numbers of the same nodes */

/** @typedef {{text: string, shade: Shade, changes: boolean}} WireTag changes: it was another before its node */

/**
 * @typedef {object} CategoryRow
 * @property {string} text
 * @property {Shade} shade
 * @property {number[]} counts nodes, in each column
 */

/**
 * @typedef {object} Legend
 * @property {string[]} [scale] of numbers: what no colour, half and full colour mean
 * @property {{heads: string[], rows: CategoryRow[]}} [categories] of names: which and how many
 * @property {string} note on how it came about
 * @property {string} hint to the note
 * @property {string} choosing what the choices are of
 */

/**
 * @template [V=any] what is known of a box; its `finding`, if it has one, is marked
 * @typedef {object} Overlay something of nodes
 * @property {Choice[]} choices
 * @property {string} choice id of the one that is shown
 * @property {boolean} ofSource whether it says something of the source: all that a viewer without a
 *   trace shows
 * @property {(s: Session, which: Which) => (box: Box) => V | null} values of a pane's boxes
 * @property {(theme: Theme, value: V) => Shade} colour
 * @property {(value: V) => string} label beside a node, and in a closed group
 * @property {(value: V) => string} text a line of the tooltip
 * @property {(id: string, s: Session) => [string, string][]} rows of the node's card
 * @property {(s: Session, theme: Theme) => Legend} legend
 * @property {(s: Session, which: Which, theme: Theme) => (edge: number) => WireTag | null} [wires]
 *   where a wire leaves its node
 */

/**
 * @typedef {object} OverlayKind with `load` or `ofSession`
 * @property {string} id in the descriptor's `overlays`
 * @property {string} title of the legend
 * @property {string} heading in the node's card
 * @property {string} plural what is shown, in words
 * @property {string} key on the keyboard
 * @property {string} available when there is one, in words
 * @property {string} icon path in a square of 16
 * @property {(json: any) => Overlay} [load] of what the server keeps
 * @property {(s: Session) => Overlay} [ofSession] of what the viewer has anyway
 */

export {};
