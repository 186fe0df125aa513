// @ts-check
// Where wires run sideways between two ranks: each source gets a track of its own where they
// would overlap.

/**
 * @param {Level} level @param {number} gapY
 * @returns {Float64Array} height of the gap below each rank
 */
export function assignTracks(level, gapY) {
  const gaps = new Float64Array(level.ranks).fill(gapY);
  /** @type {Map<string, {gap: number, low: number, high: number, track: number}>} */
  const runs = new Map();
  const spans = level.wires.map((wire) => {
    const from = level.rank[wire.a];
    const stops = [level.x[wire.a] + wire.oa, ...(wire.via ?? []), level.x[wire.b] + wire.ob];
    const keys = [];
    for (let j = 0; j + 1 < stops.length; j++) {
      if (Math.abs(stops[j] - stops[j + 1]) < 1) {
        keys.push("");
        continue;
      }
      const key = `${from + j}|${stops[j]}|${wire.a}`;
      const low = Math.min(stops[j], stops[j + 1]);
      const high = Math.max(stops[j], stops[j + 1]);
      const run = runs.get(key);
      if (run) {
        run.low = Math.min(run.low, low);
        run.high = Math.max(run.high, high);
      } else runs.set(key, { gap: from + j, low, high, track: 0 });
      keys.push(key);
    }
    return keys;
  });
  const counts = stack([...runs.values()], level.ranks);
  for (let r = 0; r < level.ranks; r++)
    gaps[r] = Math.min(64, gapY + Math.max(0, counts[r] - 2) * 5);
  level.wires.forEach((wire, i) => {
    wire.tracks = Float32Array.from(spans[i], (key) => {
      const run = runs.get(key);
      return run ? (run.track + 1) / (counts[run.gap] + 1) : 0.5;
    });
  });
  return gaps;
}

/**
 * Greedy interval colouring.
 * @param {{gap: number, low: number, high: number, track: number}[]} runs
 * @param {number} ranks
 */
function stack(runs, ranks) {
  const counts = new Int32Array(ranks);
  runs.sort((a, b) => a.gap - b.gap || a.low - b.low || a.high - b.high);
  /** @type {number[]} */
  let ends = [];
  let gap = -1;
  for (const run of runs) {
    if (run.gap !== gap) {
      gap = run.gap;
      ends = [];
    }
    let t = ends.findIndex((end) => end + 8 < run.low);
    if (t < 0) t = ends.length;
    ends[t] = run.high;
    run.track = t;
    counts[gap] = Math.max(counts[gap], t + 1);
  }
  return counts;
}
