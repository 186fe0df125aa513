"""The cluster node's side: run one race in workers of its own, and tell how it goes."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from optimizer.errors import StudioError
from optimizer.versions import passlens_version
from profiling.fleet.packed_variant import PackedVariant, unpack
from profiling.racing.executor import JobLocation, JobOutcome
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race
from profiling.workers import WorkerPool

_TELL_S = 0.5


@dataclass(frozen=True, slots=True)
class Message:
    """News of one job."""

    job: int
    text: str
    fraction: float
    location: JobLocation
    race: Race | None = None


def version() -> str:
    """Of Passlens in this environment; both ends must have the same."""
    return passlens_version()


def race_here(
    number: int,
    packed: list[PackedVariant],
    plan: RacePlan,
    *,
    location: JobLocation,
    tell: Callable[[Message], None],
) -> JobOutcome:
    """Run the race on this machine.

    Args:
        number: of the job, for the messages.
        packed: the variants.
        plan: how much to run.
        location: where this is.
        tell: takes news, at most two a second.
    """
    teller = _Teller(number, location, tell)
    pool = WorkerPool(size=1)
    try:
        with tempfile.TemporaryDirectory(prefix="passlens-fleet-") as folder:
            # The cluster shows a task its own GPUs only, so the first visible one is ours.
            device_id = 0 if location.gpus else None
            variants = unpack(packed, Path(folder), device_id=device_id)
            race = measure(
                variants, pool=pool, plan=plan, progress=teller.progress, observe=teller.observe
            )
    except StudioError as error:
        return JobOutcome(None, error.message, location)
    finally:
        pool.close()
    return JobOutcome(race, location=location)


def location_here(node_id: str, gpus: tuple[str, ...], *, attempt: int) -> JobLocation:
    """This process as a location."""
    return JobLocation(platform.node(), node_id, gpus, os.getpid(), attempt)


class _Teller:
    """Passes news on, not too often; the first at once."""

    def __init__(self, number: int, location: JobLocation, tell: Callable[[Message], None]) -> None:
        self._number = number
        self._location = location
        self._tell = tell
        self._told = 0.0
        self._race: Race | None = None

    def progress(self, text: str, fraction: float) -> None:
        if time.monotonic() - self._told < _TELL_S:
            return
        self._told = time.monotonic()
        self._tell(Message(self._number, text, fraction, self._location, self._race))
        self._race = None

    def observe(self, race: Race) -> None:
        self._race = race
