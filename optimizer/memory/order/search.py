"""The exact search: which order of a few neighbouring operations has the smallest peak.

A state is the set of operations that have run. What is alive depends on the set alone, so that of
all ways to reach a state only the one with the smallest peak so far matters: best first over the
sets that are closed under "before", as bit masks. A block of operations that stays below the peak
and leaves no more alive than there was may always run at once: whatever the best order is, moving
the block to its front makes no later step larger, for what an operation frees after more has run
is never less.

Source: Ahn et al. 2020, Ordering Chaos: Memory-Aware Scheduling of Irregularly Wired Neural
Networks for Edge Devices (the search over sets); the shortcut and its reason are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from optimizer.memory.order.problem import OrderProblem
from optimizer.memory.registry import Budget

MOST_STATES = 200_000
_BETWEEN_LOOKS = 64
_LONGEST_BLOCK = 12


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to.

    Attributes:
        order: the operations in the order found; None where none is better than asked.
        peak_bytes: of that order, or what was asked to be beaten.
        finished: whether it ended by itself, so that there is no better order.
        states: how many sets it looked at.
    """

    order: list[int] | None
    peak_bytes: int
    finished: bool
    states: int


@dataclass(frozen=True, slots=True)
class OrderWindow:
    """Operations that follow each other in an order, for a search among themselves.

    All of it by position in the window; readers are masks of such positions.

    Attributes:
        operations: their positions in the problem.
        before: mask of those that must run before.
        after: those that may be ready afterwards.
        made: bytes of what it makes.
        lost: bytes of what it makes and nobody reads.
        ends: (readers, bytes) of what may die at it.
        over: (readers, bytes) of what its result may replace.
        live_bytes: alive before the window.
    """

    operations: Sequence[int]
    before: list[int]
    after: list[list[int]]
    made: list[int]
    lost: list[int]
    ends: list[list[tuple[int, int]]]
    over: list[list[tuple[int, int]]]
    live_bytes: int


def window_of(
    problem: OrderProblem, order: Sequence[int], first: int, end: int, live_bytes: int
) -> OrderWindow:
    """The operations of steps [first, end) of an order.

    Args:
        problem: all operations.
        order: in which the others stay where they are.
        first: first step.
        end: the step after the last.
        live_bytes: alive before the first step.
    """
    operations = order[first:end]
    step = {index: step for step, index in enumerate(order)}
    here = {index: place for place, index in enumerate(operations)}
    pieces = problem.pieces
    masks: dict[int, int] = {}

    def readers(piece: int) -> int:
        """Readers in the window; 0 where there are later ones."""
        if piece not in masks:
            reading = [r for r in pieces.pieces[piece].readers if step[r] >= first]
            inside = all(r in here for r in reading)
            masks[piece] = sum(1 << here[r] for r in reading) if inside else 0
        return masks[piece]

    def dying(found: Sequence[int]) -> list[tuple[int, int]]:
        known = ((readers(piece), pieces.pieces[piece].taken) for piece in found)
        return [(mask, size) for mask, size in known if mask and size]

    planned = [[p for p in reads if pieces.pieces[p].planned] for reads in pieces.reads]
    return OrderWindow(
        operations=operations,
        before=[sum(1 << here[b] for b in problem.before[i] if b in here) for i in operations],
        after=[[here[a] for a in problem.after[i] if a in here] for i in operations],
        made=[problem.made_bytes[i] for i in operations],
        lost=[
            sum(
                pieces.pieces[p].taken
                for p in pieces.makes[i]
                if not pieces.pieces[p].readers and pieces.pieces[p].planned
            )
            for i in operations
        ],
        ends=[dying(planned[i]) for i in operations],
        over=[dying(pieces.written_over[i]) for i in operations],
        live_bytes=live_bytes,
    )


