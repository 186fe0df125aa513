// @ts-check
// The node that runs now, lit in the graph and kept in sight. A closed group lights up for the
// nodes in it.

const CALM = 0.3; // of the pane at each side: what is between them stays where it is
const READ_AT = 0.45; // of the height, where the node comes to stand

export class Spotlight {
  /** @param {State} state @param {Stage} stage */
  constructor(state, stage) {
    this.state = state;
    this.stage = stage;
    /** @type {string | null} id of the node */ this.node = null;
  }

  /** @param {Session} session @returns {Map<number, BoxMark>} */
  marks(session) {
    /** @type {Map<number, BoxMark>} */
    const marks = new Map();
    const key = this.node === null ? -1 : session.boxOf(this.node);
    if (key >= 0) marks.set(key, { mark: "matched", now: true });
    return marks;
  }

  /** @param {string | null} node @param {number} ms to bring it into sight; 0 = at once */
  light(node, ms) {
    if (node === this.node) return;
    this.node = node;
    this.stage.invalidate();
    this.keepInSight(ms);
  }

  /** Move the camera only as far as it takes. @param {number} ms */
  keepInSight(ms) {
    const { stage } = this;
    const { session: s } = this.state;
    const pane = stage.panes[1];
    if (!s || this.node === null || !pane.width) return;
    const box = s.picture(pane.which).byKey.get(s.boxOf(this.node));
    if (!box) return;
    const { camera } = stage;
    camera.follow(1);
    const view = camera.flight?.to ?? pane.view;
    const x = box.x + box.w / 2;
    const y = box.y + Math.min(box.h, 200) / 2;
    const wide = (pane.width / view.k) * (0.5 - CALM / 2) - box.w / 2;
    const tall = (pane.height / view.k) * (0.5 - CALM);
    const farX = Math.abs(x - view.x) > Math.max(8, wide);
    const farY = Math.abs(y - view.y) > tall;
    if (!farX && !farY) return;
    const down = (pane.height / view.k) * (0.5 - READ_AT);
    camera.flyTo({ x: farX ? x : view.x, y: farY ? y + down : view.y }, ms);
    stage.invalidate();
  }
}
