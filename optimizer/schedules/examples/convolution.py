"""A 3×3 convolution, channels first and channels last."""

from __future__ import annotations

from optimizer.loops.algorithm import Algorithm, Func, InputTensor, LoopAxis, Reduction
from optimizer.loops.formulas import add, largest, mul, number
from optimizer.loops.scalar import Scalar, apply
from optimizer.loops.schedule import ComputeAt, Parallel, Reorder, Split, Unroll, Vectorize
from optimizer.schedules.examples.example import FLOAT, Example, named, read, tensor

_SIZES = {"channels": 64, "filters": 64, "height": 56, "width": 56}
_SMALL = {"channels": 2, "filters": 32, "height": 4, "width": 28}


def convolution_nchw(channels: int, filters: int, height: int, width: int) -> Algorithm:
    """float32[1, C, H + 2, W + 2] and filters [F, C, 3, 3] -> float32[1, F, H, W], Relu at last."""
    data = tensor("data", 1, channels, height + 2, width + 2)
    weights = tensor("weights", filters, channels, 3, 3)
    n, o, y, x = _axes(filters, height, width)
    c, ky, kx = _window(channels)
    at = (n.var, c.var, apply("add", y.var, ky.var), apply("add", x.var, kx.var))
    body = mul(read(data, *at), read(weights, o.var, c.var, ky.var, kx.var))
    return _with_relu((data, weights), (n, o, y, x), body, (c, ky, kx), o)


def convolution_nhwc(channels: int, filters: int, height: int, width: int) -> Algorithm:
    """float32[1, H + 2, W + 2, C] and filters [3, 3, C, F] -> float32[1, H, W, F], Relu at last."""
    data = tensor("data", 1, height + 2, width + 2, channels)
    weights = tensor("weights", 3, 3, channels, filters)
    n, o, y, x = _axes(filters, height, width)
    c, ky, kx = _window(channels)
    at = (n.var, apply("add", y.var, ky.var), apply("add", x.var, kx.var), c.var)
    body = mul(read(data, *at), read(weights, ky.var, kx.var, c.var, o.var))
    return _with_relu((data, weights), (n, y, x, o), body, (ky, kx, c), o)


def _axes(filters: int, height: int, width: int) -> tuple[LoopAxis, ...]:
    sizes = {"n": 1, "o": filters, "y": height, "x": width}
    return tuple(LoopAxis(name, size) for name, size in sizes.items())


def _window(channels: int) -> tuple[LoopAxis, LoopAxis, LoopAxis]:
    return LoopAxis("c", channels), LoopAxis("ky", 3), LoopAxis("kx", 3)


def _with_relu(
    inputs: tuple[InputTensor, ...],
    axes: tuple[LoopAxis, ...],
    body: Scalar,
    window: tuple[LoopAxis, ...],
    channel: LoopAxis,
) -> Algorithm:
    bias = tensor("bias", *(axis.extent for axis in (channel,) if isinstance(axis.extent, int)))
    conv = Func("conv", FLOAT, axes, body, Reduction("sum", window))
    one = add(conv.at(axis.var for axis in axes), read(bias, channel.var))
    relu = Func("relu", FLOAT, axes, largest(one, number(0, one)))
    return Algorithm((*inputs, bias), (conv, relu), ("relu",))


CONVOLUTION_NCHW = Example(
    "conv-nchw",
    "3×3 convolution, channels first",
    "Neighbours in memory are neighbours in a row of the picture, so vectors run along x. Each "
    "vector of the input is read by nine taps, at places that seldom begin where a vector does.",
    convolution_nchw,
    sizes=_SIZES,
    small=_SMALL,
    schedules=(
        named("naive", "Seven loops, the window innermost: one product at a time."),
        named(
            "rows in vectors",
            "A row of one filter at a time, its sums in memory that stays in the first cache.",
            Parallel("relu", "o"),
            ComputeAt("conv", "relu", "y"),
            Split("conv", "x", "xo", "lane", 8),
            Vectorize("conv", "lane"),
            Reorder("conv", ("c", "ky", "kx", "x"), nest=1),
            Split("conv", "x", "xo", "lane", 8, nest=1),
            Vectorize("conv", "lane", nest=1),
        ),
        named(
            "8 filters × 28 pixels",
            "Every value of the input that is loaded serves eight filters.",
            Split("relu", "o", "oo", "oi", 8),
            Split("relu", "x", "xo", "xi", 28),
            Reorder("relu", ("n", "oo", "y", "xo", "oi", "xi")),
            Parallel("relu", "oo"),
            ComputeAt("conv", "relu", "xo"),
            Split("conv", "x", "xv", "lane", 4),
            Vectorize("conv", "lane"),
            Reorder("conv", ("c", "ky", "kx", "o", "x"), nest=1),
            Split("conv", "x", "xv", "lane", 4, nest=1),
            Vectorize("conv", "lane", nest=1),
            Unroll("conv", "xv", nest=1),
        ),
    ),
)

CONVOLUTION_NHWC = Example(
    "conv-nhwc",
    "3×3 convolution, channels last",
    "Neighbours in memory are channels, of which there are always many: vectors run along the "
    "filters and never meet the edge of the picture. One value of the input is spread over lanes.",
    convolution_nhwc,
    sizes=_SIZES,
    small=_SMALL,
    schedules=(
        named("naive", "Seven loops, the window innermost: one product at a time."),
        named(
            "32 filters × 7 pixels",
            "Fourteen vectors of sums stay in registers while the window runs.",
            Split("relu", "x", "xo", "xi", 7),
            Split("relu", "o", "oo", "oi", 32),
            Reorder("relu", ("n", "y", "xo", "oo", "xi", "oi")),
            Parallel("relu", "y"),
            ComputeAt("conv", "relu", "oo"),
            Split("conv", "o", "ov", "lane", 16),
            Vectorize("conv", "lane"),
            Reorder("conv", ("ky", "kx", "c", "x", "o"), nest=1),
            Split("conv", "o", "ov", "lane", 16, nest=1),
            Vectorize("conv", "lane", nest=1),
            Unroll("conv", "ov", nest=1),
            Unroll("conv", "x", nest=1),
        ),
    ),
)
