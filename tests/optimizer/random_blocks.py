"""Larger patterns of random graphs: products, convolutions, and operators spelled out in parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.optimizer.random_graphs import FLOAT, INT, Pattern, Sketch, Wire
from tests.optimizer.random_patterns import ELEMENTWISE, ROUGH
from tests.optimizer.random_views import VIEWS


def _weights(sketch: Sketch, *shape: int) -> Wire:
    """Well-behaved numbers around 0.5, never 0."""
    count = int(np.prod(shape))
    numbers = np.linspace(0.1, 0.9, count, dtype=np.float32)
    return sketch.constant(
        (numbers * np.where(np.arange(count) % 3, 1, -1)).astype(np.float32).reshape(shape)
    )


def _positive(sketch: Sketch, *shape: int) -> Wire:
    return sketch.constant(
        np.linspace(0.5, 1.5, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    )


def _scalar(sketch: Sketch, number: float) -> Wire:
    return sketch.constant(np.array(number, np.float32))


def _matrix(wire: Wire) -> bool:
    return wire.dtype == FLOAT and wire.rank >= 2 and isinstance(wire.shape[-1], int)


def _image(wire: Wire) -> bool:
    return (
        wire.dtype == FLOAT
        and wire.rank == 4
        and all(isinstance(s, int) and s > 2 for s in wire.shape[2:])
    )


def product(sketch: Sketch) -> Wire | None:
    """MatMul with a weight, often with a bias, sometimes one after another."""
    x = sketch.some(lambda wire: _matrix(wire) and wire.shape[-1] != 0)
    if x is None or not isinstance(x.shape[-1], int):
        return None
    rows, columns = x.shape[-1], sketch.pick([2, 4])
    shape = (*x.shape[:-1], columns)
    y = sketch.node("MatMul", [x, _weights(sketch, rows, columns)], shape)
    if sketch.flip():
        operands = [y, _weights(sketch, columns)]
        y = sketch.node("Add", operands[::-1] if sketch.flip() else operands, shape)
    if sketch.flip():
        y = sketch.node("MatMul", [y, _weights(sketch, columns, 3)], (*x.shape[:-1], 3))
    return y


def gemm(sketch: Sketch) -> Wire | None:
    """Gemm, with or without the third operand, with a transposed weight or not."""
    x = sketch.some(lambda wire: _matrix(wire) and wire.rank == 2 and wire.shape[-1] != 0)
    if x is None or not isinstance(x.shape[-1], int):
        return None
    swapped = sketch.pick([0, 1])
    sizes = (3, x.shape[-1]) if swapped else (x.shape[-1], 3)
    operands = [x, _weights(sketch, *sizes)]
    if sketch.opset < 11 or sketch.flip():
        operands.append(_weights(sketch, 3))
    return sketch.node("Gemm", operands, (x.shape[0], 3), transB=swapped)


def convolution(sketch: Sketch) -> Wire | None:
    """Pad, Conv, scale and shift, activation, in all combinations."""
    x = sketch.some(_image)
    if x is None or not isinstance(x.shape[1], int):
        return None
    height, width = (int(size) for size in x.shape[2:])
    if sketch.flip():
        x = sketch.node(
            "Pad", [x, sketch.ints(0, 0, 1, 1, 0, 0, 1, 1)], (*x.shape[:2], height + 2, width + 2)
        )
        height, width = height + 2, width + 2
    operands = [x, _weights(sketch, 4, int(x.shape[1]), 3, 3)]
    if sketch.flip():
        operands.append(_weights(sketch, 4))
    y = sketch.node("Conv", operands, (x.shape[0], 4, height - 2, width - 2), kernel_shape=[3, 3])
    return _after_convolution(sketch, y)


def _after_convolution(sketch: Sketch, y: Wire) -> Wire:
    follow = sketch.pick(["BatchNormalization", "Mul", "Add", "both", "nothing"])
    if follow == "BatchNormalization":
        statistics = [_positive(sketch, 4), _weights(sketch, 4), _weights(sketch, 4)]
        y = sketch.node(follow, [y, *statistics, _positive(sketch, 4)], y.shape)
    if follow in ("Mul", "both"):
        y = sketch.node("Mul", [y, _positive(sketch, 4, 1, 1)], y.shape)
    if follow in ("Add", "both"):
        y = sketch.node("Add", [y, _weights(sketch, 1, 4, 1, 1)], y.shape)
    return sketch.node("Relu", [y], y.shape) if sketch.flip() else y


def gelu(sketch: Sketch) -> Wire | None:
    """x * 0.5 * (1 + erf(x / sqrt 2))."""
    x = sketch.some(lambda wire: wire.dtype == FLOAT)
    if x is None:
        return None
    y = sketch.node("Div", [x, _scalar(sketch, 2**0.5)], x.shape)
    y = sketch.node("Erf", [y], x.shape)
    y = sketch.node("Add", [y, _scalar(sketch, 1)], x.shape)
    y = sketch.node("Mul", [x, y], x.shape)
    return sketch.node("Mul", [y, _scalar(sketch, 0.5)], x.shape)


def swish(sketch: Sketch) -> Wire | None:
    """x * sigmoid(x)."""
    x = sketch.some(lambda wire: wire.dtype == FLOAT)
    if x is None:
        return None
    return sketch.node("Mul", [x, sketch.node("Sigmoid", [x], x.shape)], x.shape)


def normalization(sketch: Sketch) -> Wire | None:
    """LayerNormalization in its parts; without the mean it is RMSNormalization."""
    x = sketch.some(lambda wire: _matrix(wire) and wire.shape[-1] != 0)
    if x is None or not isinstance(x.shape[-1], int):
        return None
    one = (*x.shape[:-1], 1)
    centred = x
    if sketch.flip():
        mean = sketch.node("ReduceMean", [x, sketch.ints(-1)], one)
        centred = sketch.node("Sub", [x, mean], x.shape)
    square = sketch.node("Pow", [centred, _scalar(sketch, 2)], x.shape)
    variance = sketch.node("ReduceMean", [square, sketch.ints(-1)], one)
    variance = sketch.node("Add", [variance, _scalar(sketch, 1e-1)], one)
    y = sketch.node("Div", [centred, sketch.node("Sqrt", [variance], one)], x.shape)
    y = sketch.node("Mul", [y, _positive(sketch, x.shape[-1])], x.shape)
    return sketch.node("Add", [y, _weights(sketch, x.shape[-1])], x.shape) if sketch.flip() else y


def constants(sketch: Sketch) -> Wire:
    """Arithmetic on constants only."""
    a, b = _weights(sketch, 2, 3), _positive(sketch, 3)
    y = sketch.node(sketch.pick(["Add", "Mul", "Div"]), [a, b], (2, 3))
    z = sketch.node("ConstantOfShape", [sketch.ints(2, 3)], (2, 3), dtype=FLOAT)
    return sketch.node("Sub", [y, z], (2, 3))


def gather(sketch: Sketch) -> Wire | None:
    """A row of a value, of which another pattern may take the only element."""
    x = sketch.some(lambda wire: wire.rank > 1 and wire.dtype != INT)
    if x is None:
        return None
    index = sketch.constant(np.array(0, np.int64))
    return sketch.node("Gather", [x, index], (x.shape[0], *x.shape[2:]), axis=1)


_BLOCKS: Sequence[Pattern] = (
    *(product, product, gemm, convolution, convolution),
    *(gelu, swish, normalization, constants, gather),
)
SMOOTH_PATTERNS: Sequence[Pattern] = (*ELEMENTWISE, *VIEWS, *_BLOCKS)
ALL_PATTERNS: Sequence[Pattern] = (*SMOOTH_PATTERNS, *ROUGH)
