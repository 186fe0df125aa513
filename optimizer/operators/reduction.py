"""Operators that shrink axes: reductions, positions of extremes, the largest k."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.loops import formulas
from optimizer.operators import arithmetic, flops, kernels
from optimizer.operators.arithmetic import reducing
from optimizer.operators.broadcasting import like_first
from optimizer.operators.call import Call, Dim, Shape, Typed, axis_in
from optimizer.operators.loops import reduction as loops
from optimizer.operators.operator import Operator, OperatorClass
from optimizer.operators.reference import reference

INT64 = ir.DataType.INT64


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


def arg_reduce(call: Call) -> list[Typed]:
    """The position of the extreme along one axis."""
    shape = call.shape(0)
    if shape is None:
        return [(INT64, None)]
    axis = axis_in(call.number("axis", 0), len(shape))
    return [(INT64, reduced(shape, (axis,), keep=bool(call.number("keepdims", 1))))]


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


_REDUCTION = Operator(
    types=reduce, category="pool", kernel=reference, flops=flops.per_input(1), decided_by=(1,),
    kind=OperatorClass.REDUCTION, layout="follows", precision="accumulates",
)  # fmt: skip
_EXTREME = _REDUCTION.named("", precision="safe")
_DECIDING = _REDUCTION.named("", precision="range-critical")

OPERATORS = (
    _EXTREME.named(
        "ReduceMax",
        contents=reducing(arithmetic.maximum),
        kernel=kernels.reduction(np.max),
        loops=loops.reducing("max"),
    ),
    _REDUCTION.named(
        "ReduceMean", kernel=kernels.reduction(np.mean), loops=loops.reducing("sum", mean=True)
    ),
    _EXTREME.named(
        "ReduceMin",
        contents=reducing(arithmetic.minimum),
        kernel=kernels.reduction(np.min),
        loops=loops.reducing("min"),
    ),
    _DECIDING.named(
        "ReduceProd",
        contents=reducing(arithmetic.multiplied),
        kernel=kernels.reduction(np.prod),
        loops=loops.reducing("product"),
    ),
    _REDUCTION.named(
        "ReduceSum",
        contents=reducing(arithmetic.added),
        kernel=kernels.reduction(np.sum),
        loops=loops.reducing("sum"),
    ),
    _REDUCTION.named(
        "ReduceL1", flops=flops.per_input(2), loops=loops.reducing("sum", formulas.magnitude)
    ),
    _DECIDING.named(
        "ReduceL2",
        flops=flops.per_input(2),
        loops=loops.reducing("sum", formulas.square, formulas.root),
    ),
    _DECIDING.named(
        "ReduceSumSquare", flops=flops.per_input(2), loops=loops.reducing("sum", formulas.square)
    ),
    _DECIDING.named(
        "ReduceLogSum",
        kernel=None,
        flops=flops.per_input(2),
        loops=loops.reducing("sum", None, formulas.logarithm),
    ),
    _DECIDING.named(
        "ReduceLogSumExp", kernel=None, flops=flops.per_input(5), loops=loops.log_sum_exp
    ),
    *_DECIDING.named("", types=arg_reduce).each("ArgMax ArgMin"),
    _REDUCTION.named("CumSum", types=like_first),
    Operator("CumProd", like_first),
    _DECIDING.named("TopK", types=top_k, kernel=None, shape_inputs=(1,)),
)
