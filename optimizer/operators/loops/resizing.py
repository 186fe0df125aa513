"""Resize by linear interpolation, to a multiple of the size."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.loops.building import At, Indices, LoopTensor
from optimizer.loops.formulas import add, largest, least, mul, number, sub
from optimizer.loops.scalar import Number, Scalar, apply, cast, index
from optimizer.operators.loops.site import NodeLoops

_MODES = frozenset({"half_pixel", "pytorch_half_pixel"})


def enlarged(site: NodeLoops) -> list[LoopTensor]:
    """Elements between two neighbours, axis by axis; centres of pixels are what is spaced evenly.

    Only by powers of two: then shares of neighbours are exact, and none of them is 0.
    """
    data, shape = site.operand(0), site.shape()
    if data.dtype != ir.DataType.FLOAT or not _is_plain(site):
        raise site.decline("has loops for linear interpolation of float32 between centres alone")
    read: At = data.at
    for axis, (old, new) in enumerate(zip(data.shape, shape, strict=True)):
        if old == new:
            continue
        if not isinstance(old, int) or not isinstance(new, int):
            raise site.decline("has no loops for a size that is free")
        times = _times(site, axis, old, new)
        read = _between(read, axis, old, times)
    made = site.func(shape, read)
    # What is computed lies as the input does, and is turned by whoever reads it.
    return [made.view(shape, lambda indices: indices)]


def _is_plain(site: NodeLoops) -> bool:
    call = site.call
    return (
        call.text("mode", "nearest") == "linear"
        and call.text("coordinate_transformation_mode", "half_pixel") in _MODES
        and not call.number("antialias", 0)
        and "axes" not in call.node.attributes
    )


def _times(site: NodeLoops, axis: int, old: int, new: int) -> int:
    """How many times as large an axis becomes."""
    times = new // old if old else 0
    if times < 2 or times * old != new or times & (times - 1):
        raise site.decline("has loops for powers of two of a size alone")
    scales = site.call.constant(2)
    if scales is not None and scales.size and float(scales.reshape(-1)[axis]) != times:
        raise site.decline("has a scale that is not that of its sizes")
    return times


def _between(read: At, axis: int, size: int, times: int) -> At:
    """Elements between neighbours along one axis, by their places in the larger tensor."""

    def element(indices: Indices) -> Scalar:
        # (i + 1/2) / times - 1/2, in parts of 1 / (2 times)
        place = add(mul(indices[axis], index(2)), index(1 - times))
        whole = apply("floor_div", place, index(2 * times))
        parts = cast(apply("floor_mod", place, index(2 * times)), ir.DataType.FLOAT)
        share = mul(parts, number(0.5 / times, parts))
        low = read(_moved(indices, axis, largest(whole, index(0))))
        high = read(_moved(indices, axis, least(add(whole, index(1)), index(size - 1))))
        rest = sub(Number(1.0, ir.DataType.FLOAT), share)
        return add(mul(low, rest), mul(high, share))

    return element


def _moved(indices: Indices, axis: int, place: Scalar) -> Indices:
    return [place if number == axis else one for number, one in enumerate(indices)]
