// @ts-check
// What every key does, and what the sheet of keys says of it: one row is one line of the sheet.

import { showAll } from "../canvas/framing.js";
import { OVERLAYS } from "../overlays/registry.js";

/** @typedef {{keys: Record<string, () => void>, shown?: string, text?: string}} Command without a text the sheet leaves it out */

/**
 * Those of a mode, its own first: they go before what works in all of them.
 * @param {Context} context @param {Shell} shell
 * @returns {Command[]}
 */
export function commandsOf(context, shell) {
  const { mode } = shell;
  const own =
    mode === "film" ? ofFilm(shell) : mode === "rewrite" ? ofTrace(context, shell) : ofModel(shell);
  return [...own, ...ofGraph(context, shell)];
}

/** @param {Context} context @param {Shell} shell @returns {Command[]} */
function ofTrace({ actions }, shell) {
  const step = {
    ArrowLeft: () => actions.stepBy(-1),
    ArrowRight: () => actions.stepBy(1),
  };
  const touch = { ",": () => actions.touchBy(-1), ".": () => actions.touchBy(1) };
  const pass = { "[": () => actions.passBy(-1), "]": () => actions.passBy(1) };
  const ends = { Home: () => actions.goto(0), End: () => actions.goto(Infinity) };
  const panes = {
    1: () => shell.setPanes(1),
    2: () => shell.setPanes(2),
    3: () => shell.setPanes(3),
  };
  const wheel = "on the strip of steps: step, or zoom where one bar is several steps";
  return [
    { keys: step, shown: "← →", text: "previous, next step" },
    { keys: pass, shown: "[ ]", text: "previous, next pass" },
    { keys: touch, shown: ", .", text: "previous, next step that touches what is selected" },
    { keys: { " ": () => actions.playback.toggle() }, shown: "space", text: "play or pause" },
    { keys: {}, shown: "wheel", text: wheel },
    { keys: ends, shown: "Home End", text: "source, last step" },
    { keys: panes, shown: "1 2 3", text: "both panes, overlay, after only" },
    { keys: { g: () => actions.showChange() }, text: "go to the change" },
    { keys: { p: () => shell.toggle("left") }, text: "passes panel" },
  ];
}

/** @param {Shell} shell @returns {Command[]} */
function ofFilm({ film }) {
  const { player } = film;
  const event = { ArrowLeft: () => player.eventBy(-1), ArrowRight: () => player.eventBy(1) };
  const back = () => player.nodeBy(-1);
  const on = () => player.nodeBy(1);
  const node = { ArrowUp: back, ArrowDown: on, "[": back, "]": on };
  const speed = { "<": () => player.faster(-1), ">": () => player.faster(1) };
  const ends = { Home: () => player.cut(0), End: () => player.cut(Infinity) };
  const run = { g: () => film.pick(film.state.selected) };
  return [
    { keys: event, shown: "← →", text: "previous, next event" },
    { keys: node, shown: "↑ ↓ or [ ]", text: "previous, next node" },
    { keys: { " ": () => player.toggle() }, shown: "space", text: "play or pause" },
    { keys: speed, shown: "< >", text: "slower, faster" },
    { keys: ends, shown: "Home End", text: "nothing allocated, last event" },
    { keys: run, text: "go to where the selected node runs" },
  ];
}

/** @param {Shell} shell @returns {Command[]} */
const ofModel = ({ stage }) => [
  { keys: { ArrowLeft: () => stage.pan(60, 0), ArrowRight: () => stage.pan(-60, 0) } },
];

/** @param {Context} context @param {Shell} shell @returns {Command[]} */
function ofGraph({ state, actions }, shell) {
  const { stage } = shell;
  const nearer = () => stage.zoom(1.25);
  const zoom = { "+": nearer, "=": nearer, "-": () => stage.zoom(0.8) };
  const find = shell.mode === "film" ? "find a node or a group" : "find a node, a group or a step";
  const fold = "open or close that group; so does a double click, or a click on its arrow";
  const more = "open all groups; in a large graph one level more";
  const overlays = OVERLAYS.map(({ id, key, plural, available }) => ({
    keys: { [key]: () => actions.toggleOverlay(id) },
    text: shell.mode === "film" ? undefined : `${plural.toLowerCase()} as colours, ${available}`,
  }));
  return [
    { keys: { ArrowUp: () => stage.pan(0, 60), ArrowDown: () => stage.pan(0, -60) } },
    { keys: { f: () => showAll(stage, state.ms(200)) }, text: "fit the whole graph" },
    { keys: zoom, shown: "+ −", text: "zoom" },
    { keys: { "/": () => shell.search.open() }, text: find },
    { keys: {}, shown: "alt + arrows", text: "follow edges from the selected node" },
    { keys: { u: () => actions.selectAround() }, text: "select the group around it" },
    { keys: { o: () => actions.foldSelected() }, text: fold },
    { keys: { e: () => actions.foldAll("more") }, text: more },
    { keys: { E: () => actions.foldAll("none") }, shown: "shift + e", text: "fold all groups" },
    { keys: { 0: () => actions.foldAll("first") }, text: "back to the first picture" },
    { keys: { d: () => shell.toggle("right") }, text: "details panel" },
    ...overlays,
    { keys: { Escape: () => shell.escape() }, shown: "esc", text: "clear the selection, close" },
    { keys: { "?": () => shell.help.open() }, text: "these keys" },
  ];
}
