"""Matrix products, convolutions, pooling, Einsum."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.model.dimension import Dimension, exact_divide, floor_divide
from optimizer.operators.call import (
    CONTRIB,
    Call,
    Contradiction,
    Dim,
    Shape,
    Typed,
    broadcast,
    broadcast_dim,
    same,
    types,
)

FLOAT, INT32, INT64 = ir.DataType.FLOAT, ir.DataType.INT32, ir.DataType.INT64
_Known = tuple[Dimension, ...]


@types("MatMul")
def matmul(call: Call) -> list[Typed]:
    """numpy.matmul."""
    return [(call.dtype(0), matmul_shape(call.shape(0), call.shape(1)))]


@types("MatMulInteger")
def matmul_integer(call: Call) -> list[Typed]:
    """int32 sums."""
    return [(INT32, matmul_shape(call.shape(0), call.shape(1)))]


@types("QLinearMatMul")
def quantized_matmul(call: Call) -> list[Typed]:
    """A and b are inputs 0 and 3; the element type is that of y's zero point."""
    return [(call.dtype(7), matmul_shape(call.shape(0), call.shape(3)))]


@types("MatMulIntegerToFloat", "DynamicQuantizeMatMul", domain=CONTRIB)
def float_matmul(call: Call) -> list[Typed]:
    """Quantized inside, float outside."""
    return [(FLOAT, matmul_shape(call.shape(0), call.shape(1)))]


@types("FusedMatMul", domain=CONTRIB)
def fused_matmul(call: Call) -> list[Typed]:
    """MatMul with its last two axes transposed on either side."""
    left, right = call.shape(0), call.shape(1)
    if call.number("transBatchA", 0) or call.number("transBatchB", 0):
        return [(call.dtype(0), None)]
    if call.number("transA", 0) and left is not None and len(left) > 1:
        left = (*left[:-2], left[-1], left[-2])
    if call.number("transB", 0) and right is not None and len(right) > 1:
        right = (*right[:-2], right[-1], right[-2])
    return [(call.dtype(0), matmul_shape(left, right))]


@types("MatMulNBits", domain=CONTRIB)
def matmul_n_bits(call: Call) -> list[Typed]:
    """A[…, K] times a packed [N, K]."""
    shape = call.shape(0)
    return [(call.dtype(0), None if not shape else (*shape[:-1], call.number("N", 0)))]


def matmul_shape(left: _Known | None, right: _Known | None) -> Shape | None:
    """Shape of numpy.matmul(left, right)."""
    if left is None or right is None:
        return None
    if len(left) == 0 or len(right) == 0:
        raise Contradiction("a matrix product of a scalar")
    same(left[-1], right[-2:][0])
    batch = broadcast(left[:-2], right[:-2])
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else ()
    return None if batch is None else (*batch, *rows, *columns)


@types("Gemm")
@types("FusedGemm", domain=CONTRIB)
def gemm(call: Call) -> list[Typed]:
    """A[M, K] times B[K, N], either transposed on demand."""
    left, right = call.shape(0), call.shape(1)
    rows: Dim = None
    columns: Dim = None
    if left is not None and len(left) == 2:
        rows = left[1 if call.number("transA", 0) else 0]
    if right is not None and len(right) == 2:
        columns = right[0 if call.number("transB", 0) else 1]
    return [(call.dtype(0), (rows, columns))]


@types("Conv")
@types("FusedConv", domain=CONTRIB)
def conv(call: Call) -> list[Typed]:
    """X[N, C, …], W[M, C/group, …]: Y[N, M, …]."""
    return [(call.dtype(0), _convolved(call, weights=1))]


@types("ConvInteger")
def conv_integer(call: Call) -> list[Typed]:
    """int32 sums."""
    return [(INT32, _convolved(call, weights=1))]


@types("QLinearConv")
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
    return (data[0], kernel[0], *_windows(call, data[2:], sizes))


@types("AveragePool", "MaxPool", "LpPool")
def pool(call: Call) -> list[Typed]:
    """Windows over the spatial axes; MaxPool's second output holds int64 positions."""
    data, sizes = call.shape(0), call.numbers("kernel_shape")
    if data is None or sizes is None or len(data) != len(sizes) + 2:
        return [(call.dtype(0), None), (INT64, None)]
    shape: Shape = (*data[:2], *_windows(call, data[2:], sizes))
    return [(call.dtype(0), shape), (INT64, shape)]


def _windows(call: Call, data: _Known, sizes: _Known) -> Shape:
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


@types("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(call: Call) -> list[Typed]:
    """All spatial axes become 1."""
    data = call.shape(0)
    return [(call.dtype(0), None if data is None else (*data[:2], *(1,) * (len(data) - 2)))]


@types("ConvTranspose")
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


@types("Einsum")
def einsum(call: Call) -> list[Typed]:
    """One size a letter; equations with an ellipsis are not described."""
    equation = call.text("equation", "").replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    shapes = [call.shape(index) for index in range(len(call.inputs))]
    if "." in equation or len(terms) != len(shapes):
        return [(call.dtype(0), None)]
    sizes: dict[str, Dim] = {}
    for letters, shape in zip(terms, shapes, strict=True):
        if shape is None or len(shape) != len(letters):
            return [(call.dtype(0), None)]
        for letter, dim in zip(letters, shape, strict=True):
            known = letter in sizes
            sizes[letter] = broadcast_dim(sizes[letter], dim) if known else dim
    if not arrow:
        result = "".join(sorted(letter for letter in sizes if left.count(letter) == 1))
    return [(call.dtype(0), tuple(sizes.get(letter) for letter in result))]


@types("RoiAlign")
def roi_align(call: Call) -> list[Typed]:
    """X[N, C, H, W], rois[R, 4]: Y[R, C, height, width]."""
    data, regions = call.shape(0), call.shape(1)
    count = None if regions is None else regions[0]
    channels = None if data is None else data[1]
    size = (call.number("output_height", 1), call.number("output_width", 1))
    return [(call.dtype(0), (count, channels, *size))]


@types("GridSample")
def grid_sample(call: Call) -> list[Typed]:
    """X[N, C, …], grid[N, out…, axes]: Y[N, C, out…]."""
    data, grid = call.shape(0), call.shape(1)
    if data is None or grid is None or len(grid) != len(data):
        return [(call.dtype(0), None)]
    return [(call.dtype(0), (*data[:2], *grid[1:-1]))]
