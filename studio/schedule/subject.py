"""What is scheduled: an example, or a region of the open model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.schedules.examples import EXAMPLES
from studio.artifacts.opened import OpenedModel
from studio.opening import model_task, title_of, try_again
from studio.page.parts import PATIENCE_S
from studio.schedule.link import REGION, SUBJECT, ScheduleChoice
from studio.schedule.region_job import RegionLoops, regions_with_loops
from studio.services import tasks
from studio.tasks import Task
from studio.workspace import Workspace


@dataclass(frozen=True)
class ScheduleSubject:
    """An algorithm with schedules.

    Attributes:
        id: in links.
        key: of the algorithm: two models have different regions of one name.
        title: for people; may quote a model.
        teaches: what is to be learned from it; of a region, where it is from.
        schedules: by name.
        told: what is to be seen in each schedule.
    """

    id: str
    key: str
    title: str
    teaches: str
    algorithm: Algorithm
    schedules: Mapping[str, Schedule]
    told: Mapping[str, str]

    def order_of(self, choice: ScheduleChoice) -> str:
        """The schedule that was chosen, or else the last."""
        return choice.order if choice.order in self.schedules else list(self.schedules)[-1]


@cache
def example_subject(name: str) -> ScheduleSubject:
    """One of the examples.

    Raises:
        KeyError: there is none of that name.
    """
    one = EXAMPLES[name]
    return ScheduleSubject(
        one.id,
        one.id,
        one.title,
        one.teaches,
        one.algorithm,
        {each.name: each.schedule for each in one.schedules},
        {each.name: each.teaches for each in one.schedules},
    )


@dataclass(frozen=True)
class Found:
    """What became of a choice.

    Attributes:
        subject: that is shown: the first example as long as a region is looked for.
        problem: why it is not the one that was asked for; empty if it is, or is looked for.
        looking: the task that looks for regions; None where nobody asked for any.
    """

    subject: ScheduleSubject
    problem: str = ""
    looking: Task[Any] | None = None

    @property
    def regions(self) -> tuple[RegionLoops, ...] | None:
        """Of the open model; None as long as nobody knows."""
        found: Any = None if self.looking is None else self.looking.result
        is_open = not isinstance(found, OpenedModel)  # else it has only been opened
        return found if is_open else None


def found_subject(workspace: Workspace, *, wants_regions: bool) -> Found:
    """What a session has chosen.

    Args:
        workspace: the session's.
        wants_regions: whether it has asked for a list of the open model's regions.
    """
    chosen = workspace.of(ScheduleChoice).subject
    is_region = chosen.startswith(REGION)
    looking = _looking(workspace) if is_region or wants_regions else None
    if not is_region:
        known = chosen in EXAMPLES
        problem = "" if known else "The link names no example, so that this one is shown."
        found = Found(example_subject(chosen if known else SUBJECT), problem, looking)
        if looking is not None and looking.error is not None:
            return replace(found, problem=looking.error.message)
        none = "No region of the open model has loops that can be drawn."
        return replace(found, problem=none) if found.regions == () else found
    assert looking is not None
    if looking.error is not None:
        return Found(example_subject(SUBJECT), looking.error.message, looking)
    found = Found(example_subject(SUBJECT), "", looking)
    for one in found.regions or ():
        if one.name == chosen.removeprefix(REGION):
            return replace(found, subject=_of_region(workspace, one))
    gone = "This model has no such region with loops, so that an example is shown."
    return replace(found, problem=gone) if found.regions is not None else found


def look_again(workspace: Workspace) -> None:
    """Forget that looking for regions has failed."""
    opening = model_task(workspace)
    if opening.result is None:
        try_again(workspace)
    else:
        tasks().drop_failed(("schedule-regions", opening.result.key))


def _of_region(workspace: Workspace, one: RegionLoops) -> ScheduleSubject:
    title = title_of(workspace)
    return ScheduleSubject(
        f"{REGION}{one.name}",
        f"{workspace.model} {one.name}",
        one.title,
        f"A region of {title} that becomes one kernel, at the sizes that it has there.",
        one.algorithm,
        {"no schedule": Schedule(), "default schedule": one.schedule},
        {
            "no schedule": "What is read is computed where it is read, but for sums.",
            "default schedule": "What generated kernels are made with where nothing was tuned.",
        },
    )


def _looking(workspace: Workspace) -> Task[Any]:
    """Opening the open model, and then looking for its regions."""
    opening = model_task(workspace)
    opening.wait(PATIENCE_S)
    if opening.result is None:
        return opening
    model = opening.result
    task = tasks().start(("schedule-regions", model.key), partial(regions_with_loops, model))
    task.wait(PATIENCE_S)
    return task
