"""All steps of a schedule in one document: nests and meters, ready to be drawn one after another.

Whoever has it needs to ask nothing more to go from step to step.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from optimizer.codec import Format
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Primitive, Schedule
from optimizer.schedules.excess import checked_excess
from optimizer.schedules.locality import Locality
from optimizer.schedules.machine_model import USUAL, MachineModel
from optimizer.schedules.meters import LEVELS, Meters, meters_of
from optimizer.schedules.nest import Nest, NestNode, on_gpu
from optimizer.schedules.prediction import predicted
from optimizer.schedules.steps import steps_of
from optimizer.schedules.warnings import NestWarning, warnings_of


@dataclass(frozen=True, slots=True)
class StepView:
    """After one more primitive.

    Attributes:
        primitive: as text; empty before the first.
        refusal: why it is left out, or cannot be compiled and run; empty where neither.
        pending: why there is no nest with it until a later one comes; empty where there is.
        nodes: the nest, a tree in the order of its text.
        warnings: what in it costs time and need not.
        predicted_us: how long it takes, guessed; what was measured stands elsewhere. None of loops
            that run on a GPU, of which nothing is guessed.
    """

    primitive: str
    refusal: str
    pending: str
    nodes: tuple[NestNode, ...]
    meters: Meters
    warnings: tuple[NestWarning, ...] = ()
    predicted_us: float | None = 0.0


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """A schedule step by step.

    Attributes:
        title: what is computed.
        schedule: all of it, refused primitives included.
        steps: one more than primitives.
        machine: for which times are guessed.
        machine_source: where its numbers are from.
    """

    title: str
    schedule: Schedule
    steps: tuple[StepView, ...]
    machine: str = USUAL.name
    machine_source: str = USUAL.source


SCHEDULE_VIEW = Format(ScheduleView, "passlens.schedule-view/1", "view of a schedule")


def view_of(
    title: str,
    algorithm: Algorithm,
    schedule: Schedule,
    levels: tuple[tuple[str, int], ...] = LEVELS,
    machine: MachineModel = USUAL,
) -> ScheduleView:
    """The document of an algorithm with a schedule.

    Args:
        title: what is computed, for people.
        algorithm: of sizes that are numbers.
        schedule: may have primitives that cannot be applied.
        levels: caches, the smallest first, and their bytes.
        machine: for what is guessed.

    Raises:
        ScheduleError: the algorithm has no nest without a schedule, either.
    """
    found: list[StepView] = []
    known: dict[int, StepView] = {}
    for step in steps_of(algorithm, schedule):
        if id(step.nest) not in known:
            known[id(step.nest)] = _of_nest(step.nest, levels, machine)
        text = "" if step.primitive is None else primitive_text(step.primitive)
        view = known[id(step.nest)]
        refusal = step.refusal or view.refusal
        found.append(replace(view, primitive=text, refusal=refusal, pending=step.pending))
    return ScheduleView(title, schedule, tuple(found), machine.name, machine.source)


def _of_nest(nest: Nest, levels: tuple[tuple[str, int], ...], machine: MachineModel) -> StepView:
    """All that a nest says, whatever primitive led to it."""
    locality = Locality.of(nest.regions)
    guess = None if on_gpu(nest) else 1e6 * predicted(nest, machine, locality).seconds
    return StepView(
        "",
        checked_excess(nest),
        "",
        nest.nodes,
        meters_of(nest, levels, locality),
        warnings_of(nest, locality),
        guess,
    )


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
