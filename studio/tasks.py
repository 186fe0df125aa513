"""Background work that pages start, follow and cancel.

A task is known by its key: two pages that want the same thing share one task. Pages never wait
for long; they look, draw what there is, and look again.
"""

from __future__ import annotations

import inspect
import logging
import threading
import time
import uuid
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from optimizer.errors import RunError, StudioError

Result = TypeVar("Result")
_LOG = logging.getLogger(__name__)
KEEP = 64
"""How many finished tasks are remembered."""
_SECONDS_TO_JUDGE = 2.0
_FRACTION_TO_JUDGE = 0.1


class Work(Protocol[Result]):  # pyright: ignore[reportInvalidTypeVarUse] - results only
    """What a task runs: it reports progress and asks whether it is still wanted.

    Work that has a parameter `partial` as well gets a function that publishes what is known so
    far; it ends up in the task's `partial`.
    """

    def __call__(
        self, *, progress: Callable[[str, float], None], cancelled: Callable[[], bool]
    ) -> Result:
        """Do the work."""
        ...


@dataclass(slots=True)
class Task(Generic[Result]):
    """One piece of work under way or done.

    Attributes:
        text: what is being done now.
        fraction: how far, 0 to 1; 0 when nobody knows.
        result: what it gave, once done.
        error: why it failed, once failed.
        partial: what is known so far, if the work publishes that; stays when it fails.
        started: on the monotonic clock, in seconds.
    """

    text: str = "waiting for a worker"
    fraction: float = 0.0
    result: Result | None = None
    error: StudioError | None = None
    partial: Any = None
    started: float = field(default_factory=time.monotonic)
    _done: threading.Event = field(default_factory=threading.Event)
    _cancel: threading.Event = field(default_factory=threading.Event)

    @property
    def done(self) -> bool:
        """Whether it has ended, one way or the other."""
        return self._done.is_set()

    @classmethod
    def failed(cls, error: StudioError) -> Task[Any]:
        """One that could not even begin."""
        task = cls(error=error)
        task._done.set()
        return task

    def wait(self, seconds: float) -> bool:
        """Wait a moment; True when it has ended."""
        return self._done.wait(seconds)

    def cancel(self) -> None:
        """Ask it to stop."""
        self._cancel.set()

    @property
    def cancelling(self) -> bool:
        """Whether it was asked to stop."""
        return self._cancel.is_set()

    @property
    def seconds_left(self) -> float | None:
        """How long it will still take if it goes on as it did; None while that is a guess."""
        spent = time.monotonic() - self.started
        if spent < _SECONDS_TO_JUDGE or self.fraction < _FRACTION_TO_JUDGE:
            return None
        return spent * (1 - min(1.0, self.fraction)) / self.fraction

    def report(self, text: str, fraction: float) -> None:
        """Note how far the work is."""
        self.text, self.fraction = text, fraction

    def publish(self, partial: object) -> None:
        """Note what is known so far."""
        self.partial = partial

    def run(self, work: Work[Result]) -> None:
        """Do the work; every failure ends up in `error`."""
        more: dict[str, Any] = {}
        if "partial" in inspect.signature(work).parameters:
            more["partial"] = self.publish
        try:
            self.result = work(progress=self.report, cancelled=self._cancel.is_set, **more)
        except StudioError as error:
            self.error = error
        except Exception:
            reference = uuid.uuid4().hex[:8]
            _LOG.exception("task failed, reference %s", reference)
            self.error = RunError(f"Passlens made a mistake here (reference {reference}).")
        finally:
            self._done.set()


class Tasks:
    """The tasks of a server, by key."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, Task[Any]] = {}
        self._lock = threading.Lock()

    def start(self, key: Hashable, work: Work[Result]) -> Task[Result]:
        """The task of this key; started now if there is none. `drop` a failed one to retry."""
        with self._lock:
            known = self._tasks.get(key)
            if known is not None:
                return known
            task: Task[Result] = Task()
            self._tasks[key] = task
            self._forget_old()
        threading.Thread(target=task.run, args=(work,), daemon=True, name="task").start()
        return task

    def get(self, key: Hashable) -> Task[Any] | None:
        """The task of this key, if there is one."""
        return self._tasks.get(key)

    def running(self, first: tuple[Hashable, ...]) -> dict[Hashable, Task[Any]]:
        """Tasks that have not ended, of those whose key begins so."""
        with self._lock:
            every = list(self._tasks.items())
        return {
            key: task
            for key, task in every
            if isinstance(key, tuple) and key[: len(first)] == first and not task.done
        }

    def drop(self, key: Hashable) -> None:
        """Forget a task, so that it can be tried again."""
        with self._lock:
            self._tasks.pop(key, None)

    def drop_failed(self, key: Hashable) -> None:
        """Forget a task if it has failed."""
        with self._lock:
            known = self._tasks.get(key)
            if known is not None and known.error is not None:
                del self._tasks[key]

    def drop_results(self, kinds: tuple[type, ...]) -> None:
        """Forget finished tasks whose results are of these classes."""
        with self._lock:
            for key, task in list(self._tasks.items()):
                if isinstance(task.result, kinds):
                    del self._tasks[key]

    def _forget_old(self) -> None:
        finished = [key for key, task in self._tasks.items() if task.done]
        for key in finished[: max(0, len(self._tasks) - KEEP)]:
            del self._tasks[key]
