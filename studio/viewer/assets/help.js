// @ts-check
// What every key does.

/** @type {[string, string][]} */
export const HELP = [
  ["← →", "previous, next step"],
  ["[ ]", "previous, next pass"],
  ["space", "play or pause"],
  ["Home End", "source, last step"],
  ["1 2 3", "both panes, overlay, after only"],
  ["f", "fit the whole graph"],
  ["g", "go to the change"],
  ["+ −", "zoom"],
  ["/", "find a node"],
  ["alt + arrows", "follow edges from the selected node"],
  ["o", "open or close the group around it"],
  ["e", "open all groups; in a large graph one level more"],
  ["shift + e", "fold all groups"],
  ["0", "back to the first picture"],
  ["p", "passes panel"],
  ["d", "details panel"],
  ["t", "times of nodes as colours, after a profile was made"],
  ["esc", "clear the selection, close"],
  ["?", "these keys"],
];

/** @type {[string, string][]} */
export const FILM_HELP = [
  ["← →", "previous, next event"],
  ["↑ ↓ or [ ]", "previous, next node"],
  ["space", "play or pause"],
  ["< >", "slower, faster"],
  ["Home End", "nothing allocated, last event"],
  ["f", "fit the whole graph"],
  ["+ −", "zoom the graph"],
  ["/", "find a node"],
  ["o", "open or close the group around the selected node"],
  ["e", "open all groups; in a large graph one level more"],
  ["shift + e", "fold all groups"],
  ["0", "back to the first picture"],
  ["d", "details panel"],
  ["esc", "clear the selection, close"],
  ["?", "these keys"],
];
