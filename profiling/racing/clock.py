"""What all variants of a race share: the clock, the progress, the listener, the last moment."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator
from dataclasses import replace
from typing import Unpack

from optimizer.errors import RunError
from optimizer.isolation import Following, silent
from optimizer.limits import JobLimits
from profiling.racing.plan import RacePlan

_TELL_S = 0.5
_SET_UP_GUESS_S = 3.0
"""To start, create and first run; used until one variant has done it."""

_ALMOST = 0.99


class RaceClock:
    """One race under way.

    Args:
        plan: how much to run.
        variants: how many there are.
        following: told what is done and which share of the time has passed, and asked often.

    Attributes:
        turns_s: wall clock of all variants' turns so far, and of telling the listener.
    """

    def __init__(self, plan: RacePlan, variants: int, **following: Unpack[Following]) -> None:
        self.plan = plan
        self.cancelled = following.get("cancelled")
        self.turns_s = 0.0
        self._variants = variants
        self._progress = following.get("progress") or silent
        self._began = self._told = time.monotonic()
        self._fraction = 0.0
        self._left_s = variants * self._set_up_guess() + plan.seconds

    @property
    def elapsed_s(self) -> float:
        """Since the race began."""
        return time.monotonic() - self._began

    @property
    def over(self) -> bool:
        """Whether the time for the whole race is used up."""
        return self.elapsed_s >= self.plan.overall_seconds

    def limits(self) -> JobLimits:
        """For the next step of a worker.

        Raises:
            RunError: there is no time left for one.
        """
        left_s = self.plan.overall_seconds - self.elapsed_s
        if left_s <= 0:
            raise RunError(
                f"The race has used up its time (limit {self.plan.overall_seconds:g} s for "
                "everything); race fewer variants or smaller sizes, or raise the limit."
            )
        limits = self.plan.limits
        return replace(limits, seconds=min(limits.seconds, left_s))

    @contextlib.contextmanager
    def turn(self) -> Generator[None]:
        """Time that belongs to one variant, and in which the others wait."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.turns_s += time.monotonic() - began

    def report(self, text: str) -> None:
        """Say what comes next; the share that is done never falls."""
        elapsed_s = self.elapsed_s
        fraction = elapsed_s / (elapsed_s + self._left_s) if self._left_s > 0 else _ALMOST
        self._fraction = min(_ALMOST, max(self._fraction, fraction))
        self._progress(text, self._fraction)

    def expect_set_up(self, done: int, spent_s: float) -> None:
        """`done` variants took `spent_s` to get ready; more will take as long, then the rounds."""
        each_s = spent_s / done if done else self._set_up_guess()
        self._left_s = each_s * (self._variants - done) + self.plan.seconds

    def expect(self, left_s: float) -> None:
        """What is left of the race."""
        self._left_s = max(0.0, left_s)

    def due(self) -> bool:
        """Whether the listener should hear again; asking counts as telling."""
        now = time.monotonic()
        if now - self._told < _TELL_S:
            return False
        self._told = now
        return True

    def _set_up_guess(self) -> float:
        return _SET_UP_GUESS_S + self.plan.warm_up_seconds(self._variants) / 2
