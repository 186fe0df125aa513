// @ts-check
// Sizes of everything that is drawn, from the text in it. Units: pixels at 100 % zoom.

export const CAP = 22; // coloured cap with the glyph
export const NODE_H = 26;
const ROW_H = 14; // quiet second row
const NODE_MAX_W = 180;
const NODE_MIN_W = 64;
export const GROUP_H = 42; // closed group
export const TITLE_H = 26; // title bar of an open group
export const FOLD_W = 24; // fold mark of a group, at its left
export const PAD = 14; // inside an open group
export const TAG_H = 15;
export const TAG_ROW = 24; // room for stubs above a box
const TAG_MAX_W = 92;
export const GAP_Y = 30;

/** @param {string} family */
export function fonts(family) {
  return {
    op: `600 12px ${family}`,
    brief: `400 11.5px ${family}`,
    row: `400 10.5px ${family}`,
    group: `600 12px ${family}`,
    count: `400 11px ${family}`,
    tag: `500 10px ${family}`,
    edge: `400 10px ${family}`,
    mark: `700 12px ${family}`,
  };
}

export class Metrics {
  /** @param {{text: (text: string, font: string) => number}} measure @param {string} family */
  constructor(measure, family) {
    this.fonts = fonts(family);
    this.measure = measure;
    /** @type {Map<string, number>} */
    this.cache = new Map();
  }

  /** @param {string} text @param {string} font */
  width(text, font) {
    const key = `${font}|${text}`;
    let w = this.cache.get(key);
    if (w === undefined) {
      w = this.measure.text(text, font);
      this.cache.set(key, w);
    }
    return w;
  }

  /** @param {NodeRecord} rec */
  nodeWidth(rec) {
    const brief = rec.brief ? 6 + this.width(rec.brief, this.fonts.brief) : 0;
    const first = CAP + 7 + this.width(rec.op, this.fonts.op) + brief + 10;
    const second = rec.rows?.length ? CAP + 7 + this.width(rowText(rec), this.fonts.row) + 10 : 0;
    return Math.ceil(Math.min(NODE_MAX_W, Math.max(NODE_MIN_W, first, second)));
  }

  /** @param {NodeRecord} rec */
  nodeHeight(rec) {
    return rec.rows?.length ? NODE_H + ROW_H : NODE_H;
  }

  /** @param {Group} g */
  groupWidth(g) {
    const name = 30 + this.width(shortGroup(g.name), this.fonts.group) + 64;
    return Math.ceil(Math.min(230, Math.max(132, name)));
  }

  /**
   * Narrowest an open group may be and still show its title.
   * @param {Group} g
   */
  titleWidth(g) {
    return Math.ceil(30 + Math.min(190, this.width(shortGroup(g.name), this.fonts.group)) + 92);
  }

  /** @param {string} label */
  tagWidth(label) {
    return Math.ceil(Math.min(TAG_MAX_W, 14 + this.width(label, this.fonts.tag)));
  }

  /**
   * Cut a text with an ellipsis so that it fits.
   * @param {string} text
   * @param {string} font
   * @param {number} room
   */
  fit(text, font, room) {
    if (room <= 0) return "";
    if (this.width(text, font) <= room) return text;
    let low = 0,
      high = text.length;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.measure.text(`${text.slice(0, mid)}…`, font) <= room) low = mid;
      else high = mid - 1;
    }
    return low ? `${text.slice(0, low)}…` : "";
  }
}

/** @param {NodeRecord} rec */
export const rowText = (rec) => (rec.rows ?? []).join("  ");

/** @param {string} name */
export const shortGroup = (name) => (name.length > 34 ? `…${name.slice(-33)}` : name);
