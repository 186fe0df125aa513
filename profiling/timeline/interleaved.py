"""Profiles of several variants whose runs take turns: what slows the machine slows all alike."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from optimizer.errors import Cancelled, RunError
from optimizer.isolation import Progress, part_of
from optimizer.limits import JobLimits
from optimizer.verify import jobs
from profiling.config import RunConfig
from profiling.racing.race import Variant
from profiling.timeline.device_memory import device_memory_for
from profiling.timeline.profile import Profile
from profiling.timeline.recorder import Recorder
from profiling.workers import WorkerPool
from profiling.workers.pool import MeasuringWorkers

Result = TypeVar("Result")

_LIMITS = JobLimits(seconds=300.0)
_OPENING = 0.5
"""Part of the work that is opening the sessions."""


_open: list[Recorder] = []
"""In a worker: the one that records there, if there is one."""


def open_recorder(
    model: bytes | Path, config: RunConfig, folder: Path, *, progress: Progress | None = None
) -> None:
    """In the worker: open the session and make the first run."""
    request = jobs.Request(seeds=1)
    device = device_memory_for(config)
    _open[:] = [
        Recorder(model, config, request, folder=folder, device=device, bare=True, progress=progress)
    ]
    run_once()


def run_once() -> None:
    """In the worker: one more run."""
    _open[0].run()


def finish_recorder() -> Profile:
    """In the worker: the profile."""
    return _open.pop().finish()


def profile_interleaved(
    variants: Sequence[Variant],
    *,
    pool: WorkerPool,
    runs: int,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> list[Profile | RunError]:
    """Profile `runs` runs of each variant; one that fails leaves its error.

    Args:
        variants: to profile; labels are for the progress.
        pool: gives each variant a worker of its own.
        runs: of each, the first one included.
        progress: told of, from 0 to 1.
        cancelled: asked now and then.

    Raises:
        Cancelled: it was.
    """
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="passlens-profile-")))
        bench = stack.enter_context(pool.measuring(cancelled=cancelled))
        workers = [_VariantWorker(bench, cancelled) for _ in variants]
        for index, (worker, variant) in enumerate(zip(workers, variants, strict=True)):
            own = folder / str(index)
            own.mkdir()
            before, of = f"{variant.label}: ", len(workers) / _OPENING
            told = part_of({"progress": progress}, before, index, of=of).get("progress")
            worker.call(open_recorder, variant.located, variant.config, own, progress=told)
        for number in range(1, runs):
            done = _OPENING + (1 - _OPENING) * number / runs
            progress(f"profiled run {number + 1} of {runs}", done)
            for worker in workers:
                worker.call(run_once)
        return [worker.call(finish_recorder) or worker.error for worker in workers]


class _VariantWorker:
    """One variant's worker.

    Attributes:
        error: what went wrong first; read it where there is no answer.
    """

    def __init__(self, bench: MeasuringWorkers, cancelled: Callable[[], bool]) -> None:
        self._worker = bench.worker(fresh=True)
        self._cancelled = cancelled
        self.error = RunError("The variant was not profiled.")
        self._failed = False

    def call(
        self, function: Callable[..., Result], *args: object, progress: Progress | None = None
    ) -> Result | None:
        """What it answers; None from the first time on that it does not."""
        if self._failed:
            return None
        try:
            return self._worker.run(
                function, *args, limits=_LIMITS, progress=progress, cancelled=self._cancelled
            )
        except Cancelled:
            raise
        except RunError as error:
            self.error, self._failed = error, True
            return None
