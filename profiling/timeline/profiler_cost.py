"""What the runtime's profiler itself costs, and runs with that taken off.

The profiler looks at a node's operands within the time that it notes for the node, and writes its
record between two nodes. What it writes displaces what the nodes need from the near caches, so that
they are slower as well: the more the longer a node, until it would have fetched all of that itself.

    node without the profiler = w - slower x min(w, 8 x node_us),  w = max(0, node - node_us)

`slower` is chosen so that the times of all nodes together are no more than the runs without the
profiler took, as far as those agree. A node that is shorter than the cost takes 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from statistics import median

from profiling.timeline.events import Run
from profiling.timeline.stretches import Doing, Stretches, typical

_REACH = 8.0
"""So many times `node_us` of a node's work are slower; a cache near by holds no more."""

_EXPECTED_SLOWER = 0.5
"""Standard deviation of `slower` as expected before anything ran; networks of tiny nodes had 0.1 to
0.4. What runs say of it counts as far as they scatter less."""

_MOST_SLOWER = 0.5
_MOST_BETWEEN = 3.0
"""So many times what it is in a chain of trivial nodes."""

Usual = Callable[[Sequence[float]], float]
"""What stands for several times: their median, or what the fastest say."""


@dataclass(frozen=True, slots=True)
class ProfilerCost:
    """What the profiler costs on one machine, under one variant's options.

    Attributes:
        node_us: within the time of each node, as trivial nodes show it.
        between_us: between two nodes.
        slower: share by which nodes' own work is slower beside it.
        bare_us: runs of the same variant without the profiler, in turns with those with it.
    """

    node_us: float
    between_us: float
    slower: float = 0.0
    bare_us: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not (self.node_us >= 0 and self.between_us >= 0 and 0 <= self.slower <= 1):
            raise ValueError("the profiler's cost is negative, or more than all")

    @property
    def run_us(self) -> float | None:
        """A run without the profiler; None where none was made."""
        return median(self.bare_us) if self.bare_us else None

    def work_us(self, noted_us: float) -> float:
        """What a node takes whose time was noted so; never negative."""
        work = max(0.0, noted_us - self.node_us)
        return work - self.slower * self.slowed_us(work)

    @property
    def reach_us(self) -> float:
        """As much of a node's work can be slower."""
        return _REACH * self.node_us

    def slowed_us(self, work_us: float) -> float:
        """How much of a node's work is slower."""
        return min(work_us, self.reach_us)

    def taken_off(self, run: Run) -> Run:
        """A run without what the profiler took, all that follows earlier by as much.

        Where operators ran side by side, each is shorter, and begins when it began.
        """
        stretches = Stretches.of(run)
        if stretches is not None:
            return stretches.changed(self._length_us).run(run)
        events = (
            replace(event, duration_us=self.work_us(event.duration_us)) for event in run.events
        )
        return replace(run, events=tuple(events))

    def _length_us(self, doing: Doing, noted_us: float) -> float:
        if doing == "work":
            return self.work_us(noted_us)
        if doing in ("between", "rest of a body"):
            return max(0.0, noted_us - self.between_us)
        return noted_us


def of_trivial_nodes(
    runs: Sequence[Run], bare_us: Sequence[float], *, usual: Usual = median
) -> ProfilerCost:
    """What a chain of equal trivial nodes says.

    Args:
        runs: with the profiler, one after the other.
        bare_us: how long the same runs took without it, in turns with them.
        usual: what stands for several times.
    """
    run = typical(runs, usual=usual)
    nodes_us = [event.duration_us for event in run.events]
    found = Stretches.of(run)
    around_us = 0.0 if found is None else found.total_us("around")
    # What a node takes without the profiler, the runtime's way to it included.
    own_us = max(0.0, _undisturbed(bare_us) - around_us) / len(nodes_us)
    between_us = 0.0 if found is None else median(found.each_us("between"))
    return ProfilerCost(max(0.0, median(nodes_us) - own_us), between_us)


def of_variant(
    trivial: ProfilerCost, runs: Sequence[Run], bare_us: Sequence[float], *, usual: Usual = median
) -> ProfilerCost:
    """What it costs a variant: as trivial nodes say, and its own runs with and without it.

    Args:
        trivial: on the same machine, under the same options.
        runs: with the profiler.
        bare_us: how long runs took without it, in turns with them.
        usual: what stands for several times.
    """
    found = Stretches.of(typical(runs, usual=usual))
    cost = replace(trivial, bare_us=tuple(bare_us))
    if found is None:
        return cost
    noted_us = found.each_us("work")
    inside_us = max(0.0, _undisturbed(bare_us) - found.total_us("around"))
    works_us = [cost.work_us(us) for us in noted_us]
    slowed_us = sum(map(cost.slowed_us, works_us))
    if slowed_us:
        error = _error(bare_us) / slowed_us
        surely = _EXPECTED_SLOWER**2 / (_EXPECTED_SLOWER**2 + error**2)
        slower = surely * (sum(works_us) - inside_us) / slowed_us
        cost = replace(cost, slower=min(_MOST_SLOWER, max(0.0, slower)))
    left_us = max(0.0, inside_us - sum(map(cost.work_us, noted_us)))
    return replace(cost, between_us=_between(trivial, found, left_us))


def _between(trivial: ProfilerCost, found: Stretches, left_us: float) -> float:
    """What to take off between two nodes so that no more than so much is left of all together."""
    gaps = sorted((*found.each_us("between"), *found.each_us("rest of a body")), reverse=True)
    # Of gaps g the largest k leave sum(g[:k]) - k x, and no other k of them leave more.
    sums = enumerate(accumulate(gaps), start=1)
    enough = max(((together - left_us) / count for count, together in sums), default=0.0)
    return min(max(trivial.between_us, enough), _MOST_BETWEEN * trivial.between_us)


def _undisturbed(times_us: Sequence[float]) -> float:
    """One of the fastest: other processes only ever make a run slower."""
    return sorted(times_us)[(len(times_us) - 1) // 10]


def _error(times_us: Sequence[float]) -> float:
    """How far that may be off: half of how far the fastest fifth lies apart."""
    fastest = sorted(times_us)
    return (fastest[(len(fastest) - 1) // 5] - fastest[0]) / 2