def search(
    window: OrderWindow, *, least: int, most: int, budget: Budget, most_states: int = MOST_STATES
) -> Found:
    """Look for an order of the window whose peak is below `most`.

    Args:
        window: the operations.
        least: a peak that is reached elsewhere anyway; an order that stays below it is as good.
        most: the peak to beat.
        budget: wall clock.
        most_states: how many sets to look at.
    """
    return _Search(window, most).run(least, budget, most_states)


_Step = tuple[int, list[int]]


class _Search:
    def __init__(self, window: OrderWindow, most: int) -> None:
        self._window = window
        self._most = most
        self._full = (1 << len(window.operations)) - 1
        self._best: dict[int, int] = {}
        self._came: dict[int, _Step] = {}  # the state before, and what ran since
        self._open: list[tuple[int, int, int, int, int]] = []

    def run(self, least: int, budget: Budget, most_states: int) -> Found:
        """Best first; the first whole order is the best."""
        ready = sum(1 << place for place, b in enumerate(self._window.before) if not b)
        self._reach((0, []), 0, ready, self._window.live_bytes, least)
        states = 0
        while self._open:
            peak, _, mask, ready, live = heappop(self._open)
            if self._best[mask] < peak:
                continue
            states += 1
            if mask == self._full:
                return Found(self._order(), peak, finished=True, states=states)
            if states >= most_states or (states % _BETWEEN_LOOKS == 0 and budget.spent):
                return Found(None, self._most, finished=False, states=states)
            rest = ready
            while rest:
                bit = rest & -rest
                rest ^= bit
                self._run(bit, mask, ready, live, peak)
        return Found(None, self._most, finished=True, states=states)

    def _run(self, bit: int, mask: int, ready: int, live: int, peak: int) -> None:
        """Run one operation, then whatever costs nothing."""
        place = bit.bit_length() - 1
        during, after = self._effect(place, mask | bit, live)
        if max(peak, during) < self._most:
            ready = self._ready(place, mask | bit, ready ^ bit)
            self._reach((mask, [place]), mask | bit, ready, after, max(peak, during))

    def _reach(self, came: _Step, mask: int, ready: int, live: int, peak: int) -> None:
        ran = came[1]
        rest = ready
        while rest:
            bit = rest & -rest
            rest ^= bit
            block = self._free(bit, mask, live, peak)
            if block is not None:
                places, mask, live = block
                for place in places:
                    ready = self._ready(place, mask, ready) & ~mask
                ran += places
                rest = ready
        if peak < self._best.get(mask, self._most):
            self._best[mask] = peak
            self._came[mask] = came
            heappush(self._open, (peak, -mask.bit_count(), mask, ready, live))

    def _free(self, bit: int, mask: int, live: int, peak: int) -> tuple[list[int], int, int] | None:
        """A block of operations that costs nothing and starts with this one; mask and live after.

        Below the peak all along, and with less alive in the end than ever since its start.
        """
        alive, fresh, places = live, bit, list[int]()
        while fresh and len(places) < _LONGEST_BLOCK:
            bit = fresh & -fresh
            place = bit.bit_length() - 1
            during, alive = self._effect(place, mask | bit, alive)
            if during > peak:
                return None
            places.append(place)
            mask |= bit
            if alive <= live:
                return places, mask, alive
            fresh = self._ready(place, mask, fresh ^ bit)
        return None

    def _effect(self, place: int, mask: int, live: int) -> tuple[int, int]:
        """The bytes alive while the operation runs, and after it; `mask` has its bit."""
        window = self._window
        after = during = live + window.made[place]
        for readers, size in window.over[place]:
            if not readers & ~mask:
                during -= size
                break
        after -= window.lost[place]
        for readers, size in window.ends[place]:
            if not readers & ~mask:
                after -= size
        return during, after

    def _ready(self, place: int, mask: int, ready: int) -> int:
        for later in self._window.after[place]:
            if not self._window.before[later] & ~mask:
                ready |= 1 << later
        return ready

    def _order(self) -> list[int]:
        mask, found = self._full, list[int]()
        while mask:
            mask, ran = self._came[mask]
            found += reversed(ran)
        return [self._window.operations[place] for place in reversed(found)]
