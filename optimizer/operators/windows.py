"""Operators over windows: convolutions and pooling."""

from __future__ import annotations

from functools import partial

import onnx_ir as ir

from optimizer.dimension import Dimension, exact_divide, floor_divide
from optimizer.operators import flops
from optimizer.operators.call import CONTRIB, Call, Contradiction, Dim, Shape, Typed
from optimizer.operators.operator import Operator, OperatorClass

INT32, INT64 = ir.DataType.INT32, ir.DataType.INT64
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


def conv(call: Call) -> list[Typed]:
    """X[N, C, …], W[M, C/group, …]: Y[N, M, …]."""
    return [(call.dtype(0), _convolved(call, weights=1))]


def conv_integer(call: Call) -> list[Typed]:
    """int32 sums."""
    return [(INT32, _convolved(call, weights=1))]


def quantized_conv(call: Call) -> list[Typed]:
    """X and w are inputs 0 and 3; the element type is that of y's zero point."""
    if call.number("channels_last", 0):
        return [(call.dtype(7), None)]
    return [(call.dtype(7), _convolved(call, weights=3))]


def _convolved(call: Call, *, weights: int) -> Shape | None:
    data, kernel = call.shape(0), call.shape(weights)
    if data is None or kernel is None:
        return None
    if len(data) != len(kernel) or len(data) < 3:
        raise Contradiction(
            f"a convolution of rank {len(data)} data with rank {len(kernel)} weights"
        )
    sizes = call.numbers("kernel_shape") or kernel[2:]
    return (data[0], kernel[0], *windows(call, data[2:], sizes))


def conv_transpose(call: Call) -> list[Typed]:
    """X[N, C, …], W[C, M/group, …]: Y[N, M, …], stride*(in-1) + dilated kernel - pads."""
    data, kernel = call.shape(0), call.shape(1)
    if data is None or kernel is None or len(data) != len(kernel):
        return [(call.dtype(0), None)]
    channels = kernel[1] * call.number("group", 1)
    return [(call.dtype(0), (data[0], channels, *_unpooled(call, data[2:], kernel[2:])))]


def _unpooled(call: Call, data: _Known, kernel: _Known) -> Shape:
    rank = len(data)
    if explicit := call.numbers("output_shape"):
        return explicit[-rank:]
    strides = call.numbers("strides") or (1,) * rank
    if call.text("auto_pad", "NOTSET").startswith("SAME"):
        return (None,) * rank
    sizes = call.numbers("kernel_shape") or kernel
    dilations = call.numbers("dilations") or (1,) * rank
    extra = call.numbers("output_padding") or (0,) * rank
    pads = call.numbers("pads") or (0,) * (2 * rank)
    if call.text("auto_pad", "NOTSET") == "VALID":
        pads = (0,) * (2 * rank)
    return tuple(
        (data[axis] - 1) * strides[axis]
        + extra[axis]
        + dilations[axis] * (sizes[axis] - 1)
        + 1
        - pads[axis]
        - pads[axis + rank]
        for axis in range(rank)
    )


def window_class(call: Call, *, weights: int = 1) -> OperatorClass | None:
    """W[M, C/group, kernel…]; of ConvTranspose W[C, M/group, kernel…].

    A window of one element needs no rearranged input, whatever the groups: a matrix product.
    """
    kernel = call.sizes(weights)
    if kernel is None or len(kernel) < 2:
        return None
    groups = call.number("group", 1)
    if groups > 1 and kernel[1] == 1 and groups == kernel[0]:
        return OperatorClass.DEPTHWISE_CONV
    if all(size == 1 for size in kernel[2:]):
        return OperatorClass.POINTWISE_CONV
    return OperatorClass.DENSE_CONV if groups == 1 else OperatorClass.GROUPED_CONV


_CONVOLUTION = Operator(
    types=conv, category="conv", flops=flops.conv, kind=window_class, product=True,
    layout="sensitive", precision="accumulates", axes="NC* OI* -> NC*",
)  # fmt: skip
_CONTRIB = _CONVOLUTION.named("", domain=CONTRIB)
_POOLING = Operator(
    types=pool, category="pool", flops=flops.pool, kind=OperatorClass.POOLING, layout="sensitive",
    axes="NC* -> NC*", precision="accumulates",
)  # fmt: skip
_GLOBAL = _POOLING.named("", types=global_pool, flops=flops.per_input(1))

OPERATORS = (
    _CONVOLUTION.named("Conv"),
    _CONVOLUTION.named("ConvInteger", types=conv_integer, precision=None),
    _CONVOLUTION.named(
        "ConvTranspose", types=conv_transpose, flops=flops.conv_transpose, axes="NC* IO* -> NC*",
    ),
    _CONVOLUTION.named(
        "QLinearConv", types=quantized_conv, flops=flops.quantized_conv,
        kind=partial(window_class, weights=3), axes="NC* _ _ OI* -> NC*", precision=None,
    ),
    Operator("DeformConv", category="conv", layout="sensitive", axes="NC* OI* -> NC*"),
    _CONTRIB.named("FusedConv"),
    _CONTRIB.named(
        "NhwcFusedConv", types=None, category="unknown", axes="N*C OI* -> N*C", precision=None
    ),
    Operator("NhwcConv", domain=CONTRIB, category="conv", axes="N*C OI* -> N*C"),
    _POOLING.named("AveragePool", integer="computes"),
    _POOLING.named("LpPool"),
    _POOLING.named("MaxPool", precision="safe", integer="keeps"),
    _GLOBAL.named("GlobalAveragePool", integer="computes"),
    _GLOBAL.named("GlobalLpPool"),
    _GLOBAL.named("GlobalMaxPool", precision="safe"),
    _POOLING.named("MaxRoiPool", types=None, flops=None, precision=None),
    _POOLING.named("RoiAlign", types=roi_align, flops=None, precision=None),
)  # fmt: skip
