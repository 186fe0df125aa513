"""Contract-conforming graphs and traces: tests need no model files."""

from __future__ import annotations

from viewer_maker import PASS_INDEX, Json, Maker


def cnn(blocks: int = 8, *, norm_fused: bool = True, relu_fused: bool = True) -> tuple[Json, Json]:
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
    for chain in convs if norm_fused else []:
        chain[0] = m.rewrite(
            "fuse-conv-batch-norm",
            "ConvBatchNorm",
            chain[:2],
            "Conv",
            brief="3×3",
            rows=["W 64×64×3×3", "B 64"],
        )
    for chain in convs:
        if len(chain) == 3 and relu_fused:
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
    m.declined.append(
        {
            "pass": PASS_INDEX["fuse-conv-relu"],
            "rule": "ConvRelu",
            "node": convs[2][0].split("~")[0],
            "nodes": [],
            "reason": "Conv output has a second consumer",
        }
    )
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


def folding() -> tuple[Json, Json]:
    """Two nodes become a constant of their reader; a third is bypassed, a fourth only rewired."""
    m = Maker("folding")
    x = m.input("x", "1×8")
    wide = m.node("Unsqueeze", m.node("Cast", name="cast"), shape="1×8", name="wide")
    add = m.node("Add", x, wide, shape="", name="add")
    relu = m.node("Relu", m.node("Identity", add, shape="", name="same"), shape="1×8", name="relu")
    m.output("y", relu, "1×8")
    m.fold(
        "eliminate-dead-nodes",
        "FoldConstants",
        ["n0", wide],
        n2={"rows": ["B 1×4096×4096"], "out": [["C", "sum", "float32", "1×8"]]},
    )
    m.drop("eliminate-identity", "IdentityAnywhere", "n3")
    m.steps[-1]["updated"] = {relu: {**m.records[relu], "in": [["X", "sum", "float32", "1×8"]]}}
    return m.graph(), m.trace()


def wide(blocks: int = 20) -> tuple[Json, Json]:
    """Two inputs, many entries without one beside them, and tensors that reach far down."""
    m = Maker("wide")
    m.input("first", "1×64")
    m.input("second", "1×64")
    first = m.node("Conv", "i0", name="start")
    x = m.node("Add", first, "i1", name="join")
    loose = [m.node("Cast", name=f"loose{i}") for i in range(14)]
    fused: list[list[str]] = []
    for i in range(blocks):
        scope = f"/stage.{i}"
        start = x
        for _ in range(3):
            pair = [m.node("Conv", x, scope=scope)]
            pair.append(m.node("Relu", pair[0], scope=scope))
            fused.append(pair)
            x = pair[1]
        x = m.node("Add", x, start, scope=scope)
        if i < len(loose):
            x = m.node("Mul", x, loose[i], scope=scope)
    m.output("out", m.node("Sub", x, first, name="end"), "1×64")
    for pair in fused:
        m.rewrite("fuse-conv-relu", "ConvRelu", pair, "Conv")
    copies = [[f"/stage.{i}/weight", "float32", "64×81", 20736] for i in range(3)]
    m.drop_weights("n1", copies[1:], kept=copies[0])
    m.drop_weights("n1", copies[1:2], kept=None)
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
