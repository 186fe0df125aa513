"""The seam between graph code and the worker processes that run native tools.

ONNX's checker and shape inference and ONNX Runtime can take a process down, so graph code never
calls them itself: it hands a module-level function to an `Isolate`. `profiling.workers` has the
real one.
"""

from __future__ import annotations

import atexit
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Protocol, TypedDict, TypeVar, Unpack

from optimizer.errors import StudioError
from optimizer.limits import JobLimits

Result = TypeVar("Result")
Progress = Callable[[str, float], None]
"""Called with a short text and the fraction done, 0 to 1."""


def silent(_text: str, _fraction: float) -> None:
    """Progress for nobody."""


class Following(TypedDict, total=False):
    """Who follows work that takes a while: a listener that is told, and a question asked often."""

    progress: Progress | None
    cancelled: Callable[[], bool] | None


def part_of(following: Following, before: str, number: float, *, of: float) -> Following:
    """Who follows one of several: told of its part of all, with words before every text."""
    told = following.get("progress") or silent

    def progress(text: str, fraction: float) -> None:
        told(f"{before}{text}", (number + fraction) / of)

    return {**following, "progress": progress}


class JobOptions(Following, total=False):
    """How a job in another process is run.

    Attributes:
        limits: what it may take.
        affinity: what it is about; an idle process that had a job about the same takes it, since it
            may have things open.
    """

    limits: JobLimits
    affinity: str


class Isolate(Protocol):
    """Runs a picklable function in another process."""

    def __call__(
        self, function: Callable[..., Result], *args: object, **options: Unpack[JobOptions]
    ) -> Result:
        """`function(*args)`, computed elsewhere.

        Raises:
            RunError: the worker crashed, ran out of time or memory, or was cancelled.
            StudioError: whatever the function itself raised from our tree.
        """
        ...


def within_worker(
    function: Callable[..., Result], *args: object, **options: Unpack[JobOptions]
) -> Result:
    """The `Isolate` of code that already runs in a worker process: just call."""
    del options
    return function(*args)


class Metered:
    """An `Isolate` that adds up the CPU time, in seconds, of the jobs that it hands on.

    They can report no progress. A job whose worker dies tells no time.
    """

    def __init__(self, isolate: Isolate) -> None:
        self._isolate = isolate
        self.seconds = 0.0

    def __call__(
        self, function: Callable[..., Result], *args: object, **options: Unpack[JobOptions]
    ) -> Result:
        """`function(*args)`, computed by the `Isolate` behind."""
        answer, seconds = self._isolate(_metered, function, *args, **options)
        self.seconds += seconds
        if isinstance(answer, StudioError):
            raise answer
        return answer


def _metered(function: Callable[..., Result], *args: object) -> tuple[Result | StudioError, float]:
    began = time.process_time()
    try:
        answer: Result | StudioError = function(*args)
    except StudioError as error:
        answer = error
    return answer, time.process_time() - began


_jobs: list[Path] = []


@contextmanager
def job_in(folder: Path) -> Generator[None]:
    """While a job runs, in a worker: what it leaves in this folder goes with it."""
    _jobs.append(folder)
    try:
        yield
    finally:
        _jobs.pop()


def scratch_folder() -> Path:
    """Where files may be left: the job's own folder, elsewhere one that goes with the process."""
    return _jobs[-1] if _jobs else _folder_of_the_process()


@cache
def _folder_of_the_process() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="passlens-scratch-", ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return Path(folder.name)
