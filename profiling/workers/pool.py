"""The pool: the one door to native code, shared by all browser sessions of a server."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TypeVar, Unpack, cast

from optimizer.errors import Cancelled, Stopping
from optimizer.isolation import JobOptions
from optimizer.limits import JobLimits
from profiling.workers import outcome
from profiling.workers.job import RunningJob, StaleWorker
from profiling.workers.launcher import PRELOADED, ForkServer, Process

Result = TypeVar("Result")
IsCancelled = Callable[[], bool]

_TICK_S = 0.05
_MAX_ATTEMPTS = 3
_PATIENCE_S = 3.0
"""For the worker that has open what a job is about: to open it again takes as long."""
_MOST_AFFINITIES = 3
"""What the last jobs of a worker were about; it has little more open than that."""
_DEFAULT_LIMITS = JobLimits()
_CANCELLED = "Cancelled while waiting for a free worker."


class Worker:
    """One worker process that keeps its state (module globals) from call to call."""

    def __init__(self, pool: WorkerPool, process: Process, *, fresh: bool) -> None:
        self._pool = pool
        self._process = process
        self._fresh = fresh
        self._jobs = itertools.count(1)
        self.affinities = deque[str](maxlen=_MOST_AFFINITIES)
        self.reusable = True

    def run(
        self, function: Callable[..., Result], *args: object, **options: Unpack[JobOptions]
    ) -> Result:
        """`function(*args)`, computed in this worker. After a `RunError` the worker is gone."""
        folder = self._pool.folder / f"w{id(self)}-{next(self._jobs)}"
        limits = options.pop("limits", _DEFAULT_LIMITS)
        self._note(options.pop("affinity", ""))
        job = RunningJob(self._process, folder, limits, watch_resident=self._fresh)
        self.reusable = False
        try:
            result = job.run(function, args, **options)
        finally:
            self.reusable = job.reusable
            if not self.reusable:
                self._process.kill()
        return cast("Result", result)

    def _note(self, affinity: str) -> None:
        if affinity in self.affinities:
            self.affinities.remove(affinity)
        if affinity:
            self.affinities.append(affinity)

    @property
    def alive(self) -> bool:
        """Whether the process is there to take a job."""
        return self.reusable and not self._process.ended.is_set()

    def close(self) -> None:
        """End the process and everything it started."""
        self.reusable = False
        self._process.kill()
        self._process.close()


class MeasuringWorkers:
    """Workers that hold still while one of them measures."""

    def __init__(self, pool: WorkerPool, workers: contextlib.ExitStack) -> None:
        self._pool = pool
        self._workers = workers

    def worker(self, *, fresh: bool = False) -> Worker:
        """A new worker that lives as long as the bench; `fresh` for CUDA."""
        worker = self._pool.start(fresh=fresh)
        self._workers.callback(worker.close)
        return worker


class WorkerPool:
    """Runs functions in worker processes; implements `optimizer.isolation.Isolate`.

    Thread-safe. Idle workers are used again; one that crashed, ran out of something, raised an
    unexpected error or left a child behind is not.

    Args:
        size: jobs at a time; by default one a processor, at least two.
        modules: imported before the first job; with none, a job imports what it needs, which is
            less work where there are few of them.
    """

    def __init__(self, *, size: int | None = None, modules: Sequence[str] = PRELOADED) -> None:
        self._modules = modules
        self._slots = threading.Semaphore(size or max(2, os.cpu_count() or 1))
        self._measuring = threading.Lock()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._idle: list[Worker] = []
        self._busy: list[Worker] = []
        self._server: ForkServer | None = None
        self._closed = False

    def __call__(
        self, function: Callable[..., Result], *args: object, **options: Unpack[JobOptions]
    ) -> Result:
        """`function(*args)`, computed in a worker process.

        A function with a keyword-only parameter `progress` is handed one to report with.

        Raises:
            RunError: the worker crashed, ran out of time or memory, or was cancelled.
            StudioError: whatever the function itself raised from our tree.
            Stopping: the pool is closed, or is while it runs.
        """
        affinity = options.get("affinity", "")
        self._wait_for_near(affinity, options.get("cancelled"))
        with self._turn(options.get("cancelled")):
            for attempt in range(_MAX_ATTEMPTS):
                worker = self._take(affinity)
                try:
                    return worker.run(function, *args, **options)
                except StaleWorker:
                    if attempt == _MAX_ATTEMPTS - 1:
                        raise outcome.crashed("start of a worker", None, "") from None
                finally:
                    self._give_back(worker)
        raise AssertionError("unreachable")

    def run_fresh(
        self, function: Callable[..., Result], *args: object, **options: Unpack[JobOptions]
    ) -> Result:
        """`function(*args)` in an interpreter of its own: CUDA does not survive a fork."""
        with (
            self._turn(options.get("cancelled")),
            contextlib.closing(self.start(fresh=True)) as worker,
        ):
            return worker.run(function, *args, **options)

    @contextlib.contextmanager
    def measuring(self, *, cancelled: IsCancelled | None = None) -> Generator[MeasuringWorkers]:
        """A bench for timing; there is only one, so that no two timings run at a time."""
        _acquire(self._measuring, cancelled)
        try:
            with contextlib.ExitStack() as workers:
                yield MeasuringWorkers(self, workers)
        finally:
            self._measuring.release()

    def start(self, *, fresh: bool = False) -> Worker:
        """A new worker outside the pool's bookkeeping; its user closes it.

        Raises:
            Stopping: the pool is closed.
        """
        with self._lock:
            if self._closed:
                raise Stopping
            if self._server is None or not self._server.alive:
                self._end_server()
                self._server = ForkServer(modules=self._modules)
            server = self._server
        return Worker(self, server.launch(fresh=fresh), fresh=fresh)

    @property
    def folder(self) -> Path:
        """Where the workers' private folders are.

        Raises:
            Stopping: the pool is closed.
        """
        server = self._server
        if server is None:
            raise Stopping
        return server.folder

    def warm(self) -> None:
        """Start the fork server now, so that the first job does not wait for its imports."""
        with contextlib.suppress(Stopping):
            self._give_back(self.start())

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def close(self) -> None:
        """Kill all workers. The pool cannot be used afterwards."""
        with self._lock:
            self._closed = True
            self._end_server()

    @contextlib.contextmanager
    def _turn(self, cancelled: IsCancelled | None) -> Generator[None]:
        _acquire(self._slots, cancelled)
        try:
            yield
        finally:
            self._slots.release()

    def _wait_for_near(self, affinity: str, cancelled: IsCancelled | None) -> None:
        """Wait while the worker that has open what a job is about is busy, but not for long."""
        until = time.monotonic() + _PATIENCE_S
        with self._changed:
            while any(affinity in one.affinities for one in self._busy):
                left = until - time.monotonic()
                if left <= 0:
                    return
                self._changed.wait(left if cancelled is None else min(left, _TICK_S))
                if cancelled is not None and cancelled():
                    raise Cancelled(_CANCELLED)

    def _take(self, affinity: str) -> Worker:
        """A worker that had a job about the same, else one that others need least, or a new one.

        What is about something may be asked about again, by who has just had the worker that was
        idle last; what is about nothing goes to the one that has been idle longest.
        """
        while True:
            with self._lock:
                if not self._idle:
                    break
                near = (one for one in reversed(self._idle) if affinity in one.affinities)
                worker = next(near, self._idle[-1 if affinity else 0])
                self._idle.remove(worker)
                self._busy.append(worker)
            if worker.alive:
                return worker
            self._give_back(worker)
        worker = self.start()
        with self._lock:
            self._busy.append(worker)
        return worker

    def _give_back(self, worker: Worker) -> None:
        with self._changed:
            keep = worker.alive and not self._closed
            if keep:
                self._idle.append(worker)
            if worker in self._busy:
                self._busy.remove(worker)
            self._changed.notify_all()
        if not keep:
            worker.close()

    def _end_server(self) -> None:
        for worker in self._idle:
            worker.close()
        self._idle.clear()
        if self._server is not None:
            self._server.close()
        self._server = None


def _acquire(lock: threading.Lock | threading.Semaphore, cancelled: IsCancelled | None) -> None:
    if cancelled is None:
        lock.acquire()
        return
    while not lock.acquire(timeout=_TICK_S):
        if cancelled():
            raise Cancelled(_CANCELLED)


_default: WorkerPool | None = None
_default_lock = threading.Lock()


def default_pool() -> WorkerPool:
    """The process-wide pool, closed when the process ends; a closed one is replaced."""
    global _default
    with _default_lock:
        if _default is None or _default.closed:
            _default = WorkerPool()
            atexit.register(_default.close)
        return _default
