"""A list schedule: of what is ready, always what lets the live set grow least."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from optimizer.memory.order.problem import Problem


def list_schedule(problem: Problem) -> list[int]:
    """Run what is ready and grows the live set least; then the smaller result, then list order.

    O(n log n): what a ready operation would free changes only when it becomes a piece's last
    reader, and then it is entered once more.
    """
    return list(_Schedule(problem).run())


class _Schedule:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._pieces = problem.pieces
        self._waiting = [len(piece.readers) for piece in problem.pieces.pieces]
        self._missing = [len(before) for before in problem.before]
        self._done = [False] * problem.count
        self._ready: list[tuple[int, int, int]] = []  # growth, bytes made, operation

    def run(self) -> Iterator[int]:
        """The operations in the order to run them."""
        for index, count in enumerate(self._missing):
            if not count:
                self._enter(index)
        while self._ready:
            index = heappop(self._ready)[-1]
            if not self._done[index]:
                yield index
                self._finish(index)

    def _enter(self, index: int) -> None:
        known, made = self._pieces.pieces, self._problem.made_bytes[index]
        reads = (known[piece] for piece in self._pieces.reads[index] if self._waiting[piece] == 1)
        freed = sum(piece.taken for piece in reads if piece.planned)
        heappush(self._ready, (made - freed, made, index))

    def _finish(self, index: int) -> None:
        self._done[index] = True
        for piece in self._pieces.reads[index]:
            self._waiting[piece] -= 1
            if self._waiting[piece] == 1:
                readers = self._pieces.pieces[piece].readers
                last = next(reader for reader in readers if not self._done[reader])
                if not self._missing[last]:
                    self._enter(last)
        for later in self._problem.after[index]:
            self._missing[later] -= 1
            if not self._missing[later]:
                self._enter(later)
