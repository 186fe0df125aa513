"""What is scheduled: an example, or a region of the open model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from optimizer.errors import StudioError
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from optimizer.schedules.examples import EXAMPLES
from studio.opening import model_task, title_of, try_again
from studio.page.parts import PATIENCE_S
from studio.schedule.link import NODE, REGION, SUBJECT, ScheduleChoice
from studio.schedule.region_job import NetworkLoops, RegionLoops, regions_with_loops
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

    @property
    def kernel(self) -> str:
        """The kernel that a region becomes; empty for an example."""
        return self.id.removeprefix(REGION) if self.id.startswith(REGION) else ""

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
        is_open: whether that had not ended when this was found.
    """

    subject: ScheduleSubject
    problem: str = ""
    looking: Task[Any] | None = None
    is_open: bool = False

    @property
    def regions(self) -> tuple[RegionLoops, ...] | None:
        """Of the open model; None as long as nobody knows."""
        network = None if self.looking is None else _network(self.looking)
        return None if network is None else network.regions


def found_subject(workspace: Workspace, *, wants_regions: bool) -> Found:
    """What a session has chosen.

    Args:
        workspace: the session's.
        wants_regions: whether it has asked for a list of the open model's regions.
    """
    choice = workspace.of(ScheduleChoice)
    chosen = choice.subject
    is_of_model = chosen.startswith((REGION, NODE))
    looking = _looking(workspace) if is_of_model or wants_regions else None
    is_open = looking is not None and not looking.done  # asked before its result is
    if not is_of_model:
        return replace(_example(chosen, looking), is_open=is_open)
    assert looking is not None
    found = Found(example_subject(SUBJECT), "", looking, is_open)
    if looking.error is not None:
        return replace(found, problem=looking.error.message)
    network = _network(looking)
    if network is None:
        return found
    try:
        region = _asked_for(choice, network)
    except StudioError as error:
        return replace(found, problem=f"{error.message} An example is shown.")
    return replace(found, subject=_of_region(workspace, region))


def _example(chosen: str, looking: Task[Any] | None) -> Found:
    """One of the examples, while regions may be looked for."""
    known = chosen in EXAMPLES
    problem = "" if known else "The link names no example, so that this one is shown."
    found = Found(example_subject(chosen if known else SUBJECT), problem, looking)
    if looking is not None and looking.error is not None:
        return replace(found, problem=looking.error.message)
    none = "No region of the open model has loops that can be drawn."
    return replace(found, problem=none) if found.regions == () else found


def _asked_for(choice: ScheduleChoice, network: NetworkLoops) -> RegionLoops:
    """The region that is named, or that a node is in.

    Raises:
        StudioError: there is none.
    """
    if choice.nodes:
        return network.region_of(choice.nodes)
    found = network.named(choice.subject.removeprefix(REGION))
    if found is None:
        raise StudioError("This model has no such region with loops.")
    return found


def _network(looking: Task[Any]) -> NetworkLoops | None:
    """What was found; None while the model is only being opened, or planned."""
    found = looking.result
    return found if isinstance(found, NetworkLoops) else None


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
