"""Operators that reduce windows."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.operators import flops
from optimizer.operators.call import Call, Shape, Typed
from optimizer.operators.operator import Operator, OperatorClass
from optimizer.operators.windows import windows

INT64 = ir.DataType.INT64


def pool(call: Call) -> list[Typed]:
    """Windows over the spatial axes; MaxPool's second output holds int64 positions."""
    data, sizes = call.shape(0), call.numbers("kernel_shape")
    if data is None or sizes is None or len(data) != len(sizes) + 2:
        return [(call.dtype(0), None), (INT64, None)]
    shape: Shape = (*data[:2], *windows(call, data[2:], sizes))
    return [(call.dtype(0), shape), (INT64, shape)]


def global_pool(call: Call) -> list[Typed]:
    """All spatial axes become 1."""
    data = call.shape(0)
    return [(call.dtype(0), None if data is None else (*data[:2], *(1,) * (len(data) - 2)))]


def roi_align(call: Call) -> list[Typed]:
    """X[N, C, H, W], rois[R, 4]: Y[R, C, height, width]."""
    data, regions = call.shape(0), call.shape(1)
    count = None if regions is None else regions[0]
    channels = None if data is None else data[1]
    size = (call.number("output_height", 1), call.number("output_width", 1))
    return [(call.dtype(0), (count, channels, *size))]


_POOLING = Operator(
    types=pool, category="pool", flops=flops.pool, kind=OperatorClass.POOLING, layout="sensitive"
)
_GLOBAL = _POOLING.named("", types=global_pool, flops=flops.per_input(1))

OPERATORS = (
    *_POOLING.each("AveragePool LpPool MaxPool"),
    *_GLOBAL.each("GlobalAveragePool GlobalLpPool GlobalMaxPool"),
    _POOLING.named("MaxRoiPool", types=None, flops=None),
    _POOLING.named("RoiAlign", types=roi_align, flops=None),
)
