"""How many windows fit along an axis."""

from __future__ import annotations

from optimizer.dimension import Dimension, exact_divide, floor_divide
from optimizer.operators.call import Call, Contradiction, Dim, Shape

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
