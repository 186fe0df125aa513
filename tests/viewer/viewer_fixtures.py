"""Contract-conforming graphs and traces, made by a tiny engine so that tests need no model files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Edge = tuple[str, str, int, int]

CATEGORIES = {
    "Conv": "conv", "MatMul": "conv", "Gemm": "conv", "BatchNormalization": "norm",
    "LayerNormalization": "norm", "Relu": "act", "Softmax": "act", "Gelu": "act", "Erf": "act",
    "GlobalAveragePool": "pool", "MaxPool": "pool", "ReduceMean": "pool", "Reshape": "shape",
    "Transpose": "shape", "Flatten": "shape", "Gather": "shape", "Unsqueeze": "shape", "Cast": "shape",
    "Add": "elem", "Sub": "elem", "Mul": "elem", "Div": "elem", "Pow": "elem", "Sqrt": "elem",
    "Identity": "shape",
}  # fmt: skip

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
    nodes: list[Json] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    groups: list[Json] = field(default_factory=lambda: [{"id": "", "name": "", "parent": -1}])
    inputs: list[Json] = field(default_factory=list)
    outputs: list[Json] = field(default_factory=list)
    records: dict[str, Json] = field(default_factory=dict)
    live: set[Edge] = field(default_factory=set)
    added: list[Json] = field(default_factory=list)
    steps: list[Json] = field(default_factory=list)
    declined: list[Json] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

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
            "id": ident, "op": op, "name": more.pop("name", f"{scope}/{op}_{ident}"),
            "cat": CATEGORIES.get(op, "unknown"), "g": self.group(scope) if scope else 0,
            "attrs": more.pop("attrs", []),
            "in": [["X", f"{s}_out", "float32", shape] for s in sources],
            "out": [["Y", f"{ident}_out", "float32", shape]], **more,
        }  # fmt: skip
        self.records[ident] = record
        return record

    def output(self, name: str, source: str, shape: str) -> None:
        """Add a graph output fed by a node."""
        ident = f"o{len(self.outputs)}"
        self.outputs.append(
            {"id": ident, "name": name, "dtype": "float32", "shape": shape, "from": source}
        )
        self.edges.append((source, ident, 0, 0))

    def rewrite(self, pass_id: str, rule: str, matched: list[str], op: str, **more: Any) -> str:
        """Replace matched nodes (the last is the root) by one node in the root's place."""
        if not self.live:
            self.live = set(self.edges)
        root = matched[-1]
        stem = root.split("~")[0]
        self.counts[stem] = self.counts.get(stem, 0) + 1
        ident = f"{stem}~{self.counts[stem]}"
        gone = set(matched)
        old = sorted(e for e in self.live if e[0] in gone or e[1] in gone)
        sources = list(dict.fromkeys(e[0] for e in old if e[1] in gone and e[0] not in gone))
        new = [(s, ident, 0, k) for k, s in enumerate(sources)]
        new += [(ident, e[1], 0, e[3]) for e in old if e[0] == root and e[1] not in gone]
        before = self.records[root]
        record = self.record(
            ident, op, scope="", shape=before["out"][0][3], sources=tuple(sources), **more
        )
        record |= {"g": before["g"], "name": before["name"], "slot": root, "near": root}
        self.added.append(record)
        self.live = (self.live - set(old)) | set(new)
        self.step(
            pass_id,
            rule,
            matched,
            removed=matched,
            added=[ident],
            old=old,
            new=new,
            origin={ident: matched},
        )
        return ident

    def drop(self, pass_id: str, rule: str, node: str) -> None:
        """Take one pass-through node out and join what is around it."""
        if not self.live:
            self.live = set(self.edges)
        old = sorted(e for e in self.live if node in e[:2])
        feeds = [e for e in old if e[1] == node]
        new = [(feeds[0][0], e[1], 0, e[3]) for e in old if e[0] == node]
        self.live = (self.live - set(old)) | set(new)
        self.step(pass_id, rule, [node], removed=[node], added=[], old=old, new=new, origin={})

    def change(self, pass_id: str, rule: str, node: str, **fields: Any) -> None:
        """Change one node in place."""
        record = {**self.records[node], **fields}
        self.records[node] = record
        self.step(
            pass_id,
            rule,
            [node],
            removed=[],
            added=[],
            old=[],
            new=[],
            origin={},
            changed={node: record},
        )

    def step(
        self, pass_id: str, rule: str, matched: list[str], *, removed: list[str], added: list[str],
        old: list[Edge], new: list[Edge], origin: dict[str, list[str]], changed: dict[str, Json] | None = None,
    ) -> None:  # fmt: skip
        """Write one step down."""
        n = len(self.steps) + 1
        outs = {e[1]: e[0] for e in new if e[1].startswith("o")}
        self.steps.append({
            "n": n, "round": 1, "pass": PASS_INDEX[pass_id], "rule": rule, "match": f"{n:012x}",
            "root": matched[-1], "matched": matched, "removed": removed, "added": added,
            "changed": changed or {}, **({"outs": outs} if outs else {}),
            "edges_removed": [list(e) for e in old], "edges_added": [list(e) for e in new],
            "why": "The matched nodes have no other consumer, so the replacement computes the same values.",
            "from": origin, "us": 120 + n % 7 * 31, "depends": [],
            "delta": {"nodes": len(added) - len(removed), "flops": -1000 * (n % 13) ** 3, "bytes": -4096 * (1 + n % 5)},
        })  # fmt: skip

    def graph(self) -> Json:
        """`passlens.graph/1`."""
        return {
            "schema": "passlens.graph/1", "key": f"g-{self.name}", "name": self.name, "nodes": self.nodes,
            "inputs": self.inputs, "outputs": self.outputs, "edges": [list(e) for e in self.edges],
            "groups": self.groups,
        }  # fmt: skip

    def trace(self) -> Json:
        """`passlens.steps/1`."""
        fired = [sum(s["pass"] == i for s in self.steps) for i in range(len(PASSES))]
        passes = pass_records()
        for i, record in enumerate(passes):
            record["fired"] = fired[i]
            record["declined"] = sum(d["pass"] == i for d in self.declined)
        end = len(self.nodes) + sum(s["delta"]["nodes"] for s in self.steps)
        return {
            "schema": "passlens.steps/1", "key": f"s-{self.name}", "graph": f"g-{self.name}", "passes": passes,
            "nodes": self.added, "steps": self.steps, "declined": self.declined,
            "totals": {"nodes": [len(self.nodes), end], "flops": [10**9, 9 * 10**8], "bytes": [10**8, 9 * 10**7]},
        }  # fmt: skip


