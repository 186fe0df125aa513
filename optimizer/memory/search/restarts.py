"""One capacity: many short searches, each in another order, now and then a long one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from optimizer.memory.registry import Budget
from optimizer.memory.search.kernel import search, undo
from optimizer.memory.search.orders import orders
from optimizer.memory.search.problem import Integers, Problem
from optimizer.memory.search.state import DEPTH, LOWEST, NODES, QUEUED, STOPPED, state_of

_FIRST_SLICE, _SLICE_S = 16, 0.1
_RUN, _DESCENTS = 500, 1.25
"""The shortest run in decisions: enough for every buffer once."""


class Restarts:
    """A search that can be asked about one capacity after another.

    What was ruled out within a capacity stays ruled out within a smaller one. The time it takes to
    compile or load the kernel, once a process, is not counted against the budget.

    Attributes:
        budget: when to stop.
        nodes: decisions made so far.
        offsets: where the buffers are, in units, after FOUND.
    """

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self._problem, self._state = problem, state_of(problem)
        began = time.monotonic()
        search(self._problem, self._state, int(problem.size.sum()), LOWEST, 0)
        self.budget = replace(budget, started=budget.started + time.monotonic() - began)
        self._orders = orders(problem, budget.seed)
        self._capacity = 0
        self._slice = _FIRST_SLICE

    @property
    def nodes(self) -> int:
        """Decisions made so far."""
        return int(self._state.counters[NODES])

    @property
    def offsets(self) -> Integers:
        """Where the buffers are, in units, after FOUND."""
        return self._state.bound

    def fits(self, capacity: int, nodes: int) -> int:
        """FOUND, RULED_OUT, or STOPPED after about so many nodes or at the end of the budget."""
        if capacity > self._capacity:
            self._state.refuted[:] = 0
        self._capacity = capacity
        end = self.nodes + nodes
        run = max(_RUN, int(_DESCENTS * len(self._problem.size)))
        for length in _luby():
            answer = self._run(capacity, min(run * length, end - self.nodes))
            if answer != STOPPED or self.nodes >= end or self.budget.spent:
                return answer
        raise AssertionError

    def _run(self, capacity: int, nodes: int) -> int:
        """From the root, in the next order."""
        state, end = self._state, self.nodes + nodes
        undo(self._problem, state, 0)
        state.counters[DEPTH] = 0
        state.queue[:], state.queued[:] = np.arange(len(state.queue)), 1
        state.counters[QUEUED] = len(state.queue)
        where, state.rank[:] = next(self._orders)
        while True:
            began, before = time.perf_counter(), self.nodes
            asked = min(self._slice, end - before)
            answer = search(self._problem, state, capacity, where, asked)
            seconds = time.perf_counter() - began
            if answer != STOPPED or self.nodes < before + asked or self.nodes >= end:
                return answer
            if self.budget.spent:
                return STOPPED
            self._slice = max(1, int(self._slice * min(2.0, _SLICE_S / max(seconds, 1e-6))))


def _luby() -> Iterator[int]:
    """1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 …: as often a run of twice the length as makes both pay.

    Source: Luby, Sinclair and Zuckerman 1993; the recurrence is Knuth's.
    """
    high, low = 1, 1
    for _ in count():
        yield low
        high, low = (high + 1, 1) if high & -high == low else (high, 2 * low)
