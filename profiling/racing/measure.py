"""Time variants against each other fairly.

Each variant has a fresh process of its own and keeps still while another one runs. The order
changes from round to round (A B, B A, …), so that whatever drifts on the machine hits all alike.
Outputs are compared before a time is believed, and the device that really ran is checked.
"""

from __future__ import annotations

import datetime
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from optimizer.errors import Cancelled, RunError, StudioError
from optimizer.isolation import Following
from optimizer.verify import Feed, jobs
from optimizer.verify.runtime import NotRunnable
from profiling.machine import Machine, this_machine
from profiling.racing.clock import RaceClock
from profiling.racing.plan import RacePlan, schedule
from profiling.racing.race import Race, Variant
from profiling.racing.runners import Runner
from profiling.workers import MeasuringWorkers, WorkerPool

__all__ = ["Observe", "RacePlan", "Variant", "measure"]

Observe = Callable[[Race], None]


def measure(
    variants: Sequence[Variant],
    *,
    pool: WorkerPool,
    plan: RacePlan | None = None,
    feeds: Sequence[Feed] | None = None,
    observe: Observe | None = None,
    **following: Unpack[Following],
) -> Race:
    """Race the variants; the first is the baseline, and its file says what is right.

    A variant that fails keeps what it has and an error; the others go on. If it is the first, the
    next one that runs takes its place.

    Args:
        variants: with labels of their own.
        pool: where they run.
        plan: how much to run.
        feeds: how to fill the inputs, instead of what the first model suggests.
        observe: gets the race as far as it is known, at most twice a second.
        following: told what is done and which share of the time has passed, and asked often.

    Raises:
        StudioError: no variants, equal labels, or no model that runs on any inputs.
        Cancelled: if `cancelled` said so.
    """
    plan = _checked(variants, plan or RacePlan(), feeds).on_this_machine()
    clock = RaceClock(plan, len(variants), **following)
    with (
        pool.measuring(cancelled=clock.cancelled) as bench,
        tempfile.TemporaryDirectory(prefix="passlens-race-") as folder,
    ):
        race = _Racing(variants, Path(folder), clock, observe)
        race.run(pool, bench)
        return race.so_far()


def _checked(variants: Sequence[Variant], plan: RacePlan, feeds: Sequence[Feed] | None) -> RacePlan:
    labels = [variant.label for variant in variants]
    if not labels or len(set(labels)) != len(labels):
        raise StudioError("A race needs variants with labels of their own.")
    if feeds is None:
        return plan
    return replace(plan, request=replace(plan.request, feeds=tuple(feeds)))


def _find_reference(
    variants: Sequence[Variant],
    pool: WorkerPool,
    clock: RaceClock,
    *,
    fail: Callable[[Variant, str], None],
) -> jobs.Reference:
    """What the first model does that runs, plainly, on one thread of the CPU.

    Args:
        variants: in order of preference.
        pool: runs the models.
        clock: limits, and whether somebody wants to stop.
        fail: told about variants whose model brought its worker down here already.

    Raises:
        RunError: no model runs; the first one's reason.
    """
    reasons: list[RunError] = []
    tried: list[object] = []
    for variant in variants:
        if variant.model in tried:
            continue
        tried.append(variant.model)
        clock.report(f"{variant.label}: looking for inputs")
        try:
            return pool(
                jobs.run_reference, variant.model, clock.plan.request,
                limits=clock.limits(), cancelled=clock.cancelled,
            )  # fmt: skip
        except Cancelled:
            raise
        except RunError as error:
            reasons.append(error)
            if not isinstance(error, NotRunnable):  # a device of its own may still run it
                for twin in variants:
                    if twin.model == variant.model:
                        fail(twin, error.message)
    raise reasons[0]


