"""The tour: a small network in which every pass has something to do.

Six scopes in the order in which a newcomer meets the passes. Each also holds near misses, which
look like a match and are not, so that the studio can show why a rewrite was declined. Nothing of
it is trained; the weights are drawn so that every output depends on the inputs.

`python -m benchmarks.tour OUT.onnx` writes it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx_ir as ir

from benchmarks.builder import Builder

OPSET = 17
IR_VERSION = 8
WIDTH, HEADS, CHANNELS, CLASSES = 16, 4, 8, 10
END = 2**63 - 1  # Slice: up to the end


def _input(name: str, dtype: ir.DataType, *shape: int | str) -> ir.Value:
    return ir.Value(name=name, type=ir.TensorType(dtype), shape=ir.Shape(shape))


def _output(graph: ir.Graph, value: ir.Value, name: str, *shape: int | str) -> None:
    value.name, value.dtype, value.shape = name, ir.DataType.FLOAT, ir.Shape(shape)
    graph.outputs.append(value)


def build() -> ir.Model:
    """The tour as a model; the same bytes every time."""
    tokens = _input("tokens", ir.DataType.FLOAT, "batch", "seq", WIDTH)
    mask = _input("mask", ir.DataType.FLOAT, "batch", "seq")
    image = _input("image", ir.DataType.FLOAT, "batch", 3, 16, 16)
    graph = ir.Graph(
        [tokens, mask, image], [], nodes=[], opset_imports={"": OPSET}, name="passlens_tour"
    )
    b = Builder(graph)
    x = clean_up(b, tokens)
    x = algebra(b, x)
    x = feed_forward(b, attention(b, x, mask))
    x = dataflow(b, x)
    pixels, residual = convolutions(b, image)
    logits = head(b, x, pixels)
    _output(graph, logits, "logits", "batch", CLASSES)
    _output(graph, x, "features", "batch", "seq", WIDTH)
    _output(graph, residual, "residual", "batch", CHANNELS, 18, 18)
    return ir.Model(graph, ir_version=IR_VERSION, producer_name="passlens", producer_version="1")


def clean_up(b: Builder, x: ir.Value) -> ir.Value:
    """Operators that do nothing: each passes its input on."""
    b.scope = "/1-clean-up"
    x = b.op("Identity", x)
    x = b.op("Dropout", x, b.floats(0.1))
    x = b.op("Cast", x, to=ir.DataType.FLOAT)
    x = b.op("Reshape", x, b.ints(0, 0, WIDTH))
    x = b.op("Transpose", x, perm=[0, 1, 2])
    one = (1,)
    last = b.ints(2, shape=one)
    x = b.op("Slice", x, b.ints(0, shape=one), b.ints(END, shape=one), last)
    x = b.op("Pad", x, b.ints(0, 0, 0, 0, 0, 0))
    x = b.op("Expand", x, b.ints(1, 1, WIDTH))
    x = b.op("Split", b.op("Concat", x, axis=2), axis=2)
    zero, axis = b.ints(0, shape=one), b.ints(2, shape=one)
    nothing = b.op("Slice", x, zero, zero, axis)  # [batch, seq, 0]
    x = b.op("Concat", x, nothing, axis=2)
    # Near miss: casting to integers and back is not a no-op.
    rounded = b.op("Cast", b.op("Cast", x, to=ir.DataType.INT32), to=ir.DataType.FLOAT)
    return b.op("Add", x, rounded)


def algebra(b: Builder, x: ir.Value) -> ir.Value:
    """Neutral elements, double negation, constants that can be brought together."""
    b.scope = "/2-algebra"
    x = b.op("Add", x, b.floats(0.0))
    x = b.op("Mul", x, b.floats(1.0))
    x = b.op("Div", x, b.floats(1.0))
    x = b.op("Sub", x, b.floats(0.0))
    x = b.op("Neg", b.op("Neg", x))
    x = b.op("Add", b.op("Add", x, b.drawn("shift", WIDTH)), b.floats(0.5))
    x = b.op("Mul", b.op("Mul", x, b.drawn("scale", WIDTH, mean=1.0)), b.floats(0.25))
    # Computed from constants alone: folded into one divisor.
    variance = b.drawn("variance", WIDTH, mean=2.0)
    x = b.op("Div", x, b.op("Sqrt", b.op("Add", variance, b.floats(1e-5))))
    # Near miss: adding zeros that widen the tensor is more than adding zero.
    mean = b.op("ReduceMean", x, axes=[1], keepdims=1)
    wide = b.op("Add", mean, b.weight("zeros", np.zeros((3, WIDTH), np.float32)))
    return b.op("Add", x, b.op("ReduceSum", wide, b.ints(1, shape=(1,))))


def _computed_split(b: Builder, x: ir.Value) -> ir.Value:
    """[batch, seq, WIDTH] -> [batch, seq, HEADS, WIDTH / HEADS], as exporters spell it."""
    one, shape = (1,), b.op("Shape", x)
    sizes = [b.op("Gather", shape, b.ints(i), axis=0) for i in range(3)]
    each = b.op("Div", sizes[2], b.ints(HEADS))
    parts = [b.op("Unsqueeze", size, b.ints(0, shape=one)) for size in (*sizes[:2], each)]
    target = b.op("Concat", *parts[:2], b.ints(HEADS, shape=one), parts[2], axis=0)
    return b.op("Reshape", x, target)


def _with_positions(b: Builder, x: ir.Value) -> ir.Value:
    """Adds a ramp as long as the sequence; its length is that of an input of the graph."""
    length = b.op("Gather", b.op("Shape", x), b.ints(1), axis=0)
    ramp = b.op("Range", b.ints(0), length, b.ints(1))
    ramp = b.op("Mul", b.op("Cast", ramp, to=ir.DataType.FLOAT), b.floats(0.01))
    return b.op("Add", x, b.op("Unsqueeze", ramp, b.ints(1, shape=(1,))))


def _rotated(b: Builder, x: ir.Value) -> ir.Value:
    """Adds the second half, negated, to the first and the first to the second, by a sequence."""
    half = WIDTH // HEADS // 2
    halves = b.op("SplitToSequence", x, b.ints(half, half), axis=3)
    first, second = (b.op("SequenceAt", halves, b.ints(index)) for index in (0, 1))
    return b.op("Add", x, b.op("Concat", b.op("Neg", second), first, axis=3))


def attention(b: Builder, x: ir.Value, mask: ir.Value) -> ir.Value:
    """Shape arithmetic and chains of view operators."""
    b.scope = "/3-attention"
    x = _with_positions(b, x)
    query = b.op("MatMul", x, b.drawn("query.weight", WIDTH, WIDTH))
    query = _rotated(b, b.op("Transpose", _computed_split(b, query), perm=[0, 2, 1, 3]))
    value = b.op("MatMul", x, b.drawn("value.weight", WIDTH, WIDTH))
    value = b.op("Reshape", value, b.ints(0, 0, HEADS, WIDTH // HEADS))
    value = b.op("Transpose", value, perm=[0, 2, 1, 3])
    key = b.op("Transpose", value, perm=[0, 1, 3, 2])
    scores = b.op("Div", b.op("MatMul", query, key), b.op("Sqrt", b.floats(WIDTH / HEADS)))
    bias = b.op("Unsqueeze", b.op("Unsqueeze", mask, b.ints(1, shape=(1,))), b.ints(2, shape=(1,)))
    bias = b.op("Mul", b.op("Sub", b.floats(1.0), bias), b.floats(-10000.0))
    weights = b.op("Softmax", b.op("Add", scores, bias), axis=-1)
    merged = b.op("Transpose", b.op("MatMul", weights, value), perm=[0, 2, 1, 3])
    merged = b.op("Reshape", merged, b.ints(0, 0, WIDTH))
    return b.op("Add", x, b.op("Add", merged, b.drawn("bias", WIDTH)))


def _normalized(b: Builder, x: ir.Value) -> ir.Value:
    """Layer normalization written out."""
    centred = b.op("Sub", x, b.op("ReduceMean", x, axes=[-1], keepdims=1))
    variance = b.op("ReduceMean", b.op("Mul", centred, centred), axes=[-1], keepdims=1)
    x = b.op("Div", centred, b.op("Sqrt", b.op("Add", variance, b.floats(1e-5))))
    x = b.op("Mul", x, b.drawn("norm.weight", WIDTH, mean=1.0))
    return b.op("Add", x, b.drawn("norm.bias", WIDTH))


def feed_forward(b: Builder, x: ir.Value) -> ir.Value:
    """Well-known blocks spelled out: layer normalization, GELU, products of flattened tensors."""
    b.scope = "/4-feed-forward"
    x = _with_positions(b, x)  # the length worked out again
    h = _normalized(b, x)
    h = b.op("Add", b.op("MatMul", h, b.drawn("in.weight", WIDTH, WIDTH)), b.drawn("bias", WIDTH))
    erf = b.op("Erf", b.op("Div", h, b.floats(2**0.5)))
    h = b.op("Mul", b.op("Mul", h, b.op("Add", erf, b.floats(1.0))), b.floats(0.5))
    flat = b.op("Reshape", h, b.ints(-1, WIDTH))
    flat = b.op("MatMul", flat, b.drawn("out.weight", WIDTH, WIDTH))
    h = b.op("Reshape", flat, b.op("Shape", h))
    h = b.op("Reshape", b.op("Reshape", h, b.ints(0, -1, HEADS)), b.ints(0, -1, WIDTH))
    axis = b.ints(1, shape=(1,))
    return b.op("Add", x, b.op("Squeeze", b.op("Unsqueeze", h, axis), axis))


def dataflow(b: Builder, x: ir.Value) -> ir.Value:
    """Work done twice, work nobody uses, weights stored twice."""
    b.scope = "/5-dataflow"
    left, right = b.op("Sigmoid", x), b.op("Sigmoid", x)
    gain = np.linspace(0.5, 1.5, WIDTH, dtype=np.float32)
    left = b.op("Mul", left, b.op("Squeeze", b.weight("gain", gain)))
    right = b.op("Mul", b.op("Tanh", right), b.weight("gain_copy", gain.copy()))
    b.op("MatMul", b.op("Relu", x), b.drawn("unused_branch", WIDTH, WIDTH))
    b.drawn("unused_weight", WIDTH)
    y = b.op("Add", left, right)
    # Near miss: two draws look equal and are not. Both masks keep everything: 0 <= draw < 1.
    for _ in range(2):
        keep = b.op("GreaterOrEqual", b.op("RandomUniformLike", x), b.floats(0.0))
        y = b.op("Where", keep, y, x)
    return b.op("Add", x, y)


def convolutions(b: Builder, image: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Scales and shifts behind convolutions, and transposes that cancel or compose.

    Returns:
        Pixels as [batch, 256, CHANNELS], and a residual map that keeps one fusion from happening.
    """
    b.scope = "/6-convolutions"
    x = b.op("Pad", image, b.ints(0, 0, 1, 1, 0, 0, 1, 1))
    x = b.op("Relu", _batch_norm(b, _conv(b, x, "stem", inputs=3), "stem"))
    x = b.op("Clip", x, None, b.floats(6.0))
    x = b.op("Mul", _conv(b, x, "scaled"), b.drawn("factor", CHANNELS, 1, 1, mean=1.0))
    x = b.op("Add", _conv(b, x, "shifted"), b.drawn("offset", 1, CHANNELS, 1, 1))
    x = b.op("Relu", _conv(b, x, "activated"))
    x = b.op("Resize", x, None, b.floats(1.0, 1.0, 1.0, 1.0))
    x = b.op("Transpose", b.op("Transpose", x, perm=[0, 2, 3, 1]), perm=[0, 3, 1, 2])
    # Near miss: the convolution's output is needed before its BatchNorm as well.
    shared = _conv(b, x, "shared")
    residual = b.op("Sub", b.op("Relu", _batch_norm(b, shared, "shared")), shared)
    x = b.op("Transpose", b.op("Transpose", x, perm=[0, 2, 3, 1]), perm=[0, 2, 1, 3])
    return b.op("Reshape", x, b.ints(0, -1, CHANNELS)), residual


