"""Operators that reduce windows."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.dimension import Dimension, exact_divide, floor_divide
from optimizer.operators import flops
from optimizer.operators.call import Call, Contradiction, Dim, Shape, Typed
from optimizer.operators.operator import Operator, OperatorClass

INT64 = ir.DataType.INT64
_Known = tuple[Dimension, ...]


def windows(call: Call, data: _Known, sizes: _Known) -> Shape:
    """How many windows of `sizes` fit along each spatial axis.

    floor((in + pads - dilation*(kernel-1) - 1) / stride) + 1, or the ceiling with `ceil_mode`;
    with SAME padding it is ceil(in / stride).
    """
    rank = len(data)
    strides = call.numbers("strides") or (1,) * rank
    dilations = call.numbers("dilations") or (1,) * rank
    pads = call.numbers("pads") or (0,) * (2 * rank)
    padding = call.text("auto_pad", "NOTSET")
    if not len(strides) == len(dilations) == len(sizes) == rank or len(pads) != 2 * rank:
        raise Contradiction("strides, dilations, pads or kernel of another rank than the data")
    if min(strides) < 1 or min(dilations) < 1:
        raise Contradiction("a stride or dilation below 1")
    if padding.startswith("SAME"):
        return tuple(-floor_divide(-dim, step) for dim, step in zip(data, strides, strict=True))
    if padding == "VALID":
        pads = (0,) * (2 * rank)
    ceiling = bool(call.number("ceil_mode", 0))
    windows: list[Dim] = []
    for axis in range(rank):
        around = pads[axis] + pads[axis + rank]
        span = data[axis] + around - (dilations[axis] * (sizes[axis] - 1) + 1)
        windows.append(_count(span, strides[axis], ceiling=ceiling))
    return tuple(windows)


def _count(span: Dimension, stride: int, *, ceiling: bool) -> Dim:
    if isinstance(span, int) and span < 0:
        raise Contradiction("a window larger than the padded data")
    if not ceiling:
        return floor_divide(span, stride) + 1
    # Whether a last partial window counts depends on the padding and on the version: leave it.
    exact = exact_divide(span, stride)
    return None if exact is None else exact + 1


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
