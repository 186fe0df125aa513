"""A transposition of many axes as the one of few axes that it really is.

An axis of one element has no place in memory, and axes that stay neighbours in the same order are
one longer axis. What is left has the fewest axes a loop nest can have for it. Where the last axis
keeps its place, whole blocks are moved instead of elements. Source: `transpose` of HPTT (Springer,
Su and Bientinesi 2017) and of ONNX Runtime merge axes by the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.dimension import Dimension, product


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

    def _long_between(self, before: int, after: int) -> bool:
        """Whether `after` does not follow `before` in the input, axes of one element aside."""
        between: Sequence[Dimension] = self.shape[before + 1 : after]
        return after < before or any(size != 1 for size in between)
