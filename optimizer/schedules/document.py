"""All steps of a schedule in one document: nests and meters, ready to be drawn one after another.

Whoever has it needs to ask nothing more to go from step to step.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from optimizer.codec import Format
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Primitive, Schedule
from optimizer.schedules.excess import checked_excess
from optimizer.schedules.meters import LEVELS, Meters, meters_of
from optimizer.schedules.nest import NestNode
from optimizer.schedules.steps import steps_of


@dataclass(frozen=True, slots=True)
class StepView:
    """After one more primitive.

    Attributes:
        primitive: as text; empty before the first.
        refusal: why it is left out, or cannot be compiled and run; empty where neither.
        pending: why there is no nest with it until a later one comes; empty where there is.
        nodes: the nest, a tree in the order of its text.
    """

    primitive: str
    refusal: str
    pending: str
    nodes: tuple[NestNode, ...]
    meters: Meters


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """A schedule step by step.

    Attributes:
        title: what is computed.
        schedule: all of it, refused primitives included.
        steps: one more than primitives.
    """

    title: str
    schedule: Schedule
    steps: tuple[StepView, ...]


SCHEDULE_VIEW = Format(ScheduleView, "passlens.schedule-view/1", "view of a schedule")


def view_of(
    title: str,
    algorithm: Algorithm,
    schedule: Schedule,
    levels: tuple[tuple[str, int], ...] = LEVELS,
) -> ScheduleView:
    """The document of an algorithm with a schedule.

    Args:
        title: what is computed, for people.
        algorithm: of sizes that are numbers.
        schedule: may have primitives that cannot be applied.
        levels: caches, the smallest first, and their bytes.

    Raises:
        ScheduleError: the algorithm has no nest without a schedule, either.
    """
    found: list[StepView] = []
    known: dict[int, Meters] = {}
    for step in steps_of(algorithm, schedule):
        if id(step.nest) not in known:
            known[id(step.nest)] = meters_of(step.nest, levels)
        text = "" if step.primitive is None else primitive_text(step.primitive)
        refusal = step.refusal or checked_excess(step.nest)
        meters = known[id(step.nest)]
        found.append(StepView(text, refusal, step.pending, step.nest.nodes, meters))
    return ScheduleView(title, schedule, tuple(found))


def primitive_text(primitive: Primitive) -> str:
    """One line of a schedule, much as it is written in Halide: `blur_y.split(y, yo, yi, 32)`."""
    words: list[str] = []
    for field in fields(primitive):
        value: str | int | tuple[str, ...] = getattr(primitive, field.name)
        if field.name in ("func", "nest") or value == field.default:
            continue
        words.append(", ".join(value) if isinstance(value, tuple) else str(value))
    update = ".update()" if getattr(primitive, "nest", 0) else ""
    return f"{primitive.func}{update}.{_directive(type(primitive).__name__)}({', '.join(words)})"


def _directive(name: str) -> str:
    """A primitive's name as Halide has it: `rfactor`, `compute_at`."""
    split = "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
    return {"r_factor": "rfactor", "in": "in_"}.get(split, split)
