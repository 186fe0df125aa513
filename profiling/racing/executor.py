"""The one interface through which races and sweeps run, and its default: this machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, Unpack

from optimizer.errors import Cancelled, RunError, StudioError
from optimizer.isolation import Following, part_of
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race, Variant
from profiling.workers import WorkerPool

Observe = Callable[[int, Race], None]
"""Gets the number of a job and what is known of its race, in the end all of it."""


@dataclass(frozen=True, slots=True)
class RaceJob:
    """One race, to be run in one place: all its variants on the same machine.

    Attributes:
        variants: the baseline first.
        plan: how much to run.
        name: before what its progress says; empty for none.
        gpus: GPUs it needs for itself, 0 or 1; None for what its variants say.
    """

    variants: tuple[Variant, ...]
    plan: RacePlan
    name: str = ""
    gpus: int | None = None

    @property
    def needed_gpus(self) -> int:
        """GPUs it needs for itself."""
        if self.gpus is not None:
            return self.gpus
        return int(any(variant.config.device != "cpu" for variant in self.variants))


@dataclass(frozen=True, slots=True)
class JobLocation:
    """Where a job ran.

    Attributes:
        node: the machine's name.
        node_id: of the cluster's node, where there is a cluster.
        gpus: ids of the GPUs it had for itself.
        process: id of the process that ran the race.
        attempt: 1 for the first; more if a worker died before.
    """

    node: str
    node_id: str = ""
    gpus: tuple[str, ...] = ()
    process: int = 0
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What became of a job: a race, or the reason why there is none."""

    race: Race | None
    error: str = ""
    location: JobLocation | None = None


class Executor(Protocol):
    """Runs races somewhere."""

    def run(
        self,
        jobs: Sequence[RaceJob],
        *,
        observe: Observe | None = None,
        **following: Unpack[Following],
    ) -> list[JobOutcome]:
        """An outcome a job, in the jobs' order. One that fails does not stop the others.

        Args:
            jobs: independent of each other.
            observe: gets what is known so far of each race.
            following: told about all of them together, and asked often.

        Raises:
            Cancelled: if `cancelled` said so.
            StudioError: nothing can be run at all.
        """
        ...


class LocalExecutor:
    """This machine: one race after the other, because two at a time would disturb each other."""

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool

    def run(
        self,
        jobs: Sequence[RaceJob],
        *,
        observe: Observe | None = None,
        **following: Unpack[Following],
    ) -> list[JobOutcome]:
        """See `Executor.run`."""
        outcomes: list[JobOutcome] = []
        for number, job in enumerate(jobs):
            before = f"{job.name}: " if job.name else ""
            told = part_of(following, before, number, of=len(jobs))
            seen = partial(observe, number) if observe is not None else None
            outcome = self._raced(job, seen, told)
            if seen is not None and outcome.race is not None:
                seen(outcome.race)
            outcomes.append(outcome)
        return outcomes

    def _raced(
        self, job: RaceJob, observe: Callable[[Race], None] | None, following: Following
    ) -> JobOutcome:
        here = JobLocation(platform.node(), process=os.getpid())
        try:
            race = measure(
                job.variants, pool=self._pool, plan=job.plan, observe=observe, **following
            )
        except Cancelled:
            raise
        except StudioError as error:
            return JobOutcome(None, error.message, here)
        return JobOutcome(race, location=here)


def race_of(outcome: JobOutcome) -> Race:
    """The race of a job that is the only one.

    Raises:
        RunError: there is none; the message says why.
    """
    if outcome.race is None:
        raise RunError(outcome.error)
    return outcome.race