def pass_records() -> list[Json]:
    """The passes every fixture knows."""
    return [
        {
            "id": ident, "title": title, "family": family, "exactness": exactness,
            "enabled": exactness != "lossy", "presets": ["default"] if exactness != "lossy" else [],
            "fired": 0, "declined": 0, "summary": f"{title}: one operator where there were several.",
            "before": "Conv → BatchNormalization", "after": "Conv", "safe": "The first output has one consumer.",
            "numerics": "Rounding differs in the last place.", "source": "Jacob et al. 2018, eq. 5",
        }
        for ident, title, family, exactness in PASSES
    ]  # fmt: skip


def cnn(blocks: int = 8) -> tuple[Json, Json]:
    """A residual network; Conv + BatchNormalization, then Conv + Relu, are fused step by step."""
    m = Maker(f"cnn{blocks}")
    x = m.input("pixel_values", "1×3×224×224")
    convs: list[list[str]] = []

    def conv(source: str, scope: str, *, relu: bool = True) -> str:
        attrs = [["kernel_shape", "[3, 3]"], ["pads", "[1, 1, 1, 1]"]]
        c = m.node("Conv", source, scope=scope, brief="3×3", rows=["W 64×64×3×3"], attrs=attrs)
        b = m.node("BatchNormalization", c, scope=scope)
        chain = [c, b]
        if relu:
            chain.append(m.node("Relu", b, scope=scope))
        convs.append(chain)
        return chain[-1]

    x = conv(x, "")
    for i in range(blocks):
        scope = f"/layer{i // 4 + 1}/block.{i % 4}"
        y = conv(conv(x, scope), scope, relu=False)
        if i % 4 == 0 and i:
            x = conv(x, scope, relu=False)
        x = m.node("Relu", m.node("Add", y, x, scope=scope), scope=scope)
    pool = m.node("GlobalAveragePool", x, shape="1×64×1×1")
    flat = m.node("Identity", m.node("Flatten", pool, shape="1×64"), shape="1×64")
    logits = m.node("Gemm", flat, shape="1×1000", rows=["W 1000×64", "B 1000"])
    m.output("logits", logits, "1×1000")
    m.drop("eliminate-identity", "IdentityAnywhere", flat)
    for chain in convs:
        chain[0] = m.rewrite(
            "fuse-conv-batch-norm",
            "ConvBatchNorm",
            chain[:2],
            "Conv",
            brief="3×3",
            rows=["W 64×64×3×3", "B 64"],
        )
    for chain in convs:
        if len(chain) == 3:
            m.rewrite(
                "fuse-conv-relu",
                "ConvRelu",
                [chain[0], chain[2]],
                "FusedConv",
                brief="3×3 Relu",
                rows=["W 64×64×3×3", "B 64"],
            )
    m.change(
        "convert-float16",
        "CastWeight",
        logits,
        rows=["W 1000×64 float16", "B 1000"],
        attrs=[["transB", "1"]],
    )
    m.declined.append({"pass": PASS_INDEX["fuse-conv-relu"], "rule": "ConvRelu", "node": convs[2][0].split("~")[0],
                       "nodes": [], "reason": "Conv output has a second consumer"})  # fmt: skip
    return m.graph(), m.trace()


