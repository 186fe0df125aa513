"""Profiles of several variants whose runs take turns: what slows the machine slows all alike."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from optimizer.errors import Cancelled, RunError
from optimizer.isolation import Progress
from optimizer.limits import JobLimits
from optimizer.verify import jobs
from profiling.config import RunConfig
from profiling.racing.race import Variant
from profiling.timeline.device_memory import device_memory_for
from profiling.timeline.profile import Profile
from profiling.timeline.recorder import Recorder
from profiling.workers import WorkerPool
from profiling.workers.pool import Bench, Worker

_LIMITS = JobLimits(seconds=300.0)
_OPENING = 0.5
"""Part of the work that is opening the sessions."""


@dataclass(slots=True)
class _State:
    recorder: Recorder | None = None


_state = _State()


def open_recorder(
    model: bytes | Path, config: RunConfig, folder: Path, *, progress: Progress | None = None
) -> None:
    """In the worker: open the session and make the first run."""
    request = jobs.Request(seeds=1)
    device = device_memory_for(config)
    _state.recorder = Recorder(
        model, config, request, folder=folder, device=device, bare=True, progress=progress
    )
    _state.recorder.run()


def run_once() -> None:
    """In the worker: one more run."""
    assert _state.recorder is not None
    _state.recorder.run()


def finish_recorder() -> Profile:
    """In the worker: the profile."""
    assert _state.recorder is not None
    return _state.recorder.finish()


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
        seats = [_Seat(variant, folder / str(i), cancelled) for i, variant in enumerate(variants)]
        for index, seat in enumerate(seats):
            part = partial(_told, progress, seat.variant.label, index, len(seats))
            seat.attempt(partial(seat.start, bench, part))
        for number in range(1, runs):
            done = _OPENING + (1 - _OPENING) * number / runs
            progress(f"profiled run {number + 1} of {runs}", done)
            for seat in seats:
                seat.attempt(seat.again)
        for seat in seats:
            seat.attempt(seat.finish)
    return [seat.outcome for seat in seats]


def _told(
    progress: Progress, label: str, index: int, count: int, text: str, fraction: float
) -> None:
    progress(f"{label}: {text}", _OPENING * (index + fraction) / count)


class _Seat:
    """One variant and its worker."""

    def __init__(self, variant: Variant, folder: Path, cancelled: Callable[[], bool]) -> None:
        self.variant = variant
        self._folder = folder
        self._cancelled = cancelled
        self._worker: Worker | None = None
        self._error: RunError | None = None
        self._profile: Profile | None = None

    @property
    def outcome(self) -> Profile | RunError:
        """What came out of it."""
        found = self._profile or self._error
        assert found is not None
        return found

    def attempt(self, work: Callable[[], None]) -> None:
        """Do it unless something went wrong before; note what goes wrong now."""
        if self._error is None:
            try:
                work()
            except Cancelled:
                raise
            except RunError as error:
                self._error = error

    def start(self, bench: Bench, progress: Progress) -> None:
        """Open the session and make the first run."""
        self._folder.mkdir()
        self._worker = bench.worker(fresh=True)
        model = self.variant.model
        self._worker.run(
            open_recorder, model.absolute() if isinstance(model, Path) else model,
            self.variant.config, self._folder,
            limits=_LIMITS, progress=progress, cancelled=self._cancelled,
        )  # fmt: skip

    def again(self) -> None:
        """One more run."""
        assert self._worker is not None
        self._worker.run(run_once, limits=_LIMITS, cancelled=self._cancelled)

    def finish(self) -> None:
        """Fetch the profile."""
        assert self._worker is not None
        self._profile = self._worker.run(finish_recorder, limits=_LIMITS, cancelled=self._cancelled)
