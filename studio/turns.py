"""Whose turn it is to ask passes: those who wait for the answer before those who ask ahead.

What is asked ahead is asked a little at a time, by one at a time, and only while nobody waits; so
who does wait finds the worker that has the run open free, or soon so.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

QUIET_SECONDS = 0.3
"""After an answer: its reader may be about to ask for the next part."""
RESTING_SECONDS = 8.0
"""After a rest: where somebody goes from step to step the next rest is near, and what is known of
a step near it is worth more than what the source has to tell."""


class Turns:
    """The turns of a server: each is about a run, which is known by its folder."""

    def __init__(
        self, *, quiet_seconds: float = QUIET_SECONDS, resting_seconds: float = RESTING_SECONDS
    ) -> None:
        """Nobody asks, nobody rests."""
        self._changed = threading.Condition()
        self._quiet_seconds = quiet_seconds
        self._quiet_from = 0.0
        self._resting_seconds = resting_seconds
        self._rested = dict[Path, float]()
        self._waiting = 0
        self._ahead: Path | None = None
        self._rests: dict[Path, int] = {}

    @property
    def is_waited_for(self) -> bool:
        """Whether anybody waits for an answer."""
        return self._waiting > 0

    @contextmanager
    def answering(self, run: Path) -> Generator[None]:
        """For who waits for an answer: at once, but for what is being asked ahead of this run."""
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: self._ahead != run)
        try:
            yield
        finally:
            with self._changed:
                self._waiting -= 1
                self._quiet_from = time.monotonic() + self._quiet_seconds
                self._changed.notify_all()

    def rest(self, run: Path, step: int) -> None:
        """Somebody rests at a step: what was to be asked ahead of another one no longer is."""
        with self._changed:
            self._rests[run] = step
            recent = (now := time.monotonic()) - self._resting_seconds
            self._rested = {one: at for one, at in self._rested.items() if at > recent}
            self._rested[run] = now
            self._changed.notify_all()

    def leave(self, run: Path, step: int) -> None:
        """It is no longer to be asked about."""
        with self._changed:
            if self._rests.get(run) == step:
                del self._rests[run]
            self._changed.notify_all()

    @contextmanager
    def ahead(self, run: Path, step: int) -> Generator[bool]:
        """A turn for a little of what is asked ahead; whether the step is asked about still.

        The source is, always, but some time after the step at which somebody rests.
        """
        with self._changed:
            while (wanted := self._wanted(run, step)) and (busy := self._busy(run, step)):
                self._changed.wait(busy)
            if wanted:
                self._ahead = run
        try:
            yield wanted
        finally:
            if wanted:
                with self._changed:
                    self._ahead = None
                    self._changed.notify_all()

    def _wanted(self, run: Path, step: int) -> bool:
        return step == 0 or self._rests.get(run) == step

    def _busy(self, run: Path, step: int) -> float:
        """Seconds after which to look again, if nobody tells before; 0 where it is the turn."""
        if self._waiting or self._ahead or (step == 0 and run in self._rests):
            return threading.TIMEOUT_MAX
        if step:  # where somebody rests, they have been answered
            return 0.0
        rested = self._rested.get(run, -math.inf) + self._resting_seconds
        return max(0.0, max(self._quiet_from, rested) - time.monotonic())