def transformer(layers: int = 12, hidden: int = 768) -> tuple[Json, Json]:
    """A scoped encoder with an attention mask that every layer reads."""
    m = Maker(f"transformer{layers}")
    shape = f"1×128×{hidden}"
    ids = m.input("input_ids", "1×128", "int64")
    mask = m.input("attention_mask", "1×128", "int64")
    wide = m.node(
        "Cast", m.node("Unsqueeze", mask, shape="1×1×1×128"), shape="1×1×1×128", brief="→ float32"
    )
    bias = m.node(
        "Mul",
        m.node("Sub", wide, shape="1×1×1×128", brief="1 −"),
        shape="1×1×1×128",
        brief="× −1e4",
        name="/mask/Mul",
    )
    norms: list[list[str]] = []
    linears: list[list[str]] = []
    gelus: list[list[str]] = []

    def linear(source: str, scope: str, width: int = hidden) -> str:
        out = f"1×128×{width}"
        a = m.node("MatMul", source, scope=scope, shape=out, rows=[f"B {hidden}×{width}"])
        linears.append([a, m.node("Add", a, scope=scope, shape=out, rows=[f"B {width}"])])
        return linears[-1][1]

    def norm(source: str, scope: str) -> str:
        mean = m.node("ReduceMean", source, scope=scope, shape="1×128×1", brief="axis −1")
        d = m.node("Sub", source, mean, scope=scope, shape=shape)
        v = m.node(
            "ReduceMean",
            m.node("Pow", d, scope=scope, shape=shape, brief="2"),
            scope=scope,
            shape="1×128×1",
            brief="axis −1",
        )
        e = m.node("Add", v, scope=scope, shape="1×128×1", brief="+ 1e-5")
        q = m.node("Sqrt", e, scope=scope, shape="1×128×1")
        z = m.node(
            "Mul",
            m.node("Div", d, q, scope=scope, shape=shape),
            scope=scope,
            shape=shape,
            rows=[f"B {hidden}"],
        )
        out = m.node("Add", z, scope=scope, shape=shape, rows=[f"B {hidden}"])
        last = int(out[1:])
        norms.append([f"n{i}" for i in range(last - 8, last + 1)])
        return out

    def heads(source: str, scope: str) -> str:
        return m.node(
            "Transpose",
            m.node("Reshape", source, scope=scope, shape="1×128×12×64"),
            scope=scope,
            shape="1×12×128×64",
            brief="0,2,1,3",
        )

    x = norm(
        m.node("Gather", ids, scope="/embeddings", shape=shape, rows=[f"data 30522×{hidden}"]),
        "/embeddings/LayerNorm",
    )
    for i in range(layers):
        top = f"/encoder/layer.{i}"
        att = f"{top}/attention/self"
        q, k, v = (heads(linear(x, f"{att}/{p}"), att) for p in ("query", "key", "value"))
        s = m.node("MatMul", q, k, scope=att, shape="1×12×128×128")
        s = m.node(
            "Add",
            m.node("Div", s, scope=att, shape="1×12×128×128", brief="÷ 8"),
            bias,
            scope=att,
            shape="1×12×128×128",
        )
        p = m.node("Softmax", s, scope=att, shape="1×12×128×128", brief="axis −1")
        o = m.node(
            "Reshape",
            m.node("Transpose", m.node("MatMul", p, v, scope=att), scope=att, brief="0,2,1,3"),
            scope=att,
            shape=shape,
        )
        o = m.node(
            "Add",
            linear(o, f"{top}/attention/output/dense"),
            x,
            scope=f"{top}/attention/output",
            shape=shape,
        )
        x = norm(o, f"{top}/attention/output/LayerNorm")
        h = linear(x, f"{top}/intermediate/dense", 4 * hidden)
        act = f"{top}/intermediate/act"
        erf = m.node("Erf", m.node("Div", h, scope=act, brief="÷ 1.41"), scope=act)
        half = m.node(
            "Mul",
            m.node("Mul", h, m.node("Add", erf, scope=act, brief="+ 1"), scope=act),
            scope=act,
            brief="× 0.5",
        )
        last = int(half[1:])
        gelus.append([f"n{j}" for j in range(last - 4, last + 1)])
        x = norm(
            m.node(
                "Add", linear(half, f"{top}/output/dense"), x, scope=f"{top}/output", shape=shape
            ),
            f"{top}/output/LayerNorm",
        )
    m.output("last_hidden_state", x, shape)
    for nodes in linears:
        m.rewrite("fuse-matmul-add", "MatMulAdd", nodes, "Gemm", rows=["B 768×768", "C 768"])
    for nodes in norms:
        m.rewrite(
            "fuse-layer-norm",
            "LayerNorm",
            nodes,
            "LayerNormalization",
            brief="axis −1",
            rows=["scale 768", "B 768"],
        )
    for nodes in gelus:
        m.rewrite("fuse-gelu", "GeluErf", nodes, "Gelu")
    return m.graph(), m.trace()


def hostile() -> tuple[Json, Json]:
    """Names that try to become markup, or break tables keyed by name."""
    m = Maker("hostile")
    evil = '<img src=x onerror="document.title=1">'
    x = m.input(evil, evil)
    for op in ("__proto__", "constructor", evil, "Relu"):
        x = m.node(
            op,
            x,
            scope=f"/{evil}/__proto__",
            name=evil,
            brief=evil,
            attrs=[[evil, evil]],
            rows=[evil],
        )
    m.output(evil, x, evil)
    m.drop("eliminate-identity", evil, "n3")
    m.steps[0]["why"] = evil
    return m.graph(), m.trace()
