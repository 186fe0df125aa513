// Names of types that all modules share, each declared where it belongs. Types only: nothing here runs.

export {};

declare global {
  type Actions = import("./app/actions.js").Actions;
  type Context = import("./app/actions.js").Context;
  type Shell = import("./app/shell.js").Shell;
  type Bounds = import("./canvas/draw.js").Bounds;
  type BoxMark = import("./canvas/draw.js").BoxMark;
  type Mark = import("./canvas/draw.js").Mark;
  type Scene = import("./canvas/draw.js").Scene;
  type Pane = import("./canvas/pane.js").Pane;
  type Stage = import("./canvas/stage.js").Stage;
  type View = import("./canvas/camera.js").View;
  type AllocatorEvents = import("./film/events.js").AllocatorEvents;
  type Replay = import("./film/events.js").Replay;
  type FilmPanel = import("./film/panel.js").FilmPanel;
  type LaneScene = import("./film/draw-lanes.js").LaneScene;
  type Layout = import("./layout/layout.js").Layout;
  type Level = import("./layout/layout.js").Level;
  type Metrics = import("./layout/metrics.js").Metrics;
  type Box = import("./layout/placement.js").Box;
  type DrawnWire = import("./layout/placement.js").DrawnWire;
  type Picture = import("./layout/placement.js").Picture;
  type Overlay = import("./overlays/overlay.js").Overlay;
  type OverlayOf<V> = import("./overlays/overlay.js").Overlay<V>;
  type OverlayKind = import("./overlays/overlay.js").OverlayKind;
  type Theme = import("./page/theme.js").Theme;
  type Tooltip = import("./panels/tooltip.js").Tooltip;
  type Comparison = import("./session/comparison.js").Comparison;
  type Selected = import("./session/selection.js").Selection;
  type Session = import("./session/session.js").Session;
  type Which = import("./session/session.js").Which;
  type State = import("./session/state.js").State;
  type FoldTree = import("./trace/fold.js").FoldTree;
  type Group = import("./trace/group.js").Group;
  type Cursor = import("./trace/history.js").Cursor;
  type Provenance = import("./trace/provenance.js").Provenance;
  type Union = import("./trace/union.js").Union;
  type Component = import("./types.js").Component;
  type DeclinedRecord = import("./types.js").DeclinedRecord;
  type Descriptor = import("./types.js").Descriptor;
  type EdgeRecord = import("./types.js").EdgeRecord;
  type FilmJson = import("./types.js").FilmJson;
  type GraphJson = import("./types.js").GraphJson;
  type NodeRecord = import("./types.js").NodeRecord;
  type PassRecord = import("./types.js").PassRecord;
  type StepRecord = import("./types.js").StepRecord;
  type StepsJson = import("./types.js").StepsJson;
}
