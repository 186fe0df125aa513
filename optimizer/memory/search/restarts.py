"""One capacity: many short searches, now and then a long one; the smallest capacity that holds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from optimizer.memory.buffer import Buffer, lower_bound
from optimizer.memory.plan import peak_bytes
from optimizer.memory.registry import Budget
from optimizer.memory.search.kernel import search, undo
from optimizer.memory.search.problem import Integers, Problem, problem_of, unit_bytes
from optimizer.memory.search.state import (
    DEPTH,
    FOUND,
    FULLEST,
    LOWEST,
    NODES,
    QUEUED,
    RULED_OUT,
    SCARCEST,
    STOPPED,
    state_of,
)

_SEED = 4
_MOST_NOISE = 0.3
_TURNS = (SCARCEST, FULLEST, SCARCEST, LOWEST)
_FIRST_SLICE, _SLICE_S = 16, 0.1
_FIRST_ROUND, _GROWTH = 4000, 4
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


@dataclass(frozen=True, slots=True)
class Minimum:
    """The smallest plan that was found.

    Attributes:
        offsets: bytes, one for each buffer.
        ruled_out_bytes: no plan is smaller than this.
        nodes: decisions it took.
    """

    offsets: Sequence[int]
    ruled_out_bytes: int
    nodes: int


def minimum(buffers: Sequence[Buffer], known: Sequence[int], budget: Budget) -> Minimum:
    """Search for plans smaller than a known one until the goal, the proof or the budget's end.

    Each round tries the goal first, then the middle between what is too hard and what was found;
    rounds grow by a factor of four, and with them what can be ruled out.

    Args:
        buffers: all of which live and have a size.
        known: offsets of a plan.
        budget: when to stop.

    Raises:
        PlanError: too many of the buffers are alive together.
    """
    unit = unit_bytes(buffers)
    low, goal = lower_bound(buffers) // unit, budget.goal(buffers) // unit
    high = -(-peak_bytes(buffers, known) // unit)
    if high <= goal:
        return Minimum(known, low * unit, 0)
    restarts, nodes = Restarts(problem_of(buffers), budget), _FIRST_ROUND
    while low < high and high > goal and not restarts.budget.spent:
        untried = capacity = max(low, goal)
        while capacity < high and not restarts.budget.spent:
            answer = restarts.fits(capacity, nodes)
            if answer == FOUND:
                known = [int(offset) * unit for offset in restarts.offsets]
                high = peak_bytes(buffers, known) // unit
            else:
                untried = capacity + 1
            low = untried if answer == RULED_OUT else low
            capacity = (untried + high) // 2
        nodes *= _GROWTH
    return Minimum(known, low * unit, restarts.nodes)
