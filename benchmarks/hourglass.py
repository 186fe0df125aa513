"""An hourglass: wide results that wait for a late reader, and are cheap to compute again."""

from __future__ import annotations

import onnx_ir as ir

from benchmarks.builder import Builder

DEPTH, CHANNELS, SIDE = 8, 16, 64


def hourglass() -> ir.Model:
    """Eight steps down that widen and narrow; on the way up each wide result is joined again.

    Source: after Newell et al. 2016, Stacked Hourglass Networks, without pooling.
    """
    image = ir.Value(
        name="image",
        shape=ir.Shape((1, 3, SIDE, SIDE)),
        type=ir.TensorType(ir.DataType.FLOAT),
    )
    graph = ir.Graph([image], [], nodes=[], name="hourglass", opset_imports={"": 17})
    b, kept = Builder(graph), list[ir.Value]()
    b.scope = "/stem"
    x = b.op("Relu", _conv(b, image, "conv", inputs=3, outputs=CHANNELS, kernel=3))
    for step in range(DEPTH):
        b.scope = f"/down{step}"
        wide = _conv(b, x, "widen", inputs=CHANNELS, outputs=4 * CHANNELS)
        kept.append(wide)
        x = _conv(b, wide, "narrow", inputs=4 * CHANNELS, outputs=CHANNELS)
    for step in reversed(range(DEPTH)):
        b.scope = f"/up{step}"
        joined = b.op("Concat", x, kept[step], axis=1)
        x = _conv(b, joined, "join", inputs=5 * CHANNELS, outputs=CHANNELS)
    x.name, x.type = "output", ir.TensorType(ir.DataType.FLOAT)
    graph.outputs.append(x)
    return ir.Model(graph, ir_version=8, producer_name="passlens")


def _conv(
    b: Builder, x: ir.Value, name: str, *, inputs: int, outputs: int, kernel: int = 1
) -> ir.Value:
    std = (inputs * kernel * kernel) ** -0.5
    weight = b.drawn(f"{name}.weight", outputs, inputs, kernel, kernel, std=std)
    bias = b.drawn(f"{name}.bias", outputs, std=0.05)
    return b.op("Conv", x, weight, bias, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)
