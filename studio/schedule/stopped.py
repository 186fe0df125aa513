"""What is said of a schedule whose worker was stopped or died."""

from __future__ import annotations

from typing import Literal

from optimizer.errors import OutOfMemory, RunError, WorkerTimeout
from optimizer.limits import JobLimits
from optimizer.numbers import bytes_text


def stopped(error: RunError, limits: JobLimits, what: Literal["compiled", "timed"]) -> RunError:
    """The error in one sentence about the schedule.

    Args:
        error: of the worker.
        limits: that it had.
        what: the schedule was to be.
    """
    why = error.message.rstrip(".")
    if isinstance(error, WorkerTimeout):
        why = (
            f"it was stopped after {limits.seconds:g} s (the limit), and fewer rounds written out "
            "or shorter vectors take less"
        )
    elif isinstance(error, OutOfMemory):
        most = bytes_text(limits.memory_bytes or 0)
        why = f"it needs more than {most} of memory (the limit), and smaller tiles need less"
    return RunError(f"This schedule cannot be {what}: {why}.")
