// @ts-check
// What the drawing of the lanes agrees on. Units: pixels.

export const HEAD = 21; // the line of words above a lane
export const GAP = 10; // below a lane
export const AXIS = 18;

/** @typedef {{buffer: number, x: number, y: number, w: number, h: number, lane: number}} Hit */

/**
 * @typedef {object} LaneScene
 * @property {CanvasRenderingContext2D} c
 * @property {number} width @property {number} height
 * @property {Theme} theme
 * @property {Metrics} metrics
 * @property {AllocatorEvents} events @property {Replay} replay
 * @property {import("./scale.js").Scale} scale
 * @property {{event: number, t: number}} moment
 * @property {number} hover buffer or -1
 */
