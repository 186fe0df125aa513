// @ts-check
// Short names for places in a graph: of each path only what tells it from the others.

/**
 * `/encoder/layer.3/attention/self/key/Add` among the same of other layers and other projections is
 * `layer.3/key/Add`. The last part always stays.
 * @param {string[]} paths
 * @param {number} [most] names wanted; each costs a look at all paths
 * @returns {string[]} one name for each of the first paths
 */
export function placeNames(paths, most = paths.length) {
  const all = paths.map((path) => path.split("/").filter(Boolean));
  return all.slice(0, most).map((parts, i) => shortened(parts, all, i).join("/") || paths[i]);
}

/**
 * The same for nodes of a graph.
 * @param {Session | null} s @param {string[]} ids @param {number} most
 */
export const namesOf = (s, ids, most) =>
  placeNames(
    ids.map((id) => pathOf(s, id)),
    most,
  );

/**
 * Where a node stands: its groups are in its name, or around it.
 * @param {Session | null} s @param {string} id
 */
function pathOf(s, id) {
  const o = s?.union.index.get(id);
  if (!s || o === undefined) return id;
  const rec = s.union.recs[o];
  if (rec.name.includes("/")) return rec.name;
  return `${s.graph.groups[rec.g]?.id ?? ""}/${rec.name || `${rec.op} ${id}`}`;
}

/**
 * Parts go, from the front, as long as no more of the other paths contain what is left.
 * @param {string[]} parts @param {string[][]} all @param {number} self
 */
function shortened(parts, all, self) {
  const others = all.filter((_, i) => i !== self);
  const alike = (/** @type {string[]} */ left) =>
    others.filter((path) => contains(path, left)).length;
  const least = alike(parts);
  let kept = parts;
  for (let at = 0; at < kept.length - 1; ) {
    const without = [...kept.slice(0, at), ...kept.slice(at + 1)];
    if (alike(without) > least) at++;
    else kept = without;
  }
  return kept;
}

/** Whether a path holds these parts in this order. @param {string[]} path @param {string[]} parts */
function contains(path, parts) {
  let at = 0;
  for (const part of path) if (part === parts[at]) at++;
  return at === parts.length;
}
