"""What the search for an order needs to know of a graph, and a bound that no order is below."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from optimizer.memory.pieces import Pieces
from optimizer.memory.program import NOTHING

MOST_COMPARED = 8_000
"""More operations are not compared pair by pair: it takes a bit for every pair."""


class OrderProblem:
    """Operations by their position in list order.

    Attributes:
        pieces: the memory they take.
        before: for each operation those whose results it reads.
        after: for each operation those that read its results.
        made_bytes: for each operation what it makes.
    """

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self.before = pieces.program.before()
        self.after: list[list[int]] = [[] for _ in self.before]
        for index, earlier in enumerate(self.before):
            for other in earlier:
                self.after[other].append(index)
        self.made_bytes = [sum(pieces.pieces[p].taken for p in makes) for makes in pieces.makes]

    @property
    def count(self) -> int:
        """How many operations there are."""
        return len(self.before)


@dataclass(frozen=True, slots=True)
class Relations:
    """Which operations come before which in every order, as bit masks.

    Attributes:
        above: for each operation itself and all that must run before it.
        below: for each operation itself and all that must run after it.
    """

    above: list[int]
    below: list[int]

    def cuts(self) -> list[int]:
        """The operations that are before or after every other one: orders divide there."""
        every = (1 << len(self.above)) - 1
        pairs = enumerate(zip(self.above, self.below, strict=True))
        return [index for index, (above, below) in pairs if above | below == every]


def relations_of(problem: OrderProblem) -> Relations:
    """Compare all operations; quadratic in bits, not in steps."""
    above, below = [0] * problem.count, [0] * problem.count
    for index, earlier in enumerate(problem.before):
        above[index] = 1 << index
        for other in earlier:
            above[index] |= above[other]
    for index in range(problem.count - 1, -1, -1):
        below[index] = 1 << index
        for other in problem.after[index]:
            below[index] |= below[other]
    return Relations(above, below)


def least_peak(problem: OrderProblem, relations: Relations) -> int:
    """A peak that no order is below.

    Whatever the order, an operation runs beside all it reads and makes, and beside everything that
    is made before it and read after it in every order.
    """
    pieces = problem.pieces
    held = [0] * problem.count
    for piece in pieces.pieces:
        if not piece.taken or piece.maker == NOTHING:
            continue
        until = 0
        for reader in piece.readers:
            until |= relations.above[reader]
        for index in _bits(relations.below[piece.maker] & until | 1 << piece.maker):
            held[index] += piece.taken
    saved = (_saved(pieces, index, relations.below[index]) for index in range(problem.count))
    return max((bytes_ - less for bytes_, less in zip(held, saved, strict=True)), default=0)


def _saved(pieces: Pieces, index: int, below: int) -> int:
    """The bytes that are not needed if the result is written over an input, where it ever may."""
    for piece in pieces.written_over[index]:
        if all(
            reader == index or not below >> reader & 1 for reader in pieces.pieces[piece].readers
        ):
            return pieces.pieces[piece].taken
    return 0


def own_peak(problem: OrderProblem) -> int:
    """The most that one operation reads and makes: a weaker bound, but linear."""
    pieces = problem.pieces
    known = pieces.pieces
    own = (
        problem.made_bytes[index]
        + sum(known[piece].taken for piece in pieces.reads[index])
        - max((known[piece].taken for piece in pieces.written_over[index]), default=0)
        for index in range(problem.count)
    )
    return max(own, default=0)


def bound(problem: OrderProblem) -> tuple[int, Relations | None]:
    """The best bound there is for the size of the problem."""
    if problem.count > MOST_COMPARED:
        return own_peak(problem), None
    relations = relations_of(problem)
    return least_peak(problem, relations), relations


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
