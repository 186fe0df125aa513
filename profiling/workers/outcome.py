"""What became of a job, as the error its asker gets."""

from __future__ import annotations

import logging
import re
import secrets
import signal

from optimizer.errors import (
    Cancelled,
    OutOfMemory,
    RunError,
    StudioError,
    WorkerCrashed,
    WorkerTimeout,
    quoted,
)
from optimizer.limits import JobLimits
from optimizer.numbers import bytes_text
from profiling.workers.messages import Failed, RaisedStudioError

_log = logging.getLogger("passlens.workers")

_SIGNALS = {
    "SIGFPE": "an integer division the processor refuses",
    "SIGSEGV": "an access to memory that is not its own",
    "SIGBUS": "a read past the end of a file or of memory",
    "SIGILL": "an instruction this processor does not have",
    "SIGABRT": "the native code gave up",
    "SIGKILL": "ended from outside, most likely because the machine ran out of memory",
}
_PLACE = re.compile(r"^passlens: in (.+)$", re.MULTILINE)
"""What native code of ours says last where a signal ends it."""


def crashed(job: str, exit_code: int | None, stderr: str) -> RunError:
    """The worker is gone without an answer."""
    _log.warning("worker ended: job %s, exit code %s, stderr:\n%s", job, exit_code, stderr)
    error = _crash(job, exit_code, stderr)
    if stderr:
        error.add_note(f"The worker's last words:\n{stderr}")
    return error


def _crash(job: str, exit_code: int | None, stderr: str) -> RunError:
    if exit_code is None or exit_code >= 0:
        how = "" if exit_code is None else f" with exit status {exit_code}"
        return RunError(f"The worker process ended{how} during {job} without an answer.")
    name = _signal_name(-exit_code)
    if name == "SIGABRT" and "bad_alloc" in stderr:
        return OutOfMemory(_memory_text(job))
    meaning = f" ({_SIGNALS[name]})" if name in _SIGNALS else ""
    places = _PLACE.findall(stderr)
    place = f", in {quoted(places[-1], limit=200)}" if places else ""
    return WorkerCrashed(
        f"The worker process died of {name}{meaning} during {job}{place}. "
        "Everything else goes on; the model can still be looked at.",
        signal_name=name,
    )


def timed_out(job: str, limits: JobLimits) -> WorkerTimeout:
    """The wall clock ran out."""
    return WorkerTimeout(
        f"Stopped after {limits.seconds:g} s (the limit) during {job}. "
        "Bind dimensions to smaller sizes, or raise the time limit."
    )


def exhausted(job: str, resource: str, limits: JobLimits) -> RunError:
    """The memory or file size limit was hit, or the disk is full."""
    if resource == "memory":
        return OutOfMemory(_memory_text(job, limits))
    if resource == "disk":
        return RunError(f"The disk is full: {job} could not write a file. Make room and try again.")
    return RunError(
        f"Stopped at the file size limit ({bytes_text(limits.file_bytes)}) during {job}. "
        "Use a smaller model, or raise the limit."
    )


def cancelled(step: str) -> Cancelled:
    """The asker changed their mind; a step is what the job said last, empty if it said nothing."""
    return Cancelled(f"Cancelled at the step {quoted(step)}." if step else "Cancelled.")


def refused(answer: RaisedStudioError) -> StudioError:
    """The error of our own tree that the job raised, rebuilt with its attributes."""
    if not issubclass(answer.kind, StudioError):
        raise TypeError(f"{answer.kind.__name__} is not one of our errors")
    error = answer.kind.__new__(answer.kind, *answer.args)
    error.args = answer.args
    for name, value in answer.state.items():
        setattr(error, name, value)
    return error


def failed(job: str, answer: Failed) -> RunError:
    """A bug in a job; the log has the traceback under the reference that the message names."""
    reference = secrets.token_hex(4)
    _log.error("reference %s: %s failed\n%s", reference, job, answer.traceback)
    return RunError(
        f"An unexpected error during {job}: {quoted(answer.summary, limit=200)} "
        f"(reference {reference})."
    )


def unreadable(job: str, message: object) -> RunError:
    """The worker answered with something that is no message."""
    _log.error("unreadable answer during %s: %s", job, message)
    return RunError(f"The worker sent something unreadable during {job}: {quoted(str(message))}.")


def _memory_text(job: str, limits: JobLimits | None = None) -> str:
    most = limits.memory_bytes if limits is not None else None
    bound = f" (limit {bytes_text(most)})" if most is not None else ""
    return (
        f"Out of memory{bound} during {job}. "
        "Bind dimensions to smaller sizes, or raise the memory limit."
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
