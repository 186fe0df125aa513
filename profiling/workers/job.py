"""One job on one worker, from the asking side: send it, follow it, judge how it ended."""

from __future__ import annotations

import select
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Unpack

from optimizer.errors import RunError, Stopping, quoted
from optimizer.isolation import Following
from optimizer.limits import JobLimits
from profiling.workers import confinement, outcome
from profiling.workers.launcher import Process
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

_TICK_S, _LONG_TICK_S = 0.05, 0.5
"""How often to look at what nobody tells: cancelling and memory; the end of a worker that has left
its descriptors to a child."""
_LAST_WORDS_S = 2.0
"""How long to wait for a dead worker's exit code."""


class StaleWorker(RunError):
    """The worker was gone before the job reached it; the pool takes another one."""

    def __init__(self) -> None:
        super().__init__("The worker process was gone before the job reached it; try again.")


class RunningJob:
    """Follows one job to its end.

    Args:
        process: an idle worker.
        folder: a folder for this job alone; made and removed here.
        watch_resident: hold the memory limit by looking at resident memory instead of leaving it
            to the kernel's address space limit.
    """

    def __init__(
        self, process: Process, folder: Path, limits: JobLimits, *, watch_resident: bool
    ) -> None:
        self.reusable = False
        self._process = process
        self._folder = folder
        self._limits = limits
        self._watch_resident = watch_resident
        self._started: Started | None = None
        self._resident_at_start = 0
        self._job = "a job"
        self._step = ""

    def run(
        self,
        function: Callable[..., object],
        args: tuple[object, ...],
        **following: Unpack[Following],
    ) -> object:
        """`function(*args)` as the worker computed it.

        Raises:
            StaleWorker: the job was not begun.
            RunError: it was, and did not end well.
        """
        self._job = _name(function)
        self._folder.mkdir(mode=0o700, parents=True)
        job = Job(function, args, self._limits, str(self._folder), tuple(sys.path))
        deadline = time.monotonic() + self._limits.seconds
        progress, cancelled = following.get("progress"), following.get("cancelled")
        try:
            self._process.take_stderr()
            self._send(job)
            while True:
                match message := self._next(deadline, cancelled):
                    case Started():
                        self._started = message
                        self._resident_at_start = confinement.resident_bytes(message.pid)
                    case Progress():
                        self._step = message.text
                        if progress is not None:
                            progress(message.text, message.fraction)
                    case _:
                        return self._result(message)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _send(self, job: Job) -> None:
        try:
            self._process.channel.send(job, timeout_s=self._limits.seconds)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise StaleWorker() from error

    def _next(self, deadline: float, cancelled: Callable[[], bool] | None) -> Message:
        """The next message, while nothing runs out."""
        poll = select.poll()
        poll.register(self._process.channel, select.POLLIN)
        poll.register(self._process.stderr_fileno(), select.POLLIN)
        is_watched = cancelled is not None or self._watch_resident
        tick_s = _TICK_S if is_watched else _LONG_TICK_S
        while True:
            if cancelled is not None and cancelled():
                raise outcome.cancelled(self._step)
            left_s = max(0.0, deadline - time.monotonic())
            ready = [descriptor for descriptor, _ in poll.poll(min(tick_s, left_s) * 1000)]
            if self._process.stderr_fileno() in ready and not self._process.read_stderr():
                poll.unregister(self._process.stderr_fileno())
            if self._process.channel.fileno() in ready:
                return self._receive(deadline)
            if self._process.ended.is_set():
                raise self._death()
            if time.monotonic() > deadline:
                raise outcome.timed_out(self._where(), self._limits)
            if self._watch_resident and self._is_too_large():
                raise outcome.exhausted(self._where(), "memory", self._limits)

    def _receive(self, deadline: float) -> Message:
        try:
            left = max(0.1, deadline - time.monotonic())
            message = self._process.channel.receive(timeout_s=left)
        except TimeoutError:
            raise outcome.timed_out(self._where(), self._limits) from None
        except (EOFError, ConnectionError):
            raise self._death() from None
        except Exception as error:  # whatever a broken pickle raises
            message = error
        if not isinstance(message, Message):
            raise outcome.unreadable(self._where(), message)
        return message

    def _result(self, message: Returned | RaisedStudioError | Exhausted | Failed) -> object:
        match message:
            case Returned():
                self.reusable = message.reusable
                return message.result
            case RaisedStudioError():
                self.reusable = message.reusable
                raise outcome.refused(message)
            case Exhausted():
                raise outcome.exhausted(self._where(), message.resource, self._limits)
            case Failed():
                raise outcome.failed(self._where(), message)

    def _death(self) -> Exception:
        self._process.ended.wait(_LAST_WORDS_S)
        if self._process.stopping:
            return Stopping()
        if self._started is None:
            return StaleWorker()
        return outcome.crashed(
            self._where(), self._process.exit_code, self._process.take_stderr().strip()
        )

    def _where(self) -> str:
        return f"{self._job}, step {quoted(self._step)}" if self._step else self._job

    def _is_too_large(self) -> bool:
        bound = self._limits.memory_bytes
        if bound is None or self._started is None:
            return False
        return confinement.resident_bytes(self._started.pid) - self._resident_at_start > bound


def _name(function: Callable[..., object]) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return quoted(str(name).strip("_").replace("_", " "))
