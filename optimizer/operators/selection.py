"""Operators that pick elements by position, or put them there."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.operators import contents, flops, kernels
from optimizer.operators.broadcasting import like_first
from optimizer.operators.call import CONTRIB, Call, Contradiction, Dim, Typed, axis_in
from optimizer.operators.loops import picking
from optimizer.operators.operands import indexed_axis, indexed_lead
from optimizer.operators.operator import Operator, OperatorClass
from optimizer.operators.reference import reference

INT64 = ir.DataType.INT64


def gather(call: Call) -> list[Typed]:
    """The indexed axis is replaced by the shape of the indices."""
    data, indices = call.shape(0), call.shape(1)
    if data is None or indices is None:
        return [(call.dtype(0), None)]
    axis = axis_in(call.number("axis", 0), len(data))
    return [(call.dtype(0), (*data[:axis], *indices, *data[axis + 1 :]))]


def gather_elements(call: Call) -> list[Typed]:
    """One element for each index."""
    return [(call.dtype(0), call.shape(1))]


def gather_nd(call: Call) -> list[Typed]:
    """The last axis of the indices addresses that many leading axes of the data."""
    data, indices = call.shape(0), call.shape(1)
    depth = indices[-1] if indices else None
    if data is None or indices is None or not isinstance(depth, int):
        return [(call.dtype(0), None)]
    batch = call.number("batch_dims", 0)
    if batch + depth > len(data):
        raise Contradiction(f"indices of depth {depth} into rank {len(data)}")
    return [(call.dtype(0), (*indices[:-1], *data[batch + depth :]))]


def compress(call: Call) -> list[Typed]:
    """The kept slices along the axis, or a vector without one."""
    shape = call.shape(0)
    if "axis" not in call.node.attributes:
        return [(call.dtype(0), (None,))]
    if shape is None:
        return [(call.dtype(0), None)]
    axis = axis_in(call.number("axis", 0), len(shape))
    return [(call.dtype(0), (*shape[:axis], None, *shape[axis + 1 :]))]


def non_zero(call: Call) -> list[Typed]:
    """int64[rank, found]."""
    shape = call.shape(0)
    return [(INT64, (len(shape) if shape else None, None))]


def non_max_suppression(call: Call) -> list[Typed]:
    """int64[selected, 3]."""
    return [(INT64, (None, 3))]


def one_hot(call: Call) -> list[Typed]:
    """`depth` classes at a new axis."""
    indices, depth = call.shape(0), call.elements(1)
    if indices is None:
        return [(call.dtype(2), None)]
    axis = axis_in(call.number("axis", -1), len(indices) + 1)
    found = depth[0] if depth else classes(call)
    return [(call.dtype(2), (*indices[:axis], found, *indices[axis:]))]


def classes(call: Call) -> Dim:
    """`depth` of a OneHot, where it is a constant."""
    depth = call.constant(1)
    return None if depth is None else int(depth.reshape(-1)[0])


_GATHER = Operator(
    category="shape", flops=flops.moving, kind=OperatorClass.GATHER, layout="follows",
    precision="safe",
)  # fmt: skip
_PICKING = _GATHER.named("", picks=True, carries=True)
_SCATTER = _GATHER.named("", types=like_first)

OPERATORS = (
    _PICKING.named(
        "Gather", types=gather, **contents.moved(kernels.gather), any_type=True,
        loops=picking.gathered,
        indexes={1: indexed_axis(0)}, integer="keeps",
    ),
    _PICKING.named(
        "GatherElements", types=gather_elements, kernel=reference, indexes={1: indexed_axis(0)}
    ),
    _PICKING.named(
        "GatherND", types=gather_nd, kernel=kernels.gather_nd, indexes={1: indexed_lead}
    ),
    _GATHER.named("Compress", types=compress, kernel=reference, decided_by=(1,)),
    _GATHER.named(
        "NonZero", types=non_zero, kernel=reference, precision="range-critical", decided_by=(0,)
    ),
    _GATHER.named(
        "OneHot", types=one_hot, kernel=reference, indexes={0: classes}, decided_by=(1,)
    ),
    _SCATTER.named("ScatterElements", kernel=reference, indexes={1: indexed_axis(0)}),
    _SCATTER.named("ScatterND", kernel=kernels.scatter_nd, indexes={1: indexed_lead}),
    _SCATTER.named("Scatter", indexes={1: indexed_axis(0)}),
    _SCATTER.named("ReverseSequence"),
    _SCATTER.named("TensorScatter", category="unknown"),
    Operator("NonMaxSuppression", non_max_suppression, decided_by=(0, 1)),
    Operator(
        "ArrayFeatureExtractor", domain="ai.onnx.ml", indexes={1: indexed_axis(0, default=-1)}
    ),
    Operator(
        "GatherBlockQuantized", domain=CONTRIB, category="quant",
        indexes={1: indexed_axis(0, name="gather_axis")},
    ),
)  # fmt: skip
