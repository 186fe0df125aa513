"""Time variants against each other fairly.

Each variant has a fresh process of its own and keeps still while another one runs. Rounds go
there and back (A B, B A, A B, …) so that whatever drifts on the machine hits all alike. Outputs are
compared before a time is believed, and the device that really ran is checked.
"""

from __future__ import annotations

import datetime
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from optimizer.errors import Cancelled, RunError, StudioError
from optimizer.isolation import Progress
from optimizer.model.limits import JobLimits
from optimizer.verify import Feed, Tolerance, jobs
from optimizer.verify.comparison import Comparison, compare
from profiling.execution import runner
from profiling.machine import this_machine
from profiling.racing.race import Phases, Race, Timing, Variant
from profiling.racing.samples import warm_after
from profiling.workers import Bench, Worker, WorkerPool

Result = TypeVar("Result")

_BLOCK_MS = 60.0
"""A block runs about this long: much longer than a switch of processes, much shorter than drift."""

_ROUNDS = 12
_WARM_UP_BLOCK = 5
_WARM_UP_RUNS = 60
_WARM_UP_SHARE = 0.25
_LIMITS = JobLimits(seconds=600.0)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to run.

    Attributes:
        runs: steady runs of each variant, if they fit into the time.
        seconds: for the steady state of all variants; warm-up may take a quarter of that again.
        transfers: on a GPU, whether copies from and to the host belong to a run.
        tolerance: what outputs are held to.
        request: how inputs are filled.
        limits: of every single step of a worker.
    """

    runs: int = 200
    seconds: float = 20.0
    transfers: bool = True
    tolerance: Tolerance = field(default_factory=Tolerance)
    request: jobs.Request = field(default_factory=lambda: jobs.Request(seeds=1))
    limits: JobLimits = _LIMITS


def measure(
    variants: Sequence[Variant],
    *,
    pool: WorkerPool,
    plan: Plan | None = None,
    feeds: Sequence[Feed] | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Race:
    """Race the variants; the first is the baseline, and its file says what is right.

    A variant that fails keeps what it has and an error; the others go on.

    Raises:
        StudioError: no variants, equal labels, or a first model that runs on no inputs.
        Cancelled: if `cancelled` said so.
    """
    plan = _checked(variants, plan or Plan(), feeds)
    track = _Track(plan, progress or _silent, cancelled)
    started, began = datetime.datetime.now(datetime.UTC), time.monotonic()
    with (
        pool.measuring(cancelled=cancelled) as bench,
        tempfile.TemporaryDirectory(prefix="passlens-race-") as folder,
    ):
        machine = this_machine()
        track.report(f"{variants[0].label}: looking for inputs", 0.0)
        reference = pool(
            jobs.run_reference, variants[0].model, plan.request,
            limits=plan.limits, cancelled=cancelled,
        )  # fmt: skip
        timings = _timed(variants, Path(folder), bench, reference=reference, track=track)
    return Race(
        timings,
        reference.feeds,
        plan.transfers,
        machine,
        os.getloadavg()[0],
        started.isoformat(timespec="seconds"),
        time.monotonic() - began,
    )


def _checked(variants: Sequence[Variant], plan: Plan, feeds: Sequence[Feed] | None) -> Plan:
    labels = [variant.label for variant in variants]
    if not labels or len(set(labels)) != len(labels):
        raise StudioError("A race needs variants with labels of their own.")
    if feeds is None:
        return plan
    return replace(plan, request=replace(plan.request, feeds=tuple(feeds)))


def _timed(
    variants: Sequence[Variant],
    folder: Path,
    bench: Bench,
    *,
    reference: jobs.Reference,
    track: _Track,
) -> tuple[Timing, ...]:
    runners = [
        _Runner(variant, _as_file(variant.model, folder / f"{index}.onnx"), track)
        for index, variant in enumerate(variants)
    ]
    for entry in runners:
        entry.attempt(lambda entry=entry: entry.prepare(bench.worker(fresh=True), reference))
    _run_rounds(runners, track)
    for entry in runners:
        entry.attempt(entry.finish)
    return tuple(entry.timing for entry in runners)


@dataclass(slots=True)
class _Track:
    """What all runners of a race share."""

    plan: Plan
    report: Progress
    cancelled: Callable[[], bool] | None


class _Runner:
    """One variant on its worker."""

    def __init__(self, variant: Variant, model: Path, track: _Track) -> None:
        self.timing = Timing(variant.label, variant.config)
        self.block_runs = 1
        self._model = model
        self._track = track
        self._worker: Worker | None = None

    @property
    def running(self) -> bool:
        """Whether there is a session to time."""
        return not self.timing.error

    def attempt(self, step: Callable[[], None]) -> None:
        """Do one step; a failure is this variant's alone."""
        if self.timing.error:
            return
        try:
            step()
        except Cancelled:
            raise
        except RunError as error:
            self.timing = replace(self.timing, error=error.message)

    def prepare(self, worker: Worker, reference: jobs.Reference) -> None:
        """Create the session, check the first run's outputs, warm up."""
        self._worker = worker
        config, plan = self.timing.config, self._track.plan
        self._report("creating the session", 0.05)
        opened = self._run(runner.open_variant, self._model, config)
        on_host = config.device == "cpu" or (plan.transfers and not config.cuda_graph)
        device = "host" if on_host else f"cuda:{config.device_id}"
        first = reference.runs[0]
        self._report("first run", 0.1)
        first_ms, outputs = self._run(
            runner.first_run, dict(first.inputs), dict(first.outputs), device
        )
        compared = compare(
            first.outputs, outputs, tolerance=plan.tolerance, random=reference.random
        )
        compared += tuple(
            Comparison(name, ok=False, reason="the output is missing")
            for name in first.outputs
            if name not in outputs
        )
        self.timing = replace(
            self.timing,
            providers=opened.providers,
            nodes_on=opened.nodes_on,
            outputs=compared,
            phases=Phases(opened.import_ms, opened.create_ms, first_ms, ()),
        )
        self._warm_up(opened, first_ms)

    def _warm_up(self, opened: runner.Opened, first_ms: float) -> None:
        plan = self._track.plan
        budget_ms = 1000 * plan.seconds * _WARM_UP_SHARE
        latencies: list[float] = []
        while len(latencies) < _WARM_UP_RUNS and sum(latencies) < budget_ms:
            self._report("warming up", 0.15)
            latencies += self._run(runner.run_block, _WARM_UP_BLOCK if first_ms < 1000 else 1)
            if len(latencies) >= 4 * _WARM_UP_BLOCK and warm_after(latencies) <= len(latencies) / 2:
                break
        steady = float(np.median(latencies[warm_after(latencies) :]))
        fitting = round(_BLOCK_MS / max(steady, 1e-3))
        self.block_runs = max(1, min(fitting, plan.runs // _ROUNDS))
        phases = Phases(opened.import_ms, opened.create_ms, first_ms, tuple(latencies))
        self.timing = replace(self.timing, phases=phases)

    def run_block(self) -> None:
        """One block of the steady state."""
        block = self._run(runner.run_block, self.block_runs)
        self.timing = replace(self.timing, blocks_ms=(*self.timing.blocks_ms, tuple(block)))

    def finish(self) -> None:
        """Ask for the memory before the process ends."""
        peak_bytes = self._run(runner.peak_resident_bytes)
        self.timing = replace(self.timing, peak_bytes=peak_bytes)

    def _run(self, function: Callable[..., Result], *args: object) -> Result:
        if self._worker is None:
            raise TypeError("the variant has no worker yet")
        return self._worker.run(
            function, *args, limits=self._track.plan.limits, cancelled=self._track.cancelled
        )

    def _report(self, text: str, fraction: float) -> None:
        self._track.report(f"{self.timing.label}: {text}", fraction)


def _run_rounds(runners: Sequence[_Runner], track: _Track) -> None:
    """Blocks in turn, there and back, until runs or time are used up."""
    plan = track.plan
    began = time.monotonic()
    number = 0
    while any(entry.running for entry in runners):
        spent = time.monotonic() - began
        done = min(
            (len(entry.timing.latencies_ms) for entry in runners if entry.running), default=0
        )
        if done >= plan.runs or (number and spent > plan.seconds):
            return
        track.report(f"round {number + 1}", 0.2 + 0.8 * max(done / plan.runs, spent / plan.seconds))
        for entry in runners if number % 2 == 0 else reversed(runners):
            entry.attempt(entry.run_block)
        number += 1


def _as_file(model: bytes | Path, path: Path) -> Path:
    if isinstance(model, Path):
        return model.absolute()
    path.write_bytes(model)
    return path


def _silent(_text: str, _fraction: float) -> None:
    """Progress for nobody."""
