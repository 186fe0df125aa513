// @ts-check
// A wire that a rewrite made runs where the rewrite made room: straight through the places of nodes
// that are gone while it is there. It needs no lane of its own and bends nothing.

/** @param {Layout} layout @param {Level} level */
export function throughGaps(layout, level) {
  const { wiring } = layout;
  const n = level.items.length;
  /** @type {number[][] | null} */
  let inn = null;
  for (const wire of level.wires) {
    let born = Infinity,
      died = 0;
    for (const p of wire.pairs) {
      born = Math.min(born, wiring.born[p]);
      died = Math.max(died, wiring.died[p]);
    }
    wire.added = born > 0;
    wire.through = null;
    const span = level.rank[wire.b] - level.rank[wire.a];
    if (!wire.added || span < 2) continue;
    inn ??= predecessors(level, n);
    wire.through = path(layout, level, wire, { inn, born, died });
  }
}

/** @param {Level} level @param {number} n */
function predecessors(level, n) {
  /** @type {number[][]} */
  const inn = Array.from({ length: n }, () => []);
  for (const w of level.wires) if (w.b < n) inn[w.b].push(w.a);
  return inn;
}

/**
 * @param {Layout} layout @param {Level} level @param {import("./wiring.js").LevelWire} wire
 * @param {{inn: number[][], born: number, died: number}} life
 */
function path(layout, level, wire, { inn, born, died }) {
  const first = level.rank[wire.a] + 1;
  const through = new Int32Array(level.rank[wire.b] - first).fill(-1);
  const behind = new Set([wire.a]);
  for (let j = 0; j < through.length; j++) {
    for (const item of level.rows[first + j] ?? []) {
      if (
        !inn[item].some((p) => behind.has(p)) ||
        livesBetween(layout, level.items[item], born, died)
      )
        continue;
      through[j] = item;
      behind.add(item);
      break;
    }
  }
  return through;
}

/**
 * Is anything in a box at some step of [born, died)?
 * @param {Layout} layout
 * @param {number} box
 * @param {number} born
 * @param {number} died
 */
function livesBetween(layout, box, born, died) {
  if (box >= layout.slots) return true;
  const { union } = layout;
  return union.occupants[box].some((o) => union.born[o] < died && born < union.died[o]);
}
