"""One arena planned by every planner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optimizer.collection import collection_paused
from optimizer.errors import StudioError
from optimizer.isolation import Progress
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget, make_plan, planners
from optimizer.rewrite.graph_at import TraceFiles
from studio.memory.arena_map import plan_from_json, plan_to_json
from studio.memory.kept import Kept, write_json
from studio.memory.request import ArenaRequest
from studio.memory.subject import planned_arena


@dataclass(frozen=True, slots=True)
class PlannersRequest:
    """An arena, and the seconds that each search may take."""

    arena: ArenaRequest
    seconds: float


@dataclass(frozen=True, slots=True)
class Planned:
    """What came out.

    Attributes:
        plans: from naive to clever; offsets in the order of the arena's activations.
        failed: why a planner has none, by its id.
    """

    plans: tuple[Plan, ...]
    failed: Mapping[str, str]

    def of(self, planner: str) -> Plan | None:
        """The plan of a planner."""
        return next((plan for plan in self.plans if plan.planner == planner), None)

    @property
    def best(self) -> Plan:
        """The smallest, one with a certificate if there is one; the fastest of equals."""
        return min(self.plans, key=lambda p: (p.peak_bytes, p.certificate is None, p.seconds))


def plan_with_all(
    files: TraceFiles, request: PlannersRequest, file: Path, *, progress: Progress
) -> None:
    """Write what every planner makes of a request.

    Raises:
        StudioError: the trace cannot be read, or sizes are unknown.
    """
    progress("reading", 0.0)
    with collection_paused():
        arena, _ = planned_arena(files, request.arena)
    buffers = arena.buffers()
    plans: list[Plan] = []
    failed: dict[str, str] = {}
    everybody = planners()
    for number, planner in enumerate(everybody):
        progress(planner.title, 0.1 + 0.9 * number / len(everybody))
        try:
            plans.append(make_plan(planner.id, buffers, Budget(request.seconds)))
        except StudioError as error:
            failed[planner.id] = error.message
    write_json(file, {"plans": [plan_to_json(plan) for plan in plans], "failed": failed})


def _planned(data: dict[str, Any]) -> Planned:
    return Planned(tuple(map(plan_from_json, data["plans"])), data["failed"])


ALL_PLANS: Kept[PlannersRequest, Planned] = Kept("planners", plan_with_all, _planned)
"""Every planner's plan; unknown sizes are an error."""