class _Racing:
    """The steps of one race, in order."""

    def __init__(
        self, variants: Sequence[Variant], folder: Path, clock: RaceClock, observe: Observe | None
    ) -> None:
        self._variants = variants
        self._clock = clock
        self._observe = observe
        self._feeds: tuple[Feed, ...] = ()
        self._machine: Machine = this_machine()
        self._started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self._runners = [
            Runner(variant, folder / f"{index}.onnx", clock)
            for index, variant in enumerate(variants)
        ]

    def so_far(self) -> Race:
        """What is known now."""
        return Race(
            tuple(entry.timing for entry in self._runners),
            self._feeds,
            self._clock.plan.transfers,
            self._machine,
            os.getloadavg()[0],
            self._started,
            self._clock.elapsed_s,
        )

    def run(self, pool: WorkerPool, bench: MeasuringWorkers) -> None:
        """Find inputs, make every variant ready, time them in rounds."""
        by_label = {entry.timing.label: entry for entry in self._runners}
        reference = _find_reference(
            self._variants, pool, self._clock,
            fail=lambda variant, reason: by_label[variant.label].fail(reason),
        )  # fmt: skip
        self._feeds = reference.feeds
        began_s = time.monotonic()
        for done, entry in enumerate(self._runners):
            self._clock.expect_set_up(done, time.monotonic() - began_s)
            self._prepare(entry, pool, bench, reference)
        self._run_rounds()
        for entry in self._runners:
            entry.attempt(entry.finish)
        for entry in self._runners:
            entry.look_inside(pool)

    def _prepare(
        self, entry: Runner, pool: WorkerPool, bench: MeasuringWorkers, reference: jobs.Reference
    ) -> None:
        label = entry.timing.label
        self._step(entry, f"{label}: building its kernels", lambda: entry.build(pool))
        self._step(entry, f"{label}: starting a process", lambda: entry.start(bench))
        self._step(entry, f"{label}: creating the session", entry.open)
        self._step(entry, f"{label}: first run", lambda: entry.run_first(reference))
        while entry.running and not entry.warm:
            self._step(
                entry, f"{label}: warming up", lambda: entry.warm_up(len(self._variants))
            )  # fmt: skip

    def _step(self, entry: Runner, text: str, step: Callable[[], None]) -> None:
        if entry.running:
            self._clock.report(text)
            entry.attempt(step)
            self._tell()

    def _run_rounds(self) -> None:
        """Blocks in turn until runs and rounds are done, or the time is up."""
        plan, clock = self._clock.plan, self._clock
        began_s, number = time.monotonic(), 0
        turns = schedule(len(self._runners))
        while any(entry.running for entry in self._runners):
            spent_s = time.monotonic() - began_s
            if number and (spent_s > plan.seconds or clock.over or self._enough(number)):
                return
            clock.expect(self._left_s(number, spent_s))
            clock.report(f"round {number + 1}")
            for index in next(turns):
                entry = self._runners[index]
                entry.attempt(entry.run_block)
                for other in self._runners:
                    other.notice_death()
                self._tell()
            number += 1

    def _enough(self, rounds: int) -> bool:
        plan = self._clock.plan
        if rounds < plan.rounds or self._fewest_runs() < plan.runs:
            return False
        return not plan.precision or self.so_far().settled(plan.precision)

    def _left_s(self, rounds: int, spent_s: float) -> float:
        """Seconds the rounds will still take, judged by those that were run."""
        plan = self._clock.plan
        left_s = plan.seconds - spent_s
        if plan.precision:
            return left_s
        if rounds:
            runs = self._fewest_runs()
            wanted = max(plan.rounds, rounds * plan.runs / max(1, runs))
            return min(left_s, spent_s * (wanted / rounds - 1))
        return min(left_s, sum(entry.expected_s for entry in self._runners if entry.running))

    def _fewest_runs(self) -> int:
        return min(
            (len(entry.timing.latencies_ms) for entry in self._runners if entry.running), default=0
        )

    def _tell(self) -> None:
        if self._observe is not None and self._clock.due():
            with self._clock.turn():
                self._observe(self.so_far())
