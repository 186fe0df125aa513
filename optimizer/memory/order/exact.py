"""The order with the smallest peak, and the proof: bound first, search only where it must be.

1. The best of the given orders is where to start; if its peak is the bound, that is the proof.
2. An operation that comes before or after every other one divides the order: the parts are
   searched one by one, those with the largest peak first, and only for what is better.
3. Where a part is too large, windows around its peak are searched, which proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from optimizer.memory.order.problem import OrderProblem, bound
from optimizer.memory.order.search import MOST_STATES, Found, search, window_of
from optimizer.memory.pieces import MemoryChange, peak_bytes, walk
from optimizer.memory.registry import Budget

LONGEST_PART = 2_000
"""Operations of a part that is searched at all."""

_WINDOWS = (12, 24, 48)
_WINDOW_STATES = 20_000


@dataclass(frozen=True, slots=True)
class Exact:
    """The best order found.

    Attributes:
        bound_bytes: no order has a smaller peak.
        states: sets of operations that were looked at.
        parts: how many parts the order was divided into.
    """

    order: list[int]
    bound_bytes: int
    states: int
    parts: int


def exact_order(problem: OrderProblem, orders: Sequence[Sequence[int]], budget: Budget) -> Exact:
    """Look for the order with the smallest peak.

    Args:
        problem: the operations.
        orders: orders that are known already, at least one.
        budget: wall clock; a part that is under search when it ends stays as it is.
    """
    order = list(min(orders, key=lambda known: peak_bytes(problem.pieces, known)))
    return _Parts(problem, order, budget).improve()


class _Parts:
    def __init__(self, problem: OrderProblem, order: list[int], budget: Budget) -> None:
        self._problem, self._order, self._budget = problem, order, budget
        self._least, relations = bound(problem)  # no order has a smaller peak
        self._states = 0
        cuts = set(relations.cuts()) if relations is not None else set[int]()
        ends = [step + 1 for step, index in enumerate(order) if index in cuts]
        self._ends = list(dict.fromkeys([0, *ends, len(order)]))

    def improve(self) -> Exact:
        """Search the parts, those with the largest peak first."""
        during = [moment.live_bytes for moment in self._moments()]
        parts = [(max(during[a:b], default=0), a, b) for a, b in pairwise(self._ends)]
        reached = self._least
        for peak, first, end in sorted(parts, reverse=True):
            if peak <= reached:
                break
            found = self._search(first, end, reached)
            if found.finished:
                self._least = max(self._least, found.peak_bytes)
            else:
                self._slide(first, end, reached)
            reached = max(reached, self._peak(first, end))
        return Exact(self._order, self._least, self._states, len(parts))

    def _peak(self, first: int, end: int) -> int:
        return max((m.live_bytes for m in self._moments()[first:end]), default=0)

    def _moments(self) -> list[MemoryChange]:
        return list(walk(self._problem.pieces, self._order))

    def _search(self, first: int, end: int, least: int, states: int = MOST_STATES) -> Found:
        """Put the best order into steps [first, end)."""
        peak = self._peak(first, end)
        if end - first > LONGEST_PART or self._budget.spent:
            return Found(None, peak, finished=False, states=0)
        live = self._moments()[first - 1].left_bytes if first else 0
        window = window_of(self._problem, self._order, first, end, live)
        found = search(window, least=least, most=peak, budget=self._budget, most_states=states)
        self._states += found.states
        if found.order is not None:
            self._order[first:end] = found.order
        return found

    def _slide(self, first: int, end: int, least: int) -> None:
        """Search windows around the peak of a part, larger ones where smaller ones do not help."""
        width = 0
        while width < len(_WINDOWS) and not self._budget.spent:
            moments = self._moments()[first:end]
            peak = max(moment.live_bytes for moment in moments)
            if peak <= least:
                return
            step = first + next(i for i, m in enumerate(moments) if m.live_bytes == peak)
            half = _WINDOWS[width] // 2
            low, high = max(first, step - half), min(end, step + half)
            found = self._search(low, high, least, _WINDOW_STATES)
            width = width + 1 if found.order is None else 0
