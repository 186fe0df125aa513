"""Where an element of a tensor lies once the tensor has another shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.dimension import Dimension, exact_divide
from optimizer.loops.algorithm import extent_scalar
from optimizer.loops.scalar import Scalar, apply, index

Shape = Sequence[Dimension]


@dataclass(frozen=True, slots=True)
class AxisGroup:
    """Axes of one shape that hold the same elements as axes of another.

    Attributes:
        old: which of the old shape.
        new: which of the new shape.
    """

    old: tuple[int, ...]
    new: tuple[int, ...]


def axis_groups(old: Shape, new: Shape) -> list[AxisGroup]:
    """The smallest groups of axes of equal element count, in their order; axes of extent 1 apart.

    `[6, 8] -> [2, 3, 8]` gives `6 -> 2, 3` and `8 -> 8`.
    """
    left = [axis for axis, size in enumerate(old) if size != 1]
    right = [axis for axis, size in enumerate(new) if size != 1]
    groups: list[AxisGroup] = []
    while left and right:
        taken = _taken([old[axis] for axis in left], [new[axis] for axis in right])
        groups.append(AxisGroup(tuple(left[: taken[0]]), tuple(right[: taken[1]])))
        left, right = left[taken[0] :], right[taken[1] :]
    if left or right:  # something is 0, or sizes of different form
        last = groups.pop() if groups else AxisGroup((), ())
        groups.append(AxisGroup((*last.old, *left), (*last.new, *right)))
    return groups


def _taken(old: Shape, new: Shape) -> tuple[int, int]:
    """How many axes of each make the first group."""
    count, other = 1, 1
    a, b = old[0], new[0]
    while a != b:
        shorter = exact_divide(b, a) is not None if b != 0 else False
        if isinstance(a, int) and isinstance(b, int):
            shorter = a < b
        if shorter and count < len(old):
            a, count = a * old[count], count + 1
        elif other < len(new):
            b, other = b * new[other], other + 1
        elif count < len(old):
            a, count = a * old[count], count + 1
        else:
            break
    return count, other


def regrouped(old: Shape, new: Shape, indices: Sequence[Scalar]) -> list[Scalar]:
    """Indices of the old shape from those of the new one."""
    found: list[Scalar] = [index(0)] * len(old)
    if 0 in old or 0 in new:
        return found
    for group in axis_groups(old, new):
        sizes = [old[axis] for axis in group.old]
        flat = _flat([new[axis] for axis in group.new], [indices[axis] for axis in group.new])
        for axis, place in zip(group.old, _places(sizes, flat), strict=True):
            found[axis] = place
    return found


def _flat(shape: Shape, indices: Sequence[Scalar]) -> Scalar:
    total: Scalar = index(0)
    for place, (size, one) in enumerate(zip(shape, indices, strict=True)):
        total = apply("add", apply("mul", total, extent_scalar(size)), one) if place else one
    return total


def _places(shape: Shape, flat: Scalar) -> list[Scalar]:
    """A place in row-major order as indices; the first one needs no remainder."""
    found: list[Scalar] = []
    for size in reversed(shape[1:]):
        width = extent_scalar(size)
        found.append(apply("floor_mod", flat, width))
        flat = apply("floor_div", flat, width)
    return [flat, *reversed(found)] if shape else []
