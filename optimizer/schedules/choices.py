"""What can be done next, best first: legal steps with what they are predicted to change.

Source: Ikarashi et al. 2021, "Guided Optimization for Image Processing Pipelines", whose users see
only steps that are possible, each with its cost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Fuse, Primitive, Schedule, ScheduleError
from optimizer.schedules.candidates import Candidate, candidates
from optimizer.schedules.excess import checked_excess
from optimizer.schedules.locality import Locality
from optimizer.schedules.machine_model import USUAL, MachineModel
from optimizer.schedules.meters import Meters, meters_of
from optimizer.schedules.nest import Nest, nest_of, on_gpu
from optimizer.schedules.prediction import Prediction, predicted
from optimizer.schedules.steps import checked_nest

MOST = 200
"""Steps that are looked at."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A step that can be taken.

    Attributes:
        schedule: with it.
        meters: of the nest with it.
        predicted_us: how long that takes, guessed; None on a GPU, of which nothing is guessed.
        speedup: times as fast as without, guessed; None where one of the two is on a GPU.
    """

    step: Candidate
    schedule: Schedule
    meters: Meters
    predicted_us: float | None
    speedup: float | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A step that cannot be taken, and why."""

    step: Candidate
    reason: str


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be done next.

    Attributes:
        now: meters of the schedule so far.
        now_us: how long it takes, guessed; None on a GPU.
        choices: the fastest first, as it is guessed; what is not guessed last.
        refused: in the order of the loops.
        left_out: steps that were not looked at.
    """

    now: Meters
    now_us: float | None
    choices: tuple[Choice, ...]
    refused: tuple[Refusal, ...]
    left_out: int


def choices_of(
    algorithm: Algorithm,
    schedule: Schedule,
    machine: MachineModel = USUAL,
    most: int = MOST,
) -> Choices:
    """All of them, up to a number.

    Args:
        algorithm: of sizes that are numbers.
        schedule: so far; can be applied.
        machine: for what is guessed.
        most: steps to look at.

    Raises:
        ScheduleError: the schedule cannot be applied.
    """
    *_, last = choices_in_parts(algorithm, schedule, machine, most)
    return last


def choices_in_parts(
    algorithm: Algorithm,
    schedule: Schedule,
    machine: MachineModel = USUAL,
    most: int = MOST,
    part: int = 16,
) -> Iterator[Choices]:
    """The same after each so many steps, each time with all that is known: at least once.

    Raises:
        ScheduleError: the schedule cannot be applied.
    """
    nest = checked_nest(algorithm, schedule)
    locality = Locality.of(nest.regions)
    now, guess = meters_of(nest, locality=locality), _guessed(nest, machine, locality)
    now_us = None if guess is None else 1e6 * guess.seconds
    offered = list(candidates(nest, machine.lanes))
    found: list[Choice] = []
    refused: list[Refusal] = []
    steps = islice(offered, most)
    left = len(offered)
    while True:
        taken = list(islice(steps, part))
        left -= len(taken)
        for one in _weighed(algorithm, schedule, taken, machine, guess):
            if isinstance(one, Choice):
                found.append(one)
            else:
                refused.append(one)
        ranked = sorted(found, key=_rank)
        yield Choices(now, now_us, tuple(ranked), tuple(refused), left)
        if len(taken) < part:
            return


def _rank(choice: Choice) -> float:
    return math.inf if choice.predicted_us is None else choice.predicted_us


def _guessed(nest: Nest, machine: MachineModel, locality: Locality) -> Prediction | None:
    return None if on_gpu(nest) else predicted(nest, machine, locality)


def _weighed(
    algorithm: Algorithm,
    schedule: Schedule,
    steps: Iterable[Candidate],
    machine: MachineModel,
    now: Prediction | None,
) -> Iterator[Choice | Refusal]:
    for step in steps:
        primitives: tuple[Primitive, ...] = (*schedule.primitives, *step.primitives)
        try:
            nest = nest_of(algorithm, primitives)
        except ScheduleError as error:
            yield Refusal(step, error.reason)
            continue
        if excess := checked_excess(nest):
            yield Refusal(step, excess)
            continue
        locality = Locality.of(nest.regions)
        guess, meters = _guessed(nest, machine, locality), meters_of(nest, locality=locality)
        if guess is None or now is None:
            yield Choice(step, Schedule(primitives), meters, None, None)
            continue
        if any(isinstance(one, Fuse) for one in step.primitives):
            # The same rounds in the same order: nothing moves less than before.
            guess = replace(guess, moving=max(guess.moving, now.moving))
        speedup = now.seconds / guess.seconds
        yield Choice(step, Schedule(primitives), meters, 1e6 * guess.seconds, speedup)
