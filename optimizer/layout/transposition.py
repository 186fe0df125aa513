"""A transposition of many axes as the one of few axes that it really is.

An axis of one element has no place in memory, and axes that stay neighbours in the same order are
one longer axis. What is left has the fewest axes a loop nest can have for it. Where the last axis
keeps its place, whole blocks are moved instead of elements. Source: `transpose` of HPTT (Springer,
Su and Bientinesi 2017) and of ONNX Runtime merge axes by the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from optimizer.dimension import Dimension, exact_divide, product


class Loop(NamedTuple):
    """One loop of a nest; strides are in elements.

    Attributes:
        size: how often it turns.
        read: how far apart are elements that are read one after the other.
        written: the same of elements that are written.
    """

    size: Dimension
    read: Dimension
    written: Dimension


@dataclass(frozen=True, slots=True)
class Transposition:
    """out.shape[i] = in.shape[perm[i]], as ONNX has it.

    Attributes:
        shape: of the input.
        perm: for each axis of the output the one of the input.
    """

    shape: tuple[Dimension, ...]
    perm: tuple[int, ...]

    @property
    def result(self) -> tuple[Dimension, ...]:
        """Shape of the output."""
        return tuple(self.shape[axis] for axis in self.perm)

    @property
    def moves(self) -> bool:
        """Whether elements change places; a size that is not known counts as more than one."""
        long = [axis for axis in self.perm if self.shape[axis] != 1]
        return long != sorted(long)

    @property
    def block(self) -> Dimension:
        """Elements that stay together: the last axis where it keeps its place, else one."""
        rank = len(self.perm)
        return self.shape[-1] if rank and self.perm[-1] == rank - 1 else 1

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The nest that writes the output in order, outermost first."""
        read, written = _strides(self.shape), _strides(self.result)
        return tuple(
            Loop(self.shape[axis], read[axis], written[place])
            for place, axis in enumerate(self.perm)
        )

    def reduced(self) -> Transposition:
        """The same movement of the same elements, over as few axes as there can be."""
        groups: list[list[int]] = []
        for axis in (axis for axis in self.perm if self.shape[axis] != 1):
            if groups and not self._long_between(groups[-1][-1], axis):
                groups[-1].append(axis)
            else:
                groups.append([axis])
        order = sorted(range(len(groups)), key=lambda group: groups[group][0])
        shape = tuple(product(self.shape[axis] for axis in groups[g]) for g in order)
        return Transposition(shape, tuple(order.index(group) for group in range(len(groups))))

    def then(self, after: Transposition) -> Transposition | None:
        """This one, a Reshape of its result to the shape of `after`, and that one, as one movement.

        Its input has the axes of this one's, cut where the Reshape cuts them.

        Returns: None where the two shapes have no axes in common, cut as often as may be.
        """
        found = _common_parts(self.result, after.shape)
        if found is None:
            return None
        sizes, first, second = found
        read = [part for axis in range(len(self.perm)) for part in first[self.perm.index(axis)]]
        written = [part for axis in after.perm for part in second[axis]]
        alone = [part for part in read if part not in written]  # of one element
        perm = tuple(read.index(part) for part in (*alone, *written))
        return Transposition(tuple(sizes[part] for part in read), perm)

    def _long_between(self, before: int, after: int) -> bool:
        """Whether `after` does not follow `before` in the input, axes of one element aside."""
        between: Sequence[Dimension] = self.shape[before + 1 : after]
        return after < before or any(size != 1 for size in between)


def _strides(shape: Sequence[Dimension]) -> list[Dimension]:
    return [product(shape[axis + 1 :]) for axis in range(len(shape))]


Parts = list[list[int]]


def _common_parts(
    first: Sequence[Dimension], second: Sequence[Dimension]
) -> tuple[list[Dimension], Parts, Parts] | None:
    """The longest parts of which the axes of both shapes are made, outermost first.

    Returns: their sizes, and the parts of each axis of one shape and the other; axes of one element
    are parts of the first shape alone. None where an axis would be cut in what is no integer.
    """
    sizes: list[Dimension] = []
    mine: Parts = [[] for _ in first]
    others: Parts = [[] for _ in second]
    pending = [(place, size) for place, size in enumerate(second) if size != 1][::-1]
    for axis, left in enumerate(first):
        if left == 1:
            mine[axis].append(len(sizes))
            sizes.append(1)
        while left != 1:
            if not pending:
                return None
            place, right = pending.pop()
            part = left if exact_divide(right, left) is not None else right
            rest, more = exact_divide(left, part), exact_divide(right, part)
            if rest is None or more is None:
                return None
            mine[axis].append(len(sizes))
            others[place].append(len(sizes))
            sizes.append(part)
            left = rest
            if more != 1:
                pending.append((place, more))
    return None if pending else (sizes, mine, others)
