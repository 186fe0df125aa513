// @ts-check
// What the drawing of points is given: `optimizer/polyhedral/picture.py` as JSON.

/** @typedef {[number, number]} Cell a row and a column */
/**
 * @typedef {object} DrawnStage
 * @property {string} name
 * @property {[string, string]} axes down and across; the first may be empty
 * @property {Cell} first
 * @property {Cell} last
 * @property {string} held
 * @property {[Cell, Cell][]} tiles the first and the last cell of each
 * @property {Cell[]} beyond that run and that nobody needs
 */
/** @typedef {{stage: number, cells: Cell[]}} Tick what runs at once */
/** @typedef {{stages: [number, number], cells: [Cell, Cell]}} Arrow */
/**
 * @typedef {object} Points
 * @property {string} title
 * @property {string} note which sizes are smaller here than there
 * @property {string[]} left_out stages that are not drawn
 * @property {DrawnStage[]} stages
 * @property {Tick[]} ticks
 * @property {Arrow[]} arrows
 * @property {string[]} tails what tails do that no if ends
 */
/** @typedef {{data: Points, parentElement: any}} PointsComponent */

export {};
