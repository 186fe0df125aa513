"""Networks whose memory depends on plan and order: U-Net, cells of branches, small encoders.

The same on every machine, weights included. The cells are written breadth first, as a tool does
that walks a graph level by level: all first layers of all branches, then all second ones. What
ONNX Runtime makes of that order by default is better, but computes the wide branch too early.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx_ir as ir

from benchmarks.builder import Builder

OPSET, IR_VERSION = 17, 8
CELLS, BRANCHES, CHANNELS, SIDE = 5, 6, 24, 56
LAYERS, WIDTH, HEADS, TOKENS = 4, 256, 4, 128
LEVELS, FILTERS, PICTURE = 4, 16, 128


def unet() -> ir.Model:
    """Four levels down and up again; what each level keeps is joined on the way up."""
    graph = _graph("unet", ("image", (1, 3, PICTURE, PICTURE)))
    b, x, kept, inputs = Builder(graph), graph.inputs[0], list[ir.Value](), 3
    for level in range(LEVELS):
        filters = FILTERS << level
        b.scope = f"/down{level}"
        x = _twice(b, x, inputs=inputs, outputs=filters)
        kept.append(x)
        x = b.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        inputs = filters
    b.scope = "/middle"
    x = _twice(b, x, inputs=inputs, outputs=2 * inputs)
    for level in reversed(range(LEVELS)):
        filters = FILTERS << level
        b.scope = f"/up{level}"
        weight = b.drawn("grow.weight", 2 * filters, filters, 2, 2, std=0.1)
        x = b.op("ConvTranspose", x, weight, kernel_shape=[2, 2], strides=[2, 2])
        x = b.op("Concat", kept[level], x, axis=1)
        x = _twice(b, x, inputs=2 * filters, outputs=filters)
    b.scope = "/head"
    return _model(graph, _conv(b, x, "conv", inputs=FILTERS, outputs=1, kernel=1))


def cells() -> ir.Model:
    """Cells whose branches widen threefold and come back, added up beside a wide one."""
    graph = _graph("cells", ("image", (1, 3, SIDE, SIDE)))
    b = Builder(graph)
    b.scope = "/stem"
    x = b.op("Relu", _conv(b, graph.inputs[0], "conv", inputs=3, outputs=CHANNELS, kernel=3))
    for cell in range(CELLS):
        b.scope = f"/cell{cell}"
        wide = [
            _conv(b, x, f"widen{branch}", inputs=CHANNELS, outputs=3 * CHANNELS, kernel=1)
            for branch in range(BRANCHES)
        ]
        wide = [b.op("Relu", value) for value in wide]
        narrow = [
            _conv(b, value, f"narrow{branch}", inputs=3 * CHANNELS, outputs=CHANNELS, kernel=1)
            for branch, value in enumerate(wide)
        ]
        total = narrow[0]
        for value in narrow[1:]:
            total = b.op("Add", total, value)
        beside = _conv(b, x, "beside", inputs=CHANNELS, outputs=3 * CHANNELS, kernel=1)
        joined = b.op("Concat", total, beside, axis=1)
        x = _conv(b, joined, "join", inputs=4 * CHANNELS, outputs=CHANNELS, kernel=1)
    b.scope = "/head"
    pooled = b.op("Flatten", b.op("GlobalAveragePool", x))
    return _model(graph, b.op("MatMul", pooled, b.drawn("weight", CHANNELS, 10)))


def encoder(batch: int | str = 1, tokens: int | str = TOKENS) -> ir.Model:
    """Four layers of attention and Gelu as an exporter writes them; free sizes have a name."""
    graph = _graph("encoder", ("embedded", (batch, tokens, WIDTH)))
    b, x = Builder(graph), graph.inputs[0]
    for layer in range(LAYERS):
        b.scope = f"/layer{layer}"
        x = _norm(b, b.op("Add", x, _attention(b, x)), "norm1")
        hidden = _gelu(b, _linear(b, x, "up", inputs=WIDTH, outputs=4 * WIDTH))
        x = b.op("Add", x, _linear(b, hidden, "down", inputs=4 * WIDTH, outputs=WIDTH))
        x = _norm(b, x, "norm2")
    b.scope = "/head"
    return _model(graph, _linear(b, x, "linear", inputs=WIDTH, outputs=8))


NETWORKS: Mapping[str, Callable[[], ir.Model]] = {
    "unet": unet,
    "nas_bfs": cells,
    "bert4_static": encoder,
    "bert4_dyn": lambda: encoder("batch", "seq"),
}
"""By the names that the results use."""


def _graph(name: str, *inputs: tuple[str, tuple[int | str, ...]]) -> ir.Graph:
    values = [
        ir.Value(name=title, shape=ir.Shape(dims), type=ir.TensorType(ir.DataType.FLOAT))
        for title, dims in inputs
    ]
    return ir.Graph(values, [], nodes=[], name=name, opset_imports={"": OPSET})


def _model(graph: ir.Graph, output: ir.Value) -> ir.Model:
    output.name, output.type = "output", ir.TensorType(ir.DataType.FLOAT)
    graph.outputs.append(output)
    return ir.Model(graph, ir_version=IR_VERSION, producer_name="passlens")


def _twice(b: Builder, x: ir.Value, *, inputs: int, outputs: int) -> ir.Value:
    x = b.op("Relu", _conv(b, x, "conv0", inputs=inputs, outputs=outputs, kernel=3))
    return b.op("Relu", _conv(b, x, "conv1", inputs=outputs, outputs=outputs, kernel=3))


def _conv(
    b: Builder, x: ir.Value, name: str, *, inputs: int, outputs: int, kernel: int
) -> ir.Value:
    std = (inputs * kernel * kernel) ** -0.5
    weight = b.drawn(f"{name}.weight", outputs, inputs, kernel, kernel, std=std)
    bias = b.drawn(f"{name}.bias", outputs, std=0.05)
    return b.op("Conv", x, weight, bias, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)


def _linear(b: Builder, x: ir.Value, name: str, *, inputs: int, outputs: int) -> ir.Value:
    product = b.op("MatMul", x, b.drawn(f"{name}.weight", inputs, outputs, std=inputs**-0.5))
    return b.op("Add", product, b.drawn(f"{name}.bias", outputs, std=0.05))


def _norm(b: Builder, x: ir.Value, name: str) -> ir.Value:
    scale = b.drawn(f"{name}.weight", WIDTH, mean=1.0, std=0.05)
    return b.op("LayerNormalization", x, scale, b.drawn(f"{name}.bias", WIDTH, std=0.05))


def _attention(b: Builder, x: ir.Value) -> ir.Value:
    split = b.weight("split", np.array([0, 0, HEADS, WIDTH // HEADS]))
    join = b.weight("join", np.array([0, 0, WIDTH]))
    heads: list[ir.Value] = []
    for name, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        projected = _linear(b, x, name, inputs=WIDTH, outputs=WIDTH)
        heads.append(b.op("Transpose", b.op("Reshape", projected, split), perm=perm))
    scale = b.weight("scale", np.array((WIDTH // HEADS) ** -0.5, np.float32))
    scores = b.op("Mul", b.op("MatMul", heads[0], heads[1]), scale)
    seen = b.op("MatMul", b.op("Softmax", scores, axis=-1), heads[2])
    joined = b.op("Reshape", b.op("Transpose", seen, perm=[0, 2, 1, 3]), join)
    return _linear(b, joined, "output", inputs=WIDTH, outputs=WIDTH)


def _gelu(b: Builder, x: ir.Value) -> ir.Value:
    root, one, half = (
        b.weight(f"gelu.{name}", np.array(value, np.float32))
        for name, value in (("root", 2**0.5), ("one", 1.0), ("half", 0.5))
    )
    share = b.op("Add", b.op("Erf", b.op("Div", x, root)), one)
    return b.op("Mul", b.op("Mul", x, share), half)
