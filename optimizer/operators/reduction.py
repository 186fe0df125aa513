"""Operators that shrink axes: reductions, arg-reductions, TopK."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.model.dimension import Dimension
from optimizer.operators.call import Call, Dim, Shape, Typed, axis_in, types

INT64 = ir.DataType.INT64


@types(
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
)  # fmt: skip
def reduce(call: Call) -> list[Typed]:
    """The given axes become 1 or vanish; no axes means all, or none with noop_with_empty_axes."""
    shape = call.shape(0)
    return [(call.dtype(0), None if shape is None else _reduced(call, shape))]


def _reduced(call: Call, shape: tuple[Dimension, ...]) -> Shape | None:
    keep = bool(call.number("keepdims", 1))
    axes = call.axes("axes", 1, len(shape))
    if axes is None:
        return (None,) * len(shape) if keep else None
    if not axes:
        if call.number("noop_with_empty_axes", 0):
            return shape
        axes = tuple(range(len(shape)))
    return reduced(shape, axes, keep=keep)


def reduced(shape: Shape, axes: tuple[int, ...], *, keep: bool) -> Shape:
    """The shape after reducing `axes`."""
    if keep:
        return tuple(1 if axis in axes else dim for axis, dim in enumerate(shape))
    return tuple(dim for axis, dim in enumerate(shape) if axis not in axes)


@types("ArgMax", "ArgMin")
def arg_reduce(call: Call) -> list[Typed]:
    """The position of the extreme along one axis."""
    shape = call.shape(0)
    if shape is None:
        return [(INT64, None)]
    axis = axis_in(call.number("axis", 0), len(shape))
    return [(INT64, reduced(shape, (axis,), keep=bool(call.number("keepdims", 1))))]


@types("TopK")
def top_k(call: Call) -> list[Typed]:
    """Values and positions, `k` along the axis; `k` is an input since operator set 10."""
    shape = call.shape(0)
    if shape is None:
        return [(call.dtype(0), None), (INT64, None)]
    axis = axis_in(call.number("axis", -1), len(shape))
    found: Dim = None
    if call.opset < 10:
        found = call.number("k", 0)
    elif (elements := call.elements(1)) is not None and len(elements) == 1:
        found = elements[0]
    result: Shape = (*shape[:axis], found, *shape[axis + 1 :])
    return [(call.dtype(0), result), (INT64, result)]


@types("NonMaxSuppression")
def non_max_suppression(call: Call) -> list[Typed]:
    """int64[selected, 3]."""
    return [(INT64, (None, 3))]


@types("NonZero")
def non_zero(call: Call) -> list[Typed]:
    """int64[rank, found]."""
    shape = call.shape(0)
    return [(INT64, (len(shape) if shape else None, None))]


@types("Compress")
def compress(call: Call) -> list[Typed]:
    """The kept slices along the axis, or a vector without one."""
    shape = call.shape(0)
    if "axis" not in call.node.attributes:
        return [(call.dtype(0), (None,))]
    if shape is None:
        return [(call.dtype(0), None)]
    axis = axis_in(call.number("axis", 0), len(shape))
    return [(call.dtype(0), (*shape[:axis], None, *shape[axis + 1 :]))]


@types("Det")
def determinant(call: Call) -> list[Typed]:
    """One number a matrix."""
    shape = call.shape(0)
    return [(call.dtype(0), None if shape is None else shape[:-2])]
