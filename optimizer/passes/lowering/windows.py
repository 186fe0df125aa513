"""Windows of convolutions and pooling, written with Pad, Slice, Concat, Reshape and Transpose."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from optimizer.passes.draft import TO_THE_END, NotHere, dims_of, only_one_free
from optimizer.passes.lowering.lowering import Lowering
from optimizer.rules import NewInitializer, Operand

MOST_SLICES = 9
"""Windows of at most so many places are cut out at once; larger ones axis by axis, which takes
2·7 Slices for 7×7 instead of 49 and, measured on ONNX Runtime, the same time."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Where windows lie, a number for each spatial axis.

    Attributes:
        sizes: of the data; None where the file leaves one free.
        kernel: places of a window.
        strides: from window to window.
        dilations: from place to place.
        begins: padding at the beginning.
        ends: padding at the end, as far as windows reach.
        given_ends: padding at the end, as the node has it.
    """

    sizes: tuple[int | None, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]
    given_ends: tuple[int, ...]

    @property
    def counts(self) -> tuple[int | None, ...]:
        """How many windows there are along each axis."""
        return tuple(
            None if size is None else (size - reach) // stride + 1
            for size, reach, stride in zip(
                self.padded_sizes, self.reaches, self.strides, strict=True
            )
        )

    @property
    def padded_sizes(self) -> tuple[int | None, ...]:
        """Of the data with its padding."""
        return tuple(
            None if size is None else size + low + high
            for size, low, high in zip(self.sizes, self.begins, self.ends, strict=True)
        )

    @property
    def reaches(self) -> tuple[int, ...]:
        """From the first to the last place of a window, both included."""
        return tuple(d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilations, strict=True))

    @property
    def padded(self) -> bool:
        """Whether there is any padding."""
        return any(self.begins) or any(self.ends)

    @property
    def apart(self) -> bool:
        """Whether windows lie side by side and cover all: a reshape cuts them out."""
        return (
            not self.padded
            and self.kernel == self.strides
            and max(self.dilations) == 1
            and all(
                size is not None and size % step == 0
                for size, step in zip(self.sizes, self.strides, strict=True)
            )
        )


def windows_of(lowering: Lowering, kernel: Sequence[int]) -> Windows:
    """The windows of a node over its first input.

    Raises:
        NotHere: its padding depends on a size that is free.
    """
    dims = dims_of(lowering.input(0))
    spatial = len(kernel)
    if len(dims) != spatial + 2:
        raise NotHere(f"its input has {len(dims) - 2} spatial axes, its kernel {spatial}")
    strides = lowering.numbers("strides", spatial, 1)
    dilations = lowering.numbers("dilations", spatial, 1)
    begins, ends = _padding(lowering, dims[2:], kernel, strides, dilations)
    given = ends
    if lowering.of("ceil_mode"):
        ends = _reached(dims[2:], kernel, strides, dilations, begins, ends)
    return Windows(dims[2:], tuple(kernel), strides, dilations, begins, ends, given)


Ends = tuple[int, ...]


def _padding(
    lowering: Lowering,
    sizes: Sequence[int | None],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> tuple[Ends, Ends]:
    spatial = len(kernel)
    wanted = lowering.text("auto_pad", "NOTSET")
    if wanted == "VALID":
        return (0,) * spatial, (0,) * spatial
    if wanted == "NOTSET":
        pads = lowering.numbers("pads", 2 * spatial, 0)
        if min(pads, default=0) < 0:
            raise NotHere("its padding is negative")
        return pads[:spatial], pads[spatial:]
    if wanted not in ("SAME_UPPER", "SAME_LOWER"):
        raise NotHere("its padding is not known")
    totals: list[int] = []
    for size, places, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        reach = dilation * (places - 1) + 1
        if size is None and stride > 1:
            raise NotHere("its padding depends on a size that is free in the file")
        over = reach - 1 if size is None else (-(-size // stride) - 1) * stride + reach - size
        totals.append(max(over, 0))
    small, large = tuple(t // 2 for t in totals), tuple(t - t // 2 for t in totals)
    return (small, large) if wanted == "SAME_UPPER" else (large, small)


def _reached(
    sizes: Sequence[int | None],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Ends,
    ends: Ends,
) -> Ends:
    """Padding at the end with `ceil_mode`: up to the end of the last window that begins inside."""
    reached: list[int] = []
    for axis, size in enumerate(sizes):
        if size is None:
            raise NotHere("with ceil_mode a size must not be free in the file")
        over = size + begins[axis] + ends[axis] - dilations[axis] * (kernel[axis] - 1) - 1
        count = -(-over // strides[axis]) + 1
        if (count - 1) * strides[axis] >= size + begins[axis]:
            count -= 1
        reached.append(ends[axis] + (count - 1) * strides[axis] - over)
    return tuple(reached)


def padded(lowering: Lowering, windows: Windows, filling: NewInitializer | None = None) -> Operand:
    """The first input with its padding."""
    pads = (0, 0, *windows.begins, 0, 0, *(max(end, 0) for end in windows.ends))
    return lowering.pad(lowering.input(0), pads, filling)


def cut(
    lowering: Lowering, value: Operand, windows: Windows, axes: Sequence[int], *, first: int
) -> list[Operand]:
    """One place of every window for each place along some spatial axes.

    The ends count from the end, so that they hold for every size.

    Args:
        lowering: makes the nodes.
        value: padded data.
        windows: where they lie.
        axes: spatial axes, counted from 0.
        first: the axis of `value` that spatial axis 0 is.
    """
    parts: list[Operand] = []
    for place in itertools.product(*(range(windows.kernel[axis]) for axis in axes)):
        starts = [k * windows.dilations[axis] for k, axis in zip(place, axes, strict=True)]
        ends = [s + 1 - windows.reaches[a] or TO_THE_END for s, a in zip(starts, axes, strict=True)]
        steps = [windows.strides[axis] for axis in axes]
        whole = not any(starts) and all(end == TO_THE_END for end in ends) and max(steps) == 1
        at = [axis + first for axis in axes]
        if lowering.opset < 10 and max(steps) > 1:
            parts.append(
                _picked(lowering, value, windows, dict(zip(axes, starts, strict=True)), first)
            )
        else:
            parts.append(value if whole else lowering.slice(value, at, starts, ends, steps))
    return parts


def _picked(
    lowering: Lowering, value: Operand, windows: Windows, starts: Mapping[int, int], first: int
) -> Operand:
    """One place of every window, gathered by index: an old Slice takes no steps."""
    for axis, start in starts.items():
        count = windows.counts[axis]
        if count is None:
            raise NotHere(
                "a Slice with steps needs operator set 10, and a size is free in the file"
            )
        index = lowering.integers(
            *range(start, start + count * windows.strides[axis], windows.strides[axis])
        )
        value = lowering.new("Gather", value, index, axis=axis + first)
    return value


MOST_PARTS = 32
"""Longer windows are gathered along their axis by index: slower, but two nodes."""


def _gathered(
    lowering: Lowering, value: Operand, windows: Windows, axis: int, *, channel: int, channels: int
) -> Operand:
    """Every place of the windows along one axis, before the channels."""
    count = windows.counts[axis]
    if count is None:
        raise NotHere("the size that its long windows run along is free in the file")
    places = np.arange(windows.kernel[axis])[:, None] * windows.dilations[axis]
    index = lowering.weight(places + np.arange(count)[None] * windows.strides[axis])
    at = channel + 1 + axis
    gathered = lowering.new("Gather", value, index, axis=at)
    rank = channel + 2 + len(windows.kernel)
    perm = [*range(channel), at, *(place for place in range(channel, rank) if place != at)]
    moved = lowering.new("Transpose", gathered, perm=perm)
    # Axes before this one have their windows cut already, those behind are still as padded.
    sizes = [
        windows.counts[other] if other <= axis else windows.padded_sizes[other]
        for other in range(len(windows.kernel))
    ]
    return lowering.reshape(
        moved, *[0] * channel, channels * windows.kernel[axis], *only_one_free(*sizes)
    )


def unfolded(
    lowering: Lowering, value: Operand, windows: Windows, *, channel: int, channels: int
) -> tuple[Operand, tuple[int, ...]]:
    """Every window's places side by side in the channel axis, which the spatial axes follow.

    Returns: the value, and the spatial axes in the order in which the places stand before the
    channels, outermost first.
    """
    axes = [
        axis
        for axis, (places, stride) in enumerate(zip(windows.kernel, windows.strides, strict=True))
        if places > 1 or stride > 1
    ]
    once = math.prod(windows.kernel) <= MOST_SLICES
    order: list[int] = []
    for group in ([axes] if once else [[axis] for axis in axes]) if axes else []:
        if not once and windows.kernel[group[0]] > MOST_PARTS:
            value = _gathered(
                lowering, value, windows, group[0], channel=channel, channels=channels
            )
        else:
            parts = cut(lowering, value, windows, group, first=channel + 1)
            value = parts[0] if len(parts) == 1 else lowering.new("Concat", *parts, axis=channel)
        channels *= math.prod(windows.kernel[axis] for axis in group)
        order = [*group, *order]
    return value, (*order, *(axis for axis in range(len(windows.kernel)) if axis not in axes))
