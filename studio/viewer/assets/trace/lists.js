// @ts-check
// Lists by key.

/** @template K, T @param {Map<K, T[]>} lists @param {K} key @param {T} value */
export function append(lists, key, value) {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
