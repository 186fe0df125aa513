"""Encoders of any size: `python -m benchmarks.transformer NODES OUT.onnx`.

Blocks as the TorchScript exporter writes them, shape arithmetic and all, every value with its
shape. Small widths: what is measured is how tools cope with the number of nodes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import onnx_ir as ir

from benchmarks.builder import Builder

OPSET, IR_VERSION = 14, 8
WIDTH, HEADS = 8, 2
EACH = WIDTH // HEADS
HIDDEN = ("batch", "seq", WIDTH)
SPLIT = ("batch", "seq", HEADS, EACH)
SCORES = ("batch", HEADS, "seq", "seq")
Dims = tuple[int | str, ...]


class Shaped:
    """A builder that also writes down the shape of every value."""

    def __init__(self, graph: ir.Graph) -> None:
        self.builder = Builder(graph)
        self.ints = self.builder.ints
        self.floats = self.builder.floats

    def at(self, scope: str) -> None:
        """Continue in this scope."""
        self.builder.scope = scope

    def op(
        self, op_type: str, dims: Dims, *inputs: ir.Value, **attributes: int | list[int]
    ) -> ir.Value:
        """Append a float32 operator whose output has the shape `dims`."""
        value = self.builder.op(op_type, *inputs, **attributes)
        value.dtype, value.shape = ir.DataType.FLOAT, ir.Shape(dims)
        return value

    def sizes(
        self, op_type: str, dims: Dims, *inputs: ir.Value, **attributes: int | list[int]
    ) -> ir.Value:
        """Append an int64 operator whose output has the shape `dims`."""
        value = self.op(op_type, dims, *inputs, **attributes)
        value.dtype = ir.DataType.INT64
        return value

    def linear(self, x: ir.Value, name: str, *, inputs: int, outputs: int) -> ir.Value:
        """A matrix product and its bias."""
        dims = ("batch", "seq", outputs)
        weight = self.builder.drawn(f"{name}.weight", inputs, outputs, std=inputs**-0.5)
        x = self.op("MatMul", dims, x, weight)
        return self.op("Add", dims, self.builder.drawn(f"{name}.bias", outputs, std=0.05), x)

    def norm(self, x: ir.Value, name: str) -> ir.Value:
        """Layer normalization written out."""
        narrow = ("batch", "seq", 1)
        mean = self.op("ReduceMean", narrow, x, axes=[-1], keepdims=1)
        centred = self.op("Sub", HIDDEN, x, mean)
        square = self.op("Pow", HIDDEN, centred, self.floats(2.0))
        variance = self.op("ReduceMean", narrow, square, axes=[-1], keepdims=1)
        spread = self.op("Sqrt", narrow, self.op("Add", narrow, variance, self.floats(1e-5)))
        x = self.op("Div", HIDDEN, centred, spread)
        x = self.op("Mul", HIDDEN, x, self.builder.drawn(f"{name}.weight", WIDTH, mean=1.0))
        return self.op("Add", HIDDEN, x, self.builder.drawn(f"{name}.bias", WIDTH, std=0.05))

    def split(self, x: ir.Value) -> ir.Value:
        """[batch, seq, WIDTH] -> [batch, seq, HEADS, EACH] through the sizes of `x`."""
        parts: list[ir.Value] = []
        for axis in (0, 1):
            shape = self.sizes("Shape", (3,), x)
            size = self.sizes("Gather", (), shape, self.ints(axis), axis=0)
            parts.append(self.sizes("Unsqueeze", (1,), size, self.ints(0, shape=(1,))))
        parts += [self.ints(HEADS, shape=(1,)), self.ints(EACH, shape=(1,))]
        return self.op("Reshape", SPLIT, x, self.sizes("Concat", (4,), *parts, axis=0))


def _attention(b: Shaped, x: ir.Value) -> ir.Value:
    query, key, value = (
        b.split(b.linear(x, name, inputs=WIDTH, outputs=WIDTH)) for name in ("q", "k", "v")
    )
    heads = ("batch", HEADS, "seq", EACH)
    query = b.op("Transpose", heads, query, perm=[0, 2, 1, 3])
    value = b.op("Transpose", heads, value, perm=[0, 2, 1, 3])
    key = b.op("Transpose", ("batch", HEADS, EACH, "seq"), key, perm=[0, 2, 3, 1])
    scores = b.op("Div", SCORES, b.op("MatMul", SCORES, query, key), b.floats(EACH**0.5))
    mixed = b.op("MatMul", heads, b.op("Softmax", SCORES, scores, axis=-1), value)
    mixed = b.op("Transpose", SPLIT, mixed, perm=[0, 2, 1, 3])
    mixed = b.op("Reshape", HIDDEN, mixed, b.ints(0, 0, WIDTH))
    return b.linear(mixed, "out", inputs=WIDTH, outputs=WIDTH)


def _feed_forward(b: Shaped, x: ir.Value) -> ir.Value:
    wide = ("batch", "seq", 2 * WIDTH)
    h = b.linear(x, "fc1", inputs=WIDTH, outputs=2 * WIDTH)
    erf = b.op("Erf", wide, b.op("Div", wide, h, b.floats(2**0.5)))
    h = b.op("Mul", wide, h, b.op("Add", wide, erf, b.floats(1.0)))
    return b.linear(b.op("Mul", wide, h, b.floats(0.5)), "fc2", inputs=2 * WIDTH, outputs=WIDTH)


def build(nodes: int) -> ir.Model:
    """An encoder of about `nodes` nodes, Constant nodes counted."""
    hidden = ir.Value(
        name="hidden_states", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape(HIDDEN)
    )
    graph = ir.Graph([hidden], [], nodes=[], opset_imports={"": OPSET}, name=f"encoder_{nodes}")
    b, x, layer = Shaped(graph), hidden, 0
    while len(graph) < nodes - 40:
        b.at(f"/model/layers.{layer}/attention")
        x = b.op("Add", HIDDEN, x, _attention(b, b.norm(x, "norm")))
        b.at(f"/model/layers.{layer}/mlp")
        x = b.op("Add", HIDDEN, x, _feed_forward(b, b.norm(x, "norm")))
        x = b.op("Mul", HIDDEN, x, b.floats(0.8))  # keeps deep stacks bounded
        layer += 1
    x.name = "last_hidden_state"
    graph.outputs.append(x)
    return ir.Model(graph, ir_version=IR_VERSION, producer_name="passlens", producer_version="1")


if __name__ == "__main__":
    ir.save(build(int(sys.argv[1])), Path(sys.argv[2]))
