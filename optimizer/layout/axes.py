"""What an axis of a tensor means, also after it was cut, merged and moved.

A meaning is a row of digits, outermost first: `C` of 64 channels cut into blocks of 16 is the axis
C1 with four and C0 with sixteen; both together, in this order and side by side, are C again. What
the merged axes of an image are called follows: HW. So Reshape and Transpose only rearrange digits,
as in the layout algebra of CuTe (NVIDIA CUTLASS, 2023), which this is the named half of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
"""Names of the spatial axes, by how many there are."""


@dataclass(frozen=True, slots=True)
class Digit:
    """A part of the index along a named axis: `index // stride % size`.

    Attributes:
        name: of the whole axis.
        full: size of the whole axis.
        size: how many values the part takes.
        stride: how far along the whole axis one step of it goes.
    """

    name: str
    full: int
    size: int
    stride: int = 1

    @property
    def text(self) -> str:
        """The name; of a part with 0 for the innermost one, 1 for the outermost, else a bar."""
        if self.size == self.full:
            return self.name
        if self.stride == 1:
            return f"{self.name}0"
        return f"{self.name}1" if self.stride * self.size == self.full else f"{self.name}|"


Axis = tuple[Digit, ...]
"""One axis of a tensor, outermost digit first; of one element where it is empty."""


def whole(name: str, size: int) -> Axis:
    """An axis that nothing was done to."""
    return (Digit(name, size, size),)


def text_of(axis: Axis) -> str:
    """The names of its digits."""
    return "".join(digit.text for digit in axis)


def resized(axis: Axis, size: int) -> Axis | None:
    """The axis with more or fewer elements, as Slice, Pad and Concat leave it; None for a part."""
    if prod(digit.size for digit in axis) == size:
        return axis
    if any(digit.size != digit.full for digit in axis) or not axis:
        return None
    return whole(text_of(axis), size)


def merged(axes: Sequence[Axis]) -> Axis:
    """Several axes as one; digits that belong together become one again."""
    found: list[Digit] = []
    for digit in (digit for axis in axes for digit in axis if digit.size > 1):
        last = found[-1] if found else None
        if last and last.name == digit.name and last.stride == digit.size * digit.stride:
            found[-1] = replace(digit, size=last.size * digit.size)
        else:
            found.append(digit)
    return tuple(found)


def split(axis: Axis, sizes: Sequence[int]) -> list[Axis] | None:
    """One axis as several; None where a size would cut a digit in two that it does not divide."""
    rest = list(axis)
    parts: list[Axis] = []
    for size in reversed(sizes):
        part: list[Digit] = []
        left = size
        while left > 1 and rest:
            digit = rest.pop()
            if left % digit.size == 0:
                part.append(digit)
                left //= digit.size
            elif digit.size % left == 0:
                part.append(replace(digit, size=left))
                rest.append(replace(digit, size=digit.size // left, stride=digit.stride * left))
                left = 1
            else:
                return None
        if left > 1:
            return None
        parts.append(tuple(reversed(part)))
    return parts[::-1] if not rest else None
