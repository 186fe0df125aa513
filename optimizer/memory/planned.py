"""An arena and what planners make of it: one function for the page, the command line, programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from optimizer.errors import PlanError
from optimizer.isolation import Progress
from optimizer.memory.arena import Arena, Lifetime
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget, find_planner, make_plan


@dataclass(frozen=True)
class PlannedArena:
    """An arena with its plans, and its bodies with theirs.

    Attributes:
        arena: of a graph with its bodies, or of intervals.
        plans: one for each planner, by the id of the graph; none where sizes are unknown. Offsets
            are in the order of the arena's activations.
        failed: why a planner has none, by its id.
        note: what the order of the nodes has to say.
    """

    arena: Arena
    plans: Mapping[str, tuple[Plan, ...]] = field(default_factory=dict[str, tuple[Plan, ...]])
    failed: Mapping[str, str] = field(default_factory=dict[str, str])
    note: str = ""

    @property
    def activations(self) -> tuple[Lifetime, ...]:
        """What the plans have offsets for, in their order."""
        return self.arena.of("activations")

    @property
    def own_plans(self) -> tuple[Plan, ...]:
        """Those of this graph, in the order of the planners."""
        return self.plans.get(self.arena.graph, ())

    @property
    def best(self) -> Plan | None:
        """The plan with the smallest peak, of equals one that is proven, then the first."""
        plans = self.own_plans
        return min(plans, key=lambda p: (p.peak_bytes, p.certificate is None), default=None)

    def of(self, planner: str) -> Plan | None:
        """The plan of a planner."""
        return next((plan for plan in self.own_plans if plan.planner == planner), None)

    @property
    def bodies(self) -> tuple[Self, ...]:
        """The bodies right below."""
        return tuple(replace(self, arena=body, note="") for body in self.arena.bodies)

    @cached_property
    def live_bytes(self) -> tuple[int, ...]:
        """Activations alive, step by step; nothing where sizes are unknown."""
        return () if self.arena.unplanned else self.arena.live_bytes()

    @cached_property
    def floor_bytes(self) -> int:
        """The largest single operator's own inputs and outputs."""
        return self.arena.floor_bytes()

    @property
    def need_bytes(self) -> int:
        """The smallest plan, and on top of it the largest body's need: the worst case.

        Raises:
            PlanError: some sizes are unknown.
        """
        if self.best is None:
            raise PlanError(self.arena.unplanned)
        inside = max((body.need_bytes for body in self.bodies), default=0)
        # a Loop or Scan keeps the inputs and outputs of its body beside its own
        iterates = self.arena.operator not in ("", "If")
        beside = self.arena.region_bytes()["inputs and outputs"] if iterates else 0
        return self.best.peak_bytes + beside + inside


def plan_arena(
    arena: Arena,
    planner_ids: Sequence[str],
    budget: Callable[[], Budget],
    *,
    note: str = "",
    progress: Progress | None = None,
) -> PlannedArena:
    """Have planners plan an arena and its bodies; what they fail at is in `failed`.

    Args:
        arena: what has no known size, the arena itself or a body, is left out.
        planner_ids: who plans.
        budget: of one planner for one graph.
        note: of the order of the nodes.
        progress: told of every planner.

    Raises:
        PlanError: there is no such planner, or none succeeds.
    """
    planners = [find_planner(planner_id) for planner_id in planner_ids]
    plans: dict[str, tuple[Plan, ...]] = {}
    failed: dict[str, str] = {}
    for graph in _plannable(arena):
        buffers, made = graph.buffers(), list[Plan]()
        for number, planner in enumerate(planners):
            if progress is not None:
                progress(planner.title, number / len(planners))
            try:
                made.append(make_plan(planner.id, buffers, budget()))
            except PlanError as error:
                failed[planner.id] = error.message
        plans[graph.graph] = tuple(made)
    if failed and not any(plans.values()):
        raise PlanError(next(iter(failed.values())))
    return PlannedArena(arena, plans, failed, note)


def _plannable(arena: Arena) -> Iterator[Arena]:
    if not arena.unplanned:
        yield arena
    for body in arena.bodies:
        yield from _plannable(body)
