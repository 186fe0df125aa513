"""The worker's side: take a job, run it under limits, answer.

Runs in a process of its own; see `profiling.workers.pool` for the asking side.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import inspect
import itertools
import os
import select
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from optimizer.errors import StudioError
from optimizer.isolation import job_in
from profiling.workers import confinement
from profiling.workers.channel import Channel
from profiling.workers.messages import (
    Exhausted,
    Failed,
    Job,
    Message,
    Progress,
    RaisedStudioError,
    Returned,
    Started,
)

RETIRE_AFTER_JOBS = 200
RETIRE_ABOVE_BYTES = 768 << 20
"""Resident memory that a worker may keep between jobs, beyond what it began with."""

IDLE_S = 0.5
"""Without a job for so long, a worker collects its garbage."""

_OUT_OF_MEMORY_TEXTS = (
    "bad_alloc",
    "failed to map segment",
    "bad allocation",
    "failed to allocate memory",
    "cannot allocate memory",
    "out of memory",
)


def main() -> None:
    """Serve on the socket whose descriptor is the first argument, with no address space limit.

    Such a worker belongs to one asker and ends with their work: it is meant to keep a session,
    however large, for as many calls as it takes.
    """
    serve(socket.socket(fileno=int(sys.argv[1])), address_space=False, retires=False)


def serve(connection: socket.socket, *, address_space: bool, retires: bool = True) -> None:
    """Run jobs until the other end closes, or until it `retires` for what it has gathered."""
    channel = Channel(connection, trusted=True)
    resident_at_start = confinement.resident_bytes()
    for count in itertools.count(1):
        try:
            job = channel.receive()
        except EOFError:
            return
        if not isinstance(job, Job):
            raise TypeError(f"expected a job, got {type(job).__name__}")
        channel.send(Started(os.getpid()))
        outcome = _run(job, channel, address_space=address_space)
        if not retires:
            gc.collect()  # now: once this has answered, another worker may be timed
        spent = retires and (count >= RETIRE_AFTER_JOBS or _is_large(resident_at_start))
        _answer(channel, outcome, reusable=not spent and not confinement.has_children())
        if spent:
            return
        if retires:
            del job, outcome
            if not select.select([connection], [], [], IDLE_S)[0]:
                gc.collect()  # with a graph of ten thousand nodes 0.2 s; nobody waits for that


def _run(job: Job, channel: Channel, *, address_space: bool) -> Message | Exception:
    """Run the job; the error it raised if it did."""
    sys.path.extend(entry for entry in job.import_path if entry not in sys.path)
    os.chdir(job.folder)
    confinement.confine(job.limits, address_space=address_space)
    try:
        with job_in(Path(job.folder)):
            return Returned(_call(job, channel), reusable=True)
    except BaseException as error:  # whatever a job raises is its answer
        confinement.release()
        return _outcome(error)
    finally:
        confinement.release()
        os.chdir("/")


def _is_large(resident_at_start: int) -> bool:
    """Whether this process keeps more than it may between jobs, garbage not counted."""
    if confinement.resident_bytes() - resident_at_start < RETIRE_ABOVE_BYTES:
        return False
    gc.collect()
    return confinement.resident_bytes() - resident_at_start >= RETIRE_ABOVE_BYTES


def _call(job: Job, channel: Channel) -> object:
    if not _takes_progress(job.function):
        return job.function(*job.args)
    lock = threading.Lock()

    def report(text: str, fraction: float) -> None:
        with lock:
            channel.send(Progress(text, fraction))

    return job.function(*job.args, progress=report)


def _takes_progress(function: Callable[..., object]) -> bool:
    with contextlib.suppress(TypeError, ValueError):
        parameter = inspect.signature(function).parameters.get("progress")
        return parameter is not None and parameter.kind is inspect.Parameter.KEYWORD_ONLY
    return False


def _outcome(error: BaseException) -> Message:
    if isinstance(error, StudioError):
        return RaisedStudioError(type(error), error.args, dict(error.__dict__), reusable=True)
    text = str(error).lower()
    if isinstance(error, MemoryError) or any(part in text for part in _OUT_OF_MEMORY_TEXTS):
        return Exhausted("memory")
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return Exhausted("file size")
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return Exhausted("disk")
    summary = f"{type(error).__name__}: {error}"
    return Failed(summary, "".join(traceback.format_exception(error)))


def _answer(channel: Channel, outcome: Message | Exception, *, reusable: bool) -> None:
    if isinstance(outcome, Returned | RaisedStudioError):
        outcome = replace(outcome, reusable=reusable)
    try:
        channel.send(outcome)
    except OSError:
        raise SystemExit from None  # nobody is listening any more
    except Exception as error:  # the result does not pickle
        channel.send(_outcome(error))
