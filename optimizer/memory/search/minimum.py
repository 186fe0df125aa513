"""The smallest capacity: try some, keep what is found and what is ruled out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from optimizer.memory.buffer import Buffer, lower_bound
from optimizer.memory.plan import peak_bytes
from optimizer.memory.registry import Budget
from optimizer.memory.search.problem import problem_of, unit_bytes
from optimizer.memory.search.restarts import Restarts
from optimizer.memory.search.state import FOUND, RULED_OUT

_FIRST_ROUND, _GROWTH = 4000, 4


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
