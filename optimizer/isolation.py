"""The seam between graph code and the worker processes that run native tools.

ONNX's checker and shape inference and ONNX Runtime can take a process down, so graph code never
calls them itself: it hands a module-level function to an `Isolate`. `profiling.workers` has the
real one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from optimizer.limits import JobLimits

Result = TypeVar("Result")
Progress = Callable[[str, float], None]
"""Called with a short text and the fraction done, 0 to 1."""


def silent(_text: str, _fraction: float) -> None:
    """Progress for nobody."""


def part_of(progress: Progress | None, before: str, number: int, *, of: float) -> Progress:
    """Progress of one of several as its part of all, with words before every text."""
    told = progress or silent
    return lambda text, fraction: told(f"{before}{text}", (number + fraction) / of)


class Isolate(Protocol):
    """Runs a picklable function in another process."""

    def __call__(
        self,
        function: Callable[..., Result],
        *args: object,
        limits: JobLimits = ...,
        progress: Progress | None = ...,
        cancelled: Callable[[], bool] | None = ...,
    ) -> Result:
        """`function(*args)`, computed elsewhere.

        Raises:
            RunError: the worker crashed, ran out of time or memory, or was cancelled.
            StudioError: whatever the function itself raised from our tree.
        """
        ...


def within_worker(
    function: Callable[..., Result],
    *args: object,
    limits: JobLimits = JobLimits(),
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Result:
    """The `Isolate` of code that already runs in a worker process: just call."""
    del limits, progress, cancelled
    return function(*args)
