"""The one interface through which races and sweeps run, and its default: this machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from optimizer.errors import Cancelled, StudioError
from optimizer.isolation import Progress
from profiling.racing.measure import Plan, measure
from profiling.racing.race import Race, Variant
from profiling.workers import WorkerPool

Observe = Callable[[Race], None]
Asked = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class RaceJob:
    """One race, to be run in one place: all its variants on the same machine.

    Attributes:
        variants: the baseline first.
        plan: how much to run.
        gpus: GPUs it needs for itself, 0 or 1; None for what its variants say.
    """

    variants: tuple[Variant, ...]
    plan: Plan
    gpus: int | None = None

    @property
    def needed_gpus(self) -> int:
        """GPUs it needs for itself."""
        if self.gpus is not None:
            return self.gpus
        return int(any(variant.config.device != "cpu" for variant in self.variants))


@dataclass(frozen=True, slots=True)
class Placement:
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
class Outcome:
    """What became of a job: a race, or the reason why there is none."""

    race: Race | None
    error: str = ""
    placement: Placement | None = None


class Executor(Protocol):
    """Runs races somewhere."""

    def run(
        self,
        jobs: Sequence[RaceJob],
        *,
        progress: Progress | None = None,
        cancelled: Asked | None = None,
        observe: Observe | None = None,
    ) -> list[Outcome]:
        """An outcome a job, in the jobs' order. One that fails does not stop the others.

        Args:
            jobs: independent of each other.
            progress: told about all of them together.
            cancelled: asked often.
            observe: gets what is known so far of a race under way.

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
        progress: Progress | None = None,
        cancelled: Asked | None = None,
        observe: Observe | None = None,
    ) -> list[Outcome]:
        """See `Executor.run`."""
        outcomes: list[Outcome] = []
        for number, job in enumerate(jobs):
            share = _share(progress, number, len(jobs))
            outcomes.append(self._one(job, share, cancelled, observe))
        return outcomes

    def _one(
        self,
        job: RaceJob,
        progress: Progress | None,
        cancelled: Asked | None,
        observe: Observe | None,
    ) -> Outcome:
        here = Placement(platform.node(), process=os.getpid())
        try:
            race = measure(
                job.variants,
                pool=self._pool,
                plan=job.plan,
                progress=progress,
                cancelled=cancelled,
                observe=observe,
            )
        except Cancelled:
            raise
        except StudioError as error:
            return Outcome(None, error.message, here)
        return Outcome(race, placement=here)


def _share(progress: Progress | None, number: int, count: int) -> Progress | None:
    """Progress of one job as a share of all."""
    if progress is None:
        return None
    return lambda text, fraction: progress(text, (number + fraction) / count)
