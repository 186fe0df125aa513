// @ts-check
// What the pointer does in a pane: it moves the camera of both, picks a box, folds a group.

/** @param {Stage} stage @returns {import("./pane.js").PaneHost} */
export function paneHost(stage) {
  const { camera } = stage;
  const index = (/** @type {Pane} */ pane) => (pane === stage.panes[0] ? 0 : 1);
  const moved = () => {
    stage.host.moved();
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
      stage.host.hover(null, null, stage.which(pane));
      stage.host.pick(box);
    },
    onFold: (pane, box) => {
      camera.follow(index(pane));
      if (box && box.kind !== "node") stage.host.toggle(box);
    },
    onHover: (pane, box, event) => {
      stage.host.hover(box, event, stage.which(pane));
      stage.invalidate();
    },
    viewOf: (pane) => camera.view(index(pane)),
  };
}
