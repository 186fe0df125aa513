"""Resize as products with constant matrices, axis by axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optimizer.passes.draft import NotHere, dims_of
from optimizer.passes.lowering.lowering import Lowering, along_axis, lowers
from optimizer.registry import Pass, register
from optimizer.rules import Operand, Replacement

Floats = NDArray[np.float64]


@register
class LowerResize(Pass):
    """Write Resize as MatMul and Gather.

    What it does:
        Each axis that changes its size is resized on its own: to the nearest places by a Gather,
        between places by a MatMul with the constant matrix of their weights.
    Before:
        Resize
    After:
        MatMul → MatMul
    When it is safe:
        The sizes that change are known, before and after; what is cropped lies inside, and nothing
        is smoothed before it shrinks. A batch that is free in the file is not empty when it runs,
        where places lie between others: ONNX Runtime's MatMul takes no empty batch beside a matrix.
    Numerics:
        The nearest is the same number; between places the same weights are added in another order.
    Source:
        ONNX operator specification, Resize; Keys 1981, Cubic convolution interpolation.
    """

    id = "lower-resize"
    exactness = "reassociates"

    profile: str = "matrix-engine"

    @lowers("Resize", "Upsample", name="ResizeOfKnownSizes")
    def match(self, lowering: Lowering) -> Replacement:
        """One axis after the other, those that shrink first."""
        x = lowering.input(0)
        before, after = dims_of(x), dims_of(lowering.node.outputs[0])
        changes = [
            change
            for axis, scale in enumerate(_scales(lowering, before, after))
            if (change := _change(axis, (before[axis], after[axis]), scale)) is not None
        ]
        value: Operand = x
        for change in sorted(changes, key=lambda change: change.after / change.before):
            places = _places(lowering, change, len(before))
            value = _resized(lowering, value, change, (len(before), places))
        return lowering.put(value, "Every axis is resized on its own.")


@dataclass(frozen=True, slots=True)
class _Change:
    """An axis that changes its size."""

    axis: int
    before: int
    after: int
    scale: float


def _change(axis: int, sizes: tuple[int | None, int | None], scale: float | None) -> _Change | None:
    """What becomes of an axis; None where it stays.

    Raises:
        NotHere: it changes from or to a size that is free.
    """
    before, after = sizes
    if scale == 1.0 and before == after:
        return None
    if before is None or after is None:
        raise NotHere("a size that it changes is free in the file")
    return _Change(axis, before, after, after / before if scale is None else scale)


def _axes(lowering: Lowering, rank: int) -> list[int]:
    """The axes that scales, sizes and the region are about.

    Raises:
        NotHere: it smoothes before it shrinks.
    """
    if lowering.of("antialias"):
        raise NotHere("it smoothes before it shrinks")
    listed = lowering.context.integers(lowering.node, "axes") or range(rank)
    return [axis % rank for axis in listed]


def _scales(
    lowering: Lowering, before: tuple[int | None, ...], after: tuple[int | None, ...]
) -> tuple[float | None, ...]:
    """How many times as large each axis becomes, as given; None where the sizes say it."""
    axes = _axes(lowering, len(before))
    index = 2 if lowering.node.op_type == "Resize" and lowering.opset >= 11 else 1
    value = lowering.optional_input(index)
    known = lowering.constant(value)
    if value is None or (known is not None and known.size == 0):
        listed = lowering.node.attributes.get("scales")
        if listed is not None:
            return tuple(float(scale) for scale in listed.as_floats())
        if lowering.text("keep_aspect_ratio_policy", "stretch") != "stretch":
            return _kept(lowering, before, after, axes)
        same = [lowering.same(axis) for axis in range(len(before))]
        return tuple(1.0 if stays else None for stays in same)
    if known is None or known.size != len(axes):
        raise NotHere("its scales are computed")
    given = dict(zip(axes, known, strict=True))
    return tuple(float(given.get(axis, 1.0)) for axis in range(len(before)))


def _kept(
    lowering: Lowering,
    before: tuple[int | None, ...],
    after: tuple[int | None, ...],
    axes: Sequence[int],
) -> tuple[float, ...]:
    """The one scale of all axes that keeps the aspect: as large as fits, or as covers."""
    wanted = lowering.context.ints(lowering.optional_input(3))
    sizes = [before[axis] for axis in axes]
    if wanted is None or None in sizes:
        raise NotHere("it keeps an aspect of sizes that are not known")
    shares = [new / (old or 1) for new, old in zip(wanted, sizes, strict=True)]
    larger = lowering.text("keep_aspect_ratio_policy", "") == "not_smaller"
    scale = max(shares) if larger else min(shares)
    made = [int(np.floor(scale * (old or 1) + 0.5)) for old in sizes]
    if made != [after[axis] for axis in axes]:
        raise NotHere("its result has another size than its aspect gives")
    return tuple(scale if axis in axes else 1.0 for axis in range(len(before)))


def _region(lowering: Lowering, change: _Change, rank: int) -> tuple[float, float]:
    """Where the part begins and ends that is resized, as shares of an axis."""
    known = lowering.constant(lowering.optional_input(1))
    axes = _axes(lowering, rank)
    if known is None or known.size != 2 * len(axes):
        raise NotHere("the part that it crops is computed")
    at = axes.index(change.axis)
    return float(known[at]), float(known[at + len(axes)])


def _places(lowering: Lowering, change: _Change, rank: int) -> Floats:
    """Where each new place lies among the old ones."""
    size, count, scale = change.before, change.after, change.scale
    new = np.arange(count, dtype=np.float64)
    old = lowering.opset < 11 or lowering.node.op_type == "Upsample"
    mode = "asymmetric" if old else "half_pixel"
    mode = lowering.text("coordinate_transformation_mode", mode)
    match mode:
        case "half_pixel":
            return (new + 0.5) / scale - 0.5
        case "pytorch_half_pixel":
            return (new + 0.5) / scale - 0.5 if count > 1 else np.zeros(1)
        case "align_corners":
            return new * (size - 1) / (count - 1) if count > 1 else np.zeros(1)
        case "asymmetric":
            return new / scale
        case "tf_half_pixel_for_nn":
            return (new + 0.5) / scale
        case "tf_crop_and_resize":
            start, end = _region(lowering, change, rank)
            if count == 1:
                return np.array([0.5 * (start + end) * (size - 1)])
            return start * (size - 1) + new * (end - start) * (size - 1) / (count - 1)
        case "half_pixel_symmetric":
            adjusted = count / (scale * size)
            return size / 2 * (1 - adjusted) + (new + 0.5) / scale - 0.5
        case _:
            raise NotHere(f"it counts places by {mode}")


def _resized(
    lowering: Lowering, value: Operand, change: _Change, among: tuple[int, Floats]
) -> Operand:
    """One axis among so many resized to these places."""
    axis, size = change.axis, change.before
    rank, places = among
    mode = lowering.text("mode", "nearest")
    crops = lowering.text("coordinate_transformation_mode", "") == "tf_crop_and_resize"
    if crops and (places.min() < 0 or places.max() > size - 1):
        raise NotHere("the part that it crops reaches beyond the edge")
    if mode == "nearest":
        index = np.clip(_nearest(lowering, places), 0, size - 1).astype(np.int64)
        return lowering.new("Gather", value, lowering.weight(index), axis=axis)
    if mode not in ("linear", "cubic"):
        raise NotHere(f"it interpolates by {mode}")
    weights = _linear(places, size) if mode == "linear" else _cubic(lowering, places, size)
    return along_axis(lowering, value, weights, axis=axis, rank=rank)


def _nearest(lowering: Lowering, places: Floats) -> Floats:
    old = lowering.opset < 11 or lowering.node.op_type == "Upsample"
    rounding = lowering.text("nearest_mode", "floor" if old else "round_prefer_floor")
    match rounding:
        case "floor":
            return np.floor(places)
        case "ceil":
            return np.ceil(places)
        case "round_prefer_ceil":
            return np.floor(places + 0.5)
        case "round_prefer_floor":
            return np.ceil(places - 0.5)
        case _:
            raise NotHere(f"it rounds by {rounding}")


def _linear(places: Floats, size: int) -> Floats:
    """Weights of the old places in each new one: float64[new, old]."""
    inside = np.clip(places, 0, size - 1)
    lower = np.minimum(np.floor(inside).astype(np.int64), size - 1)
    upper = np.minimum(lower + 1, size - 1)
    share = inside - lower
    found = np.zeros((len(places), size))
    rows = np.arange(len(places))
    np.add.at(found, (rows, lower), 1 - share)
    np.add.at(found, (rows, upper), share)
    return found


def _cubic(lowering: Lowering, places: Floats, size: int) -> Floats:
    """The same by Keys's cubic over four places; those outside are the last inside, or left out."""
    slope = float(lowering.of("cubic_coeff_a") or -0.75)
    lower = np.floor(places)
    found = np.zeros((len(places), size))
    rows = np.arange(len(places))
    for offset in range(-1, 3):
        distance = np.abs(places - (lower + offset))
        near = (slope + 2) * distance**3 - (slope + 3) * distance**2 + 1
        far = slope * (distance**3 - 5 * distance**2 + 8 * distance - 4)
        weight = np.where(distance <= 1, near, far)
        if lowering.of("exclude_outside"):
            inside = (lower + offset >= 0) & (lower + offset < size)
            weight = np.where(inside, weight, 0.0)
        at = np.clip(lower + offset, 0, size - 1).astype(np.int64)
        np.add.at(found, (rows, at), weight)
    return found / found.sum(axis=1, keepdims=True)