def _conv(b: Builder, x: ir.Value, name: str, *, inputs: int = CHANNELS) -> ir.Value:
    weight = b.drawn(f"{name}.weight", CHANNELS, inputs, 3, 3, std=0.2)
    return b.op("Conv", x, weight, kernel_shape=[3, 3], pads=[1, 1, 1, 1])


def _batch_norm(b: Builder, x: ir.Value, name: str) -> ir.Value:
    scale, variance = (b.drawn(f"{name}.bn.{n}", CHANNELS, mean=1.0) for n in ("weight", "var"))
    bias, mean = (b.drawn(f"{name}.bn.{n}", CHANNELS) for n in ("bias", "mean"))
    return b.op("BatchNormalization", x, scale, bias, mean, variance, epsilon=1e-5)


def head(b: Builder, tokens: ir.Value, pixels: ir.Value) -> ir.Value:
    """Products of matrices, with a bias or transposed: two dimensions make a Gemm."""
    b.scope = "/7-head"
    means = [b.op("ReduceMean", x, axes=[1], keepdims=0) for x in (tokens, pixels)]
    x = b.op("Concat", *means, axis=1)
    alike = b.op("MatMul", x, b.op("Transpose", x, perm=[1, 0]))  # each item with each other
    x = b.op("MatMul", x, b.drawn("hidden.weight", WIDTH + CHANNELS, 32))
    x = b.op("Relu", b.op("Add", x, b.drawn("hidden.bias", 32)))
    x = b.op("MatMul", x, b.drawn("classes.weight", 32, CLASSES))
    x = b.op("Add", x, b.drawn("classes.bias", CLASSES))
    return b.op("Add", x, b.op("ReduceMean", alike, axes=[1], keepdims=1))


if __name__ == "__main__":
    ir.save(build(), Path(sys.argv[1]))
