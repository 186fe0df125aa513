// @ts-check
// What the pointer does in a pane: it moves the camera of both, picks a box, folds a group.

/** @typedef {import("./stage.js").Stage} Stage */
/** @typedef {import("./pane.js").Pane} Pane */

/** @param {Stage} stage @returns {import("./pane.js").PaneHost} */
export function paneHost(stage) {
  const { camera, host } = stage;
  const index = (/** @type {Pane} */ pane) => (pane === stage.panes[0] ? 0 : 1);
  const moved = () => {
    host.moved();
    stage.invalidate();
  };
  return {
    onPan: (pane, dx, dy) => {
      camera.pan(index(pane), dx, dy);
      moved();
    },
    onZoom: (pane, factor, x, y) => {
      camera.zoom(index(pane), factor, x, y);
      moved();
    },
    onClick: (pane, box) => {
      camera.follow(index(pane));
      host.hover(null, null, stage.which(pane));
      host.pick(box, stage.which(pane));
    },
    onFold: (pane, box) => {
      camera.follow(index(pane));
      if (box && box.kind !== "node") host.toggle(box, stage.which(pane));
    },
    onHover: (pane, box, event) => {
      host.hover(box, event, stage.which(pane));
      stage.invalidate();
    },
    viewOf: (pane) => camera.view(index(pane)),
  };
}
