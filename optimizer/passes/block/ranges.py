"""Ranges that Slice takes, as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.rules import Context, given

FAR = 2**31 - 1
"""A bound from here on means "to the end", whatever the size."""


@dataclass(frozen=True, slots=True)
class Range:
    """The elements start, start + step, … before stop, as the operator counts them.

    Attributes:
        start: negative counts from the end.
        stop: likewise; `FAR` and more is the end.
        step: at least 1.
    """

    start: int
    stop: int
    step: int = 1

    @property
    def from_front(self) -> bool:
        """Whether both bounds are counted from the front, or one is the end itself."""
        return self.start >= 0 and self.stop >= 0

    @property
    def count(self) -> int:
        """How many elements lie between bounds that count from the front."""
        return len(range(self.start, self.stop, self.step))

    def within(self, size: int) -> Range:
        """The same elements of an axis of `size`, counted from the front and no further."""
        found = range(*slice(self.start, self.stop, self.step).indices(size))
        return Range(found.start, max(found.stop, found.start), self.step)

    def of(self, outer: Range) -> Range | None:
        """What `outer` takes of what this one has taken; None where only the size would tell."""
        if not self.from_front or not outer.from_front or self.step != 1:
            return None
        stop = self.stop if outer.stop >= FAR else min(self.stop, self.start + outer.stop)
        return Range(self.start + outer.start, stop, outer.step)


def ranges_of(node: ir.Node, context: Context) -> Mapping[int, Range] | None:
    """What a Slice takes, by axis from the front; None where it varies or runs backwards."""
    shape = context.symbolic.shape(node.inputs[0])
    starts, ends = (
        context.parameter(node, name, place) for place, name in enumerate(("starts", "ends"), 1)
    )
    if shape is None or starts is None or ends is None:
        return None
    axes, steps = (
        _optional(node, name, place, context) for place, name in enumerate(("axes", "steps"), 3)
    )
    if axes is None or steps is None:
        return None
    axes, steps = axes or [*range(len(starts))], steps or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or min(steps, default=1) < 1:
        return None
    taken = {
        axis % len(shape): Range(start, min(end, FAR), step)
        for axis, start, end, step in zip(axes, starts, ends, steps, strict=True)
        if -len(shape) <= axis < len(shape)
    }
    return taken if len(taken) == len(axes) else None


def _optional(node: ir.Node, name: str, place: int, context: Context) -> list[int] | None:
    """A list that may be left out, which is the empty one; None where it varies."""
    if name not in node.attributes and given(node, place) is None:
        return []
    return context.parameter(node, name, place)
