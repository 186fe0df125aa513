"""What the component is given: everything it needs to go from step to step by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import Algorithm, Func
from optimizer.loops.schedule import SCHEDULE, Schedule
from optimizer.schedules.algorithm_text import domain_text, formula_text
from optimizer.schedules.document import SCHEDULE_VIEW, ScheduleView, primitive_text
from optimizer.schedules.examples import EXAMPLES
from studio.schedule.draft import Draft
from studio.schedule.link import REGION
from studio.schedule.opened import OpenedSchedule
from studio.schedule.region_job import RegionLoops
from studio.schedule.subject import ScheduleSubject
from studio.schedule.timing import timings

Json = dict[str, Any]
_MOST_REGIONS = 200


def view_json(view: ScheduleView) -> Json:
    """The document."""
    return SCHEDULE_VIEW.to_json(view)


def draft_json(draft: Draft) -> Json:
    """All primitives as data and as text, and which are off."""
    primitives = draft.schedule.primitives
    return {
        "primitives": primitives_json(draft.schedule),
        "texts": [primitive_text(one) for one in primitives],
        "off": list(draft.off),
    }


def primitives_json(schedule: Schedule) -> list[Json]:
    """Primitives as a file has them."""
    return SCHEDULE.to_json(schedule)["primitives"]


def subject_json(subject: ScheduleSubject, order: str) -> Json:
    """What is scheduled, and the schedules that come with it."""
    return {
        "id": subject.id,
        "key": subject.key,
        "title": subject.title,
        "teaches": subject.teaches,
        "order": order,
        "orders": [
            {"name": name, "teaches": subject.told.get(name, "")} for name in subject.schedules
        ],
        **algorithm_json(subject.algorithm),
    }


def algorithm_json(algorithm: Algorithm) -> Json:
    """What is computed."""
    return {
        "inputs": [
            {"name": one.name, "dtype": one.dtype.name.lower(), "shape": _numbers(one.shape)}
            for one in algorithm.inputs
        ],
        "funcs": [_func(one, is_output=one.name in algorithm.outputs) for one in algorithm.funcs],
    }


def _func(func: Func, *, is_output: bool) -> Json:
    reduction = func.reduction
    return {
        "name": func.name,
        "axes": [[axis.name, str(axis.extent)] for axis in func.axes],
        "reduces": [[axis.name, str(axis.extent)] for axis in reduction.axes] if reduction else [],
        "over": domain_text(reduction) if reduction else "",
        "formula": formula_text(func),
        "dtype": func.dtype.name.lower(),
        "output": is_output,
    }


def _numbers(shape: Sequence[Dimension]) -> list[str]:
    return [str(one) for one in shape]


def offered_json(regions: tuple[RegionLoops, ...] | None) -> list[Json]:
    """What can be chosen."""
    examples = [{"id": one.id, "title": one.title} for one in EXAMPLES.values()]
    groups: list[Json] = [{"title": "Examples", "subjects": examples}]
    if regions:
        found = [
            {"id": f"{REGION}{one.name}", "title": f"{number}. {one.title}"}
            for number, one in enumerate(regions[:_MOST_REGIONS], 1)
        ]
        groups.append({"title": "Regions of the open model", "subjects": found})
    return groups


def times_json(opened: OpenedSchedule) -> list[Json]:
    """What is known of times, by step."""
    return list(_times(opened))


def _times(opened: OpenedSchedule) -> Iterator[Json]:
    for step, task in enumerate(timings(opened)):
        if task is None:
            continue
        found: Json = {"step": step, "state": "running"}
        if task.error is not None:
            found = {"step": step, "state": "failed", "why": task.error.message}
        elif task.result is not None:
            found = {"step": step, "state": "done", **asdict(task.result)}
        yield found
