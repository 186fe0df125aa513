"""One capacity: many short searches, each in another order, now and then a long one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from optimizer.memory.registry import Budget
from optimizer.memory.search.kernel import search, undo
from optimizer.memory.search.problem import Integers, Problem
from optimizer.memory.search.state import (
    DEPTH,
    FULLEST,
    LOWEST,
    NODES,
    QUEUED,
    SCARCEST,
    STOPPED,
    state_of,
)

_SEED = 4
_MOST_NOISE = 0.3
_TURNS = (SCARCEST, FULLEST, SCARCEST, LOWEST)
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


def orders(problem: Problem, seed: int = 0) -> Iterator[tuple[int, Integers]]:
    """Where to decide and the rank of every buffer, for one restart after another, for ever.

    Contention (the most that is alive in a section of the buffer), length and area in the three
    sequences of the paper, size; after them, log-linear mixtures with noise.
    """
    live = problem.live
    ends = zip(problem.first.tolist(), problem.end.tolist(), strict=True)
    contention = np.array([live[first:end].max() for first, end in ends], float)
    length = (problem.end - problem.first).astype(float)
    size = problem.size.astype(float)
    area = length * size
    yield FULLEST, _ranks(contention, length, area)
    yield LOWEST, _ranks(contention, length, area)
    yield LOWEST, _ranks(area, contention)
    yield SCARCEST, _ranks(area, contention)
    yield FULLEST, _ranks(contention, area, length)
    yield LOWEST, _ranks(length, area, contention)
    yield SCARCEST, _ranks(contention, length, area)
    random = np.random.default_rng(_SEED + seed)
    for turn in count():
        share = random.random(3) * (random.random(3) < 0.7)
        key = share @ np.log([contention**4, length, size])
        noise = random.uniform(0, _MOST_NOISE) * random.standard_normal(len(size))
        yield _TURNS[turn % len(_TURNS)], _ranks(key + noise)


def _ranks(*keys: np.ndarray) -> Integers:
    """Places in the order: by the first key, the largest first, then by the next."""
    ranks = np.empty(len(keys[0]), np.int64)
    ranks[np.lexsort([-key for key in reversed(keys)])] = np.arange(len(ranks))
    return ranks
