"""Pooling as maxima, sums and means of windows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.passes.draft import NotHere, dims_of, dtype_of, numbers_of
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.passes.lowering.windows import Windows, cut, padded, windows_of
from optimizer.registry import Pass, register
from optimizer.rules import NewInitializer, Operand, Replacement


@register
class LowerPooling(Pass):
    """Write pooling as reductions.

    What it does:
        Windows that lie side by side are cut out by a Reshape and reduced; others are the maximum
        or the sum of their places, cut out by Slices, axis after axis. A global pooling is a
        reduction.
    Before:
        MaxPool
    After:
        Pad → Slice … → Max → Slice … → Max
    When it is safe:
        The places of the maxima are not asked for. Padding that is not counted, `auto_pad` and
        `ceil_mode` need sizes in the file.
    Numerics:
        A maximum is the same number; means add in another order.
    Source:
        ONNX operator specification, MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool.
    """

    id = "lower-pooling"
    exactness = "reassociates"

    profile: str = "matrix-engine"

    @lowers("MaxPool", name="MaximumOfWindows")
    def maximum(self, lowering: Lowering) -> Replacement:
        """MaxPool, without the places."""
        lowering.only_first_output()
        windows = _windows(lowering)
        if windows.apart:
            return lowering.put(_tiled(lowering, windows, "ReduceMax"), _TILES)
        value = padded(lowering, windows, _lowest(lowering))
        for axis in range(len(windows.kernel)):
            parts = cut(lowering, value, windows, [axis], first=2)
            value = parts[0] if len(parts) == 1 else lowering.new("Max", *parts)
        return lowering.put(value, "The maximum of a window is that of its rows' maxima.")

    @lowers("AveragePool", name="MeanOfWindows")
    def mean(self, lowering: Lowering) -> Replacement:
        """AveragePool: the sum of a window over the number of its places."""
        windows = _windows(lowering)
        if windows.apart:
            return lowering.put(_tiled(lowering, windows, "ReduceMean"), _TILES)
        divisor = lowering.like(_counts(lowering, windows), lowering.input(0))
        value = padded(lowering, windows)
        for axis in range(len(windows.kernel)):
            value = lowering.each("Add", cut(lowering, value, windows, [axis], first=2))
        why = "The mean of a window is the sum of its rows' sums over the number of its places."
        return lowering.put(lowering.new("Div", value, divisor), why)

    @lowers("GlobalAveragePool", "GlobalMaxPool", name="ReductionOfAll")
    def all(self, lowering: Lowering) -> Replacement:
        """A pooling over all places."""
        value = lowering.input(0)
        axes = range(2, lowering.rank(value))
        if not axes:
            raise NotHere("it has no spatial axis")
        operator = "ReduceMax" if lowering.node.op_type == "GlobalMaxPool" else "ReduceMean"
        return lowering.put(
            lowering.reduce(operator, value, axes), "One window is the whole of a channel."
        )


_TILES = "Its windows lie side by side: a Reshape cuts them out."


def _windows(lowering: Lowering) -> Windows:
    kernel = lowering.context.integers(lowering.node, "kernel_shape")
    if not kernel:
        raise NotHere("its kernel is not known")
    if lowering.text("auto_pad", "NOTSET") != "NOTSET" and lowering.of("ceil_mode"):
        raise NotHere("it has both auto_pad and ceil_mode")
    return windows_of(lowering, kernel)


def _tiled(lowering: Lowering, windows: Windows, operator: str) -> Operand:
    channels = dims_of(lowering.input(0))[1]
    if channels is None:
        raise NotHere("the number of its channels is free in the file")
    pairs = zip(windows.counts, windows.kernel, strict=True)
    cuts = [number or 1 for pair in pairs for number in pair]
    tiles = lowering.reshape(lowering.input(0), 0, 0, *cuts)
    axes = [3 + 2 * axis for axis in range(len(windows.kernel))]
    return lowering.reduce(operator, tiles, axes, keep=False)


def _lowest(lowering: Lowering) -> NewInitializer:
    """What padding is for a maximum."""
    dtype: ir.DataType = dtype_of(lowering.input(0))
    if dtype.is_floating_point():
        return lowering.number(lowering.input(0), -math.inf)
    return lowering.like(np.iinfo(dtype.numpy()).min, lowering.input(0))


def _counts(lowering: Lowering, windows: Windows) -> float | NDArray[np.float64]:
    """The number of places in each window: a number, or an array of the spatial axes."""
    places = math.prod(windows.kernel)
    counted = bool(lowering.of("count_include_pad"))
    beyond = windows.ends != windows.given_ends
    if not beyond and (counted or not windows.padded):
        return float(places)
    result: NDArray[np.float64] = np.ones(())
    for axis, size in enumerate(numbers_of(lowering.input(0))[2:]):
        around = (windows.begins[axis], windows.given_ends[axis]) if counted else (0, 0)
        result = np.multiply.outer(result, _inside(windows, axis, size, around))
    return float(result.flat[0]) if (result == result.flat[0]).all() else result


def _inside(windows: Windows, axis: int, size: int, around: Sequence[int]) -> NDArray[np.float64]:
    """How many places of each window along an axis are counted."""
    count = windows.counts[axis] or 0
    first = np.arange(count) * windows.strides[axis] - windows.begins[axis]
    places = first[:, None] + np.arange(windows.kernel[axis])[None] * windows.dilations[axis]
    inside = (places >= -around[0]) & (places < size + around[1])
    return inside.sum(axis=1).astype(np.float64)
