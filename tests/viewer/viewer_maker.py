"""A tiny engine that makes contract-conforming graphs and rewrites them step by step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Edge = tuple[str, str, int, int]

CATEGORIES = {
    "Conv": "conv",
    "MatMul": "conv",
    "Gemm": "conv",
    "BatchNormalization": "norm",
    "LayerNormalization": "norm",
    "Relu": "act",
    "Softmax": "act",
    "Gelu": "act",
    "Erf": "act",
    "GlobalAveragePool": "pool",
    "MaxPool": "pool",
    "ReduceMean": "pool",
    "Reshape": "shape",
    "Transpose": "shape",
    "Flatten": "shape",
    "Gather": "shape",
    "Unsqueeze": "shape",
    "Cast": "shape",
    "Add": "elem",
    "Sub": "elem",
    "Mul": "elem",
    "Div": "elem",
    "Pow": "elem",
    "Sqrt": "elem",
    "Identity": "shape",
}

PASSES = [
    ("eliminate-identity", "Eliminate Identity", "node", "exact"),
    ("fuse-conv-batch-norm", "Fuse BatchNorm into Conv", "block", "reassociates"),
    ("fuse-conv-relu", "Fuse Relu into Conv", "block", "exact"),
    ("fuse-matmul-add", "Fuse MatMul and Add", "block", "exact"),
    ("fuse-layer-norm", "Fuse LayerNormalization", "block", "reassociates"),
    ("fuse-gelu", "Fuse Gelu", "block", "reassociates"),
    ("eliminate-dead-nodes", "Eliminate dead nodes", "dataflow", "exact"),
    ("convert-float16", "Convert to float16", "precision", "lossy"),
]
PASS_INDEX = {p[0]: i for i, p in enumerate(PASSES)}


@dataclass(slots=True)
class Maker:
    """Builds a graph node by node, then rewrites it step by step."""

    name: str
    nodes: list[Json] = field(default_factory=list[Json])
    edges: list[Edge] = field(default_factory=list[Edge])
    groups: list[Json] = field(default_factory=lambda: [{"id": "", "name": "", "parent": -1}])
    inputs: list[Json] = field(default_factory=list[Json])
    outputs: list[Json] = field(default_factory=list[Json])
    records: dict[str, Json] = field(default_factory=dict[str, Json])
    live: dict[str, set[Edge]] = field(default_factory=dict[str, set[Edge]])
    """Edges that are there now, by the nodes at their ends."""
    added: list[Json] = field(default_factory=list[Json])
    steps: list[Json] = field(default_factory=list[Json])
    declined: list[Json] = field(default_factory=list[Json])
    counts: dict[str, int] = field(default_factory=dict[str, int])

    def group(self, path: str) -> int:
        """Index of a scope such as `/encoder/layer.3`, made with its parents."""
        for i, g in enumerate(self.groups):
            if g["id"] == path:
                return i
        head, _, tail = path.rpartition("/")
        parent = self.group(head) if head else 0
        self.groups.append({"id": path, "name": tail, "parent": parent})
        return len(self.groups) - 1

    def input(self, name: str, shape: str, dtype: str = "float32") -> str:
        """Add a graph input and return its id."""
        ident = f"i{len(self.inputs)}"
        self.inputs.append({"id": ident, "name": name, "dtype": dtype, "shape": shape})
        return ident

    def node(
        self, op: str, *sources: str, scope: str = "", shape: str = "1×64×56×56", **more: Any
    ) -> str:
        """Add a node that reads the given nodes and return its id."""
        ident = f"n{len(self.nodes)}"
        self.nodes.append(self.record(ident, op, scope=scope, shape=shape, sources=sources, **more))
        for port, source in enumerate(sources):
            self.edges.append((source, ident, 0, port))
        return ident

    def record(
        self, ident: str, op: str, *, scope: str, shape: str, sources: tuple[str, ...], **more: Any
    ) -> Json:
        """The JSON of one node."""
        record: Json = {
            "id": ident,
            "op": op,
            "name": more.pop("name", f"{scope}/{op}_{ident}"),
            "cat": CATEGORIES.get(op, "unknown"),
            "g": self.group(scope) if scope else 0,
            "attrs": more.pop("attrs", []),
            "in": [["X", f"{s}_out", "float32", shape] for s in sources],
            "out": [["Y", f"{ident}_out", "float32", shape]],
            **more,
        }
        self.records[ident] = record
        return record

    def output(self, name: str, source: str, shape: str) -> None:
        """Add a graph output fed by a node."""
        ident = f"o{len(self.outputs)}"
        self.outputs.append(
            {"id": ident, "name": name, "dtype": "float32", "shape": shape, "from": source}
        )
        self.edges.append((source, ident, 0, 0))

    def around(self, nodes: Iterable[str]) -> list[Edge]:
        """The edges that begin or end at a node, in order."""
        if not self.live:
            self.rewire([], self.edges)
        return sorted(set[Edge]().union(*(self.live.get(node, set[Edge]()) for node in nodes)))

    def rewire(self, old: Iterable[Edge], new: Iterable[Edge]) -> None:
        """Take edges out and put others in."""
        for edge in old:
            for end in edge[:2]:
                self.live[end].discard(edge)
        for edge in new:
            for end in edge[:2]:
                self.live.setdefault(end, set()).add(edge)

    def rewrite(self, pass_id: str, rule: str, matched: list[str], op: str, **more: Any) -> str:
        """Replace matched nodes (the last is the root) by one node in the root's place."""
        root = matched[-1]
        stem = root.split("~")[0]
        self.counts[stem] = self.counts.get(stem, 0) + 1
        ident = f"{stem}~{self.counts[stem]}"
        gone = set(matched)
        old = self.around(matched)
        sources = list(dict.fromkeys(e[0] for e in old if e[1] in gone and e[0] not in gone))
        new = [(s, ident, 0, k) for k, s in enumerate(sources)]
        new += [(ident, e[1], 0, e[3]) for e in old if e[0] == root and e[1] not in gone]
        before = self.records[root]
        record = self.record(
            ident, op, scope="", shape=before["out"][0][3], sources=tuple(sources), **more
        )
        record |= {"g": before["g"], "name": before["name"], "slot": root, "near": root}
        self.added.append(record)
        self.rewire(old, new)
        self.step(
            pass_id,
            rule,
            matched,
            removed=matched,
            added=[ident],
            old=old,
            new=new,
            origin={ident: matched},
            became=("merged", matched, [ident]),
        )
        return ident

    def fold(self, pass_id: str, rule: str, matched: list[str], **updated: Json) -> None:
        """Compute matched nodes ahead of time; their readers get new records."""
        old = self.around(matched)
        self.rewire(old, [])
        became = ("folded", matched, [f"{matched[-1]}~w1"])
        self.step(pass_id, rule, matched, removed=matched, old=old, became=became)
        self.steps[-1]["updated"] = {n: {**self.records[n], **r} for n, r in updated.items()}

    def drop(self, pass_id: str, rule: str, node: str) -> None:
        """Take one pass-through node out and join what is around it."""
        old = self.around([node])
        feeds = [e for e in old if e[1] == node]
        new = [(feeds[0][0], e[1], 0, e[3]) for e in old if e[0] == node]
        self.rewire(old, new)
        became = ("bypassed", [node], [feeds[0][0]])
        self.step(pass_id, rule, [node], removed=[node], old=old, new=new, became=became)

    def drop_weights(self, reader: str, dropped: list[Any], *, kept: Any) -> None:
        """Drop weights that no node reads, or whose readers take the one that is kept."""
        self.step("eliminate-dead-nodes", "Weights", [reader])
        self.steps[-1]["delta"] = {"nodes": 0, "flops": 0, "bytes": 0}
        self.steps[-1]["weights"] = {
            "count": len(dropped),
            "bytes": sum(weight[3] for weight in dropped),
            "dropped": dropped,
            "kept": kept,
        }

    def change(self, pass_id: str, rule: str, node: str, **fields: Any) -> None:
        """Change one node in place."""
        record = {**self.records[node], **fields}
        self.records[node] = record
        self.step(pass_id, rule, [node], changed={node: record})

    def step(
        self,
        pass_id: str,
        rule: str,
        matched: list[str],
        *,
        removed: Sequence[str] = (),
        added: Sequence[str] = (),
        old: Sequence[Edge] = (),
        new: Sequence[Edge] = (),
        origin: Mapping[str, list[str]] | None = None,
        became: tuple[str, list[str], list[str]] | None = None,
        changed: Mapping[str, Json] | None = None,
    ) -> None:
        """Write one step down."""
        n = len(self.steps) + 1
        outs = {e[1]: e[0] for e in new if e[1].startswith("o")}
        self.steps.append(
            {
                "n": n,
                "round": 1,
                "pass": PASS_INDEX[pass_id],
                "rule": rule,
                "match": f"{n:012x}",
                "root": matched[-1],
                "matched": matched,
                "removed": list(removed),
                "added": list(added),
                "changed": changed or {},
                **({"outs": outs} if outs else {}),
                "edges_removed": [list(e) for e in old],
                "edges_added": [list(e) for e in new],
                "why": "No other consumer sees the matched nodes; the values stay the same.",
                "from": origin or {},
                "became": [list(became)] if became else [],
                "us": 120 + n % 7 * 31,
                "depends": [s["n"] for s in self.steps if set(matched) & set(s["added"])],
                "delta": {
                    "nodes": len(added) - len(removed),
                    "flops": -1000 * (n % 13) ** 3,
                    "bytes": -4096 * (1 + n % 5),
                },
            }
        )

    def graph(self) -> Json:
        """`passlens.graph/1`."""
        return {
            "schema": "passlens.graph/1",
            "key": f"g-{self.name}",
            "name": self.name,
            "nodes": self.nodes,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "edges": [list(e) for e in self.edges],
            "groups": self.groups,
        }

    def trace(self) -> Json:
        """`passlens.steps/1`."""
        fired = [sum(s["pass"] == i for s in self.steps) for i in range(len(PASSES))]
        passes = pass_records()
        for i, record in enumerate(passes):
            record["fired"] = fired[i]
            record["declined"] = sum(d["pass"] == i for d in self.declined)
        end = len(self.nodes) + sum(s["delta"]["nodes"] for s in self.steps)
        return {
            "schema": "passlens.steps/1",
            "key": f"s-{self.name}",
            "graph": f"g-{self.name}",
            "passes": passes,
            "nodes": self.added,
            "steps": self.steps,
            "declined": self.declined,
            "totals": {
                "nodes": [len(self.nodes), end],
                "flops": [10**9, 9 * 10**8],
                "bytes": [10**8, 9 * 10**7],
            },
        }


def pass_records() -> list[Json]:
    """The passes every fixture knows."""
    return [
        {
            "id": ident,
            "title": title,
            "family": family,
            "exactness": exactness,
            "enabled": exactness != "lossy",
            "presets": ["portable"] if exactness != "lossy" else [],
            "fired": 0,
            "declined": 0,
            "summary": f"{title}: one operator where there were several.",
            "before": "Conv → BatchNormalization",
            "after": "Conv",
            "safe": "The first output has one consumer.",
            "numerics": "Rounding differs in the last place.",
            "source": "Jacob et al. 2018, eq. 5",
        }
        for ident, title, family, exactness in PASSES
    ]
