"""One arena planned by every planner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from optimizer.collection import collection_paused
from optimizer.errors import StudioError
from optimizer.isolation import Isolate, Progress
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget, make_plan, planners
from studio.planning.arena_map import plan_from_json, plan_to_json
from studio.planning.jobs import read_json, write_json
from studio.planning.kept import folder_of, make
from studio.planning.request import ArenaRequest
from studio.planning.subject import planned_arena
from studio.store import OpenedModel, OpenedRun

PLANNERS = "planners.json.gz"


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
    folder: Path,
    run_folder: Path,
    wanted: Sequence[tuple[PlannersRequest, Path]],
    *,
    progress: Progress,
) -> None:
    """Write what every planner makes of each request.

    Raises:
        StudioError: the trace cannot be read, or sizes are unknown.
    """
    progress("reading", 0.0)
    for request, target in wanted:
        with collection_paused():
            arena, _ = planned_arena(folder, run_folder, request.arena)
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
        data = {"plans": [plan_to_json(plan) for plan in plans], "failed": failed}
        write_json(target / PLANNERS, data)


def planners_key(
    model: OpenedModel, run: OpenedRun, request: PlannersRequest
) -> tuple[object, ...]:
    """Equal plans have equal keys."""
    return ("memory-planners", model.key, run.key, request)


def run_planners(
    isolate: Isolate,
    subject: tuple[OpenedModel, OpenedRun],
    request: PlannersRequest,
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> Planned:
    """Every planner's plan.

    Raises:
        StudioError: sizes are unknown, the worker died, or it was cancelled.
    """
    folder = folder_of(subject[1], "planners", request)
    make(
        isolate, subject, plan_with_all, [(request, folder)],
        progress=progress, cancelled=cancelled,
    )  # fmt: skip
    return _read(folder / PLANNERS)


@lru_cache(maxsize=16)
def _read(path: Path) -> Planned:
    """A folder never changes, so what was read stays true."""
    data = read_json(path)
    return Planned(tuple(map(plan_from_json, data["plans"])), data["failed"])
