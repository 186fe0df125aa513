// @ts-check
// Two traces over one source graph as one: the first from start to end, one step that takes all of
// it back, then the second. One union, one layout; what both made alike is there once.

import { Union } from "./union.js";
import { Cursor } from "./history.js";
import { append } from "./lists.js";

const OWN = "b|"; // ids of nodes that the second alone has

/**
 * Both traces, one after the other; the second one with the ids of that; which of its rewrites are not
 * among the first one's and the other way round, and how many both made at the same place.
 * @param {GraphJson} graph @param {StepsJson} a @param {StepsJson} b
 */
export function combine(graph, a, b) {
  const matching = new Matching(a, b);
  const { steps, nodes } = matching;
  const start = a.steps.length + 1;
  const later = steps.map((step) => ({ ...step, n: start + step.n }));
  /** @type {StepsJson} */
  const trace = {
    ...a,
    key: `${a.key}|${b.key}`,
    nodes: [...a.nodes, ...nodes.filter((node) => node.id.startsWith(OWN))],
    steps: [...a.steps, takeBack(graph, a), ...later],
  };
  /** @type {StepsJson} */
  const second = { ...b, steps, nodes, passes: a.passes };
  return { trace, second, ...matching.differing(steps), both: matching.shared.size };
}

/**
 * The rewrites that only one of two traces of a graph has, each as its own trace tells it.
 * @param {StepsJson} a @param {StepsJson} b
 */
export const differing = (a, b) => new Matching(a, b).differing(b.steps);

/**
 * Finds rewrites made twice: the same rule of the same pass at the same nodes, with the same result. One by
 * which only constants come and go is the same wherever it was found, where it says the same of them.
 */
class Matching {
  /** @param {StepsJson} a @param {StepsJson} b */
  constructor(a, b) {
    this.a = a;
    this.b = b;
    /** @type {Map<string, string>} id of the second -> id of the combined trace */
    this.ids = new Map();
    /** @type {NodeRecord[]} of the second */ this.nodes = [];
    /** @type {Set<StepRecord>} of the first */ this.shared = new Set();
    /** @type {Set<StepRecord>} of the second */ this.alike = new Set();
    this.records = byId(b.nodes);
    this.firstRecords = byId(a.nodes);
    /** @type {Map<string, StepRecord[]>} */ this.open = new Map();
    for (const step of a.steps) append(this.open, this.#place(step, a), step);
    this.passes = new Map(a.passes.map((pass, i) => [pass.id, i]));
    /** of the second, with the ids of the combined trace */
    this.steps = b.steps.map((step) => this.#take(step));
  }

  /** Rewrites of one trace alone. @param {StepRecord[]} second how those of the second are told */
  differing(second) {
    return {
      onlyFirst: this.a.steps.filter((step) => !this.shared.has(step)),
      onlySecond: second.filter((_, i) => !this.alike.has(this.b.steps[i])),
    };
  }

  /** @param {StepRecord} step @param {StepsJson} trace */
  #place(step, trace) {
    if (isOfConstants(step))
      return JSON.stringify([trace.passes[step.pass]?.id, step.rule, step.why]);
    const nodes = [step.root, ...step.matched].map((id) => (trace === this.b ? this.#id(id) : id));
    return [trace.passes[step.pass]?.id, step.rule, ...nodes].join(" ");
  }

  /** @param {string} id */
  #id(id) {
    return this.ids.get(id) ?? id;
  }

  /** A step of the second with the ids of the combined trace. @param {StepRecord} step */
  #take(step) {
    const twin = this.#twin(step);
    for (const [i, id] of step.added.entries()) this.ids.set(id, twin ? twin.added[i] : OWN + id);
    const made = step.added.map((id) => this.#record(/** @type {any} */ (this.records.get(id))));
    this.nodes.push(...made);
    if (twin) {
      this.shared.add(twin);
      this.alike.add(step);
    }
    const again = twin ? Object.fromEntries(made.map((rec) => [rec.id, rec])) : {};
    return this.#translated(step, again);
  }

  /** @param {StepRecord} step */
  #twin(step) {
    const waiting = this.open.get(this.#place(step, this.b)) ?? [];
    const at = waiting.findIndex((other) => this.#sameResult(other, step));
    return at < 0 ? null : waiting.splice(at, 1)[0];
  }

  /** @param {StepRecord} first @param {StepRecord} second */
  #sameResult(first, second) {
    const looks = (/** @type {string[]} */ ids, /** @type {Map<string, NodeRecord>} */ records) =>
      ids.map((id) => signature(records.get(id))).join("\n");
    return (
      first.removed.length === second.removed.length &&
      looks(first.added, this.firstRecords) === looks(second.added, this.records)
    );
  }

  /** @param {NodeRecord} rec @returns {NodeRecord} */
  #record(rec) {
    const to = (/** @type {string | null | undefined} */ id) => (id ? this.#id(id) : id);
    return { ...rec, id: this.#id(rec.id), slot: to(rec.slot), near: to(rec.near) };
  }

  /** @param {StepRecord} step @param {Record<string, NodeRecord>} again @returns {StepRecord} */
  #translated(step, again) {
    const ids = (/** @type {string[]} */ list) => list.map((id) => this.#id(id));
    /** @template T @param {Record<string, T> | undefined} map @param {(x: T) => T} each */
    const keyed = (map, each) =>
      Object.fromEntries(Object.entries(map ?? {}).map(([id, x]) => [this.#id(id), each(x)]));
    const edges = (/** @type {EdgeRecord[] | undefined} */ list) =>
      (list ?? []).map(
        ([from, to, ...ports]) =>
          /** @type {EdgeRecord} */ ([this.#id(from), this.#id(to), ...ports]),
      );
    const record = (/** @type {NodeRecord} */ rec) => this.#record(rec);
    return {
      ...step,
      pass: this.passes.get(this.b.passes[step.pass]?.id) ?? step.pass,
      root: this.#id(step.root),
      matched: ids(step.matched),
      removed: ids(step.removed),
      added: ids(step.added),
      changed: keyed(step.changed, record),
      updated: { ...again, ...keyed(step.updated, record) },
      outs: keyed(step.outs, (id) => this.#id(id)),
      edges_removed: edges(step.edges_removed),
      edges_added: edges(step.edges_added),
      from: keyed(step.from, ids),
      became: step.became?.map(([kind, nodes, into]) => [kind, ids(nodes), ids(into)]),
    };
  }
}

/** The step from the first one's end back to the source. @param {GraphJson} graph @param {StepsJson} a */
function takeBack(graph, a) {
  const union = new Union(graph, a);
  const { recs, sources, sourceEdges } = union;
  const end = new Cursor(union);
  end.goto(a.steps.length);
  /** @type {StepRecord} */
  const step = {
    n: a.steps.length + 1,
    round: 1,
    pass: 0,
    rule: "",
    match: "",
    root: "",
    matched: [],
    removed: [],
    added: [],
    updated: {},
    edges_removed: [],
    edges_added: [],
  };
  recs.forEach(({ id }, o) => {
    if (o >= sources && end.alive[o]) step.removed.push(id);
    if (o < sources && !end.alive[o]) step.added.push(id);
    if (o < sources && union.later.has(o)) /** @type {any} */ (step.updated)[id] = recs[o];
  });
  for (let e = 0; e < union.from.length; e++) {
    if (!!end.edgeAlive[e] === e < sourceEdges) continue;
    const ends = [recs[union.from[e]].id, recs[union.to[e]].id];
    const edge = /** @type {any} */ ([...ends, union.fromPort[e], union.toPort[e]]);
    /** @type {any} */ (e < sourceEdges ? step.edges_added : step.edges_removed).push(edge);
  }
  return step;
}

/** Whether it leaves all nodes as they are, but for what they read. @param {StepRecord} step */
const isOfConstants = ({ added, removed, changed }) =>
  !added.length && !removed.length && !Object.keys(changed ?? {}).length;

/** What one sees of a node. @param {NodeRecord | undefined} rec */
export const signature = (rec) => JSON.stringify([rec?.op, rec?.brief, rec?.rows, rec?.attrs]);

/** @param {NodeRecord[]} nodes */
const byId = (nodes) => new Map(nodes.map((node) => [node.id, node]));
