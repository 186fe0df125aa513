"""One variant of a race on the worker that is its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from optimizer.errors import Cancelled, RunError, StudioError
from optimizer.isolation import Isolate
from optimizer.model.generated_functions import generated_names
from optimizer.numbers import bytes_text, counted
from optimizer.verify import jobs
from optimizer.verify.comparison import Comparison, Tolerance, compare
from profiling.codegen.store import build_missing
from profiling.config import RunConfig
from profiling.config.advice import may_fuse
from profiling.execution import runner
from profiling.execution.slow_fusions import written_slow
from profiling.racing.clock import RaceClock
from profiling.racing.plan import RacePlan
from profiling.racing.race import Phases, Timing, Variant
from profiling.racing.samples import warm_after
from profiling.tvm.store import library_by_tvm
from profiling.workers import MeasuringWorkers, Worker
from profiling.workers.job import StaleWorker

Result = TypeVar("Result")

_WARM_UP_BLOCK = 5
_WARM_UP_RUNS = 60
_SLOW_MS = 1000.0
"""Runs as long as this are asked for one by one."""

TF32_RTOL = 1e-2
"""Share of an output's scale that TF32 may be off over a deep network."""


def _tolerance(config: RunConfig, plan: RacePlan) -> Tolerance:
    """The plan's; no tighter than what a GPU's tensor cores keep where the variant asks for them.

    They round a float32 factor to 10 bits of mantissa, also where the plan knows nothing of it.
    """
    reduced = config.device != "cpu" and config.tf32
    if not reduced or plan.tolerance.exact:
        return plan.tolerance
    return replace(plan.tolerance, rtol=max(plan.tolerance.rtol, TF32_RTOL))


class Runner:
    """One variant on its worker; every step is a turn in which the others wait.

    Args:
        variant: what is run.
        place: where its file goes if it is only bytes.
        clock: shared by all.

    Attributes:
        timing: what is known so far.
        block_runs: runs in a block of the steady state.
        warm: whether the warm-up is over.
    """

    def __init__(self, variant: Variant, place: Path, clock: RaceClock) -> None:
        self.timing = Timing(variant.label, variant.config)
        self.block_runs = 1
        self.warm = False
        self._model = variant.model
        self._place = place
        self._clock = clock
        self._worker: Worker | None = None
        self._began_s = time.monotonic()
        self._turns_before_s = clock.turns_s
        self._turns_s = 0.0

    @property
    def running(self) -> bool:
        """Whether there is a session to time."""
        return not self.timing.error

    @property
    def expected_s(self) -> float:
        """Seconds of its steady state if it goes on as in the warm-up."""
        plan, latencies = self._clock.plan, self._phases.warm_up_ms
        if not latencies:
            return plan.seconds
        runs = max(plan.runs, plan.rounds * self.block_runs)
        return runs * float(np.median(latencies)) / 1000

    def fail(self, reason: str) -> None:
        """Nothing more is to be expected; what there is stays."""
        self.timing = replace(self.timing, error=reason)

    def attempt(self, step: Callable[[], None]) -> None:
        """Do one step; a failure is this variant's alone."""
        if self.timing.error:
            return
        began = time.monotonic()
        try:
            with self._clock.turn():
                step()
        except Cancelled:
            raise
        except StaleWorker:
            self.fail(self._gone())
        except RunError as error:
            self.fail(error.message)
        self._turns_s += time.monotonic() - began
        self._account()

    def notice_death(self) -> None:
        """Have a worker that died between its turns on record at once."""
        if not self.timing.error and self._worker is not None and not self._worker.alive:
            self.fail(self._gone())

    def build(self, isolate: Isolate) -> None:
        """Have its generated kernels compiled, where neither time nor memory is measured."""
        config = self.timing.config
        model = self._file()
        if (
            config.generated_kernels == "off"
            or config.device != "cpu"
            or not generated_names(model)
        ):
            return
        if config.generated_kernels == "tvm":
            limits, cancelled = self._clock.limits(), self._clock.cancelled
            isolate(library_by_tvm, model, limits=limits, cancelled=cancelled)
            return
        left_out = isolate(
            build_missing,
            model,
            config.generated_kernels,
            limits=self._clock.limits(),
            cancelled=self._clock.cancelled,
        )
        self.timing = replace(self.timing, left_out=left_out)

    def start(self, bench: MeasuringWorkers) -> None:
        """A fresh process that takes work."""
        self._began_s, self._turns_before_s = time.monotonic(), self._clock.turns_s
        self._turns_s = 0.0
        self._worker = bench.worker(fresh=True)
        self._run(runner.ready)
        start_ms = 1000 * (time.monotonic() - self._began_s)
        self.timing = replace(self.timing, phases=Phases(0.0, 0.0, 0.0, (), start_ms=start_ms))

    def open(self) -> None:
        """Import the runtime and create the session."""
        opened = self._run(runner.open_variant, self._file(), self.timing.config)
        self.timing = replace(
            self.timing,
            providers=opened.providers,
            nodes_on=opened.nodes_on,
            phases=replace(self._phases, import_ms=opened.import_ms, create_ms=opened.create_ms),
        )

    def run_first(self, reference: jobs.Reference) -> None:
        """The first run, and whether it computed the right thing."""
        config, plan = self.timing.config, self._clock.plan
        captured = config.cuda_graph or config.trt_cuda_graph  # needs fixed addresses
        on_host = config.device == "cpu" or (plan.transfers and not captured)
        device = "host" if on_host else f"cuda:{config.device_id}"
        first = reference.runs[0]
        first_ms, outputs = self._run(
            runner.first_run, dict(first.inputs), dict(first.outputs), device, plan.transfers
        )
        self.timing = replace(self.timing, phases=replace(self._phases, first_ms=first_ms))
        compared = compare(
            first.outputs, outputs, tolerance=_tolerance(config, plan), random=reference.random
        )
        compared += tuple(
            Comparison(name, ok=False, reason="the output is missing")
            for name in first.outputs
            if name not in outputs
        )
        self.timing = replace(self.timing, outputs=compared)

    def warm_up(self, variants: int) -> None:
        """A few runs more; sets `warm` when they have settled or the time for it is up."""
        phases, plan = self._phases, self._clock.plan
        count = 1 if phases.first_ms >= _SLOW_MS else _WARM_UP_BLOCK
        latencies = (*phases.warm_up_ms, *self._run(runner.run_block, count))
        self.timing = replace(self.timing, phases=replace(phases, warm_up_ms=latencies))
        spent_s = sum(latencies) / 1000
        settled = len(latencies) >= 4 * _WARM_UP_BLOCK and warm_after(latencies) <= (
            len(latencies) / 2
        )
        enough = len(latencies) >= _WARM_UP_RUNS or spent_s >= plan.warm_up_seconds(variants)
        if settled or enough:
            self.warm = True
            steady_ms = float(np.median(latencies[warm_after(latencies) :]))
            self.block_runs = plan.block_runs(steady_ms, variants=variants)

    def run_block(self) -> None:
        """One block of the steady state."""
        block = self._run(runner.run_block, self.block_runs)
        self.timing = replace(self.timing, blocks_ms=(*self.timing.blocks_ms, tuple(block)))

    def finish(self) -> None:
        """Ask for the memory before the process ends."""
        peak_bytes = self._run(runner.peak_resident_bytes)
        self.timing = replace(self.timing, peak_bytes=peak_bytes)

    def look_inside(self, isolate: Isolate) -> None:
        """Which slow operators the runtime has put in; nothing where it does not tell."""
        config = self.timing.config
        if self.timing.error or not may_fuse(config):
            return
        try:
            found = isolate(
                written_slow, self._file(), config,
                limits=self._clock.limits(), cancelled=self._clock.cancelled,
            )  # fmt: skip
        except Cancelled:
            raise
        except StudioError:
            return
        self.timing = replace(self.timing, written_slow=found)

    def _file(self) -> Path:
        """The model as a file, within what a worker may write."""
        if isinstance(self._model, Path):
            return self._model.absolute()
        bound = self._clock.plan.limits.file_bytes
        if len(self._model) > bound:
            raise RunError(
                f"The variant's file takes {bytes_text(len(self._model))} (limit "
                f"{bytes_text(bound)} for files of a worker); raise the limit."
            )
        try:
            self._place.write_bytes(self._model)
        except OSError as error:
            raise RunError(
                f"The variant's file could not be written ({error.strerror}); "
                "make room where temporary files go."
            ) from error
        return self._place

    @property
    def _phases(self) -> Phases:
        return self.timing.phases or Phases(0.0, 0.0, 0.0, ())

    def _run(self, function: Callable[..., Result], *args: object) -> Result:
        if self._worker is None:
            raise TypeError("the variant has no worker yet")
        return self._worker.run(
            function, *args, limits=self._clock.limits(), cancelled=self._clock.cancelled
        )

    def _account(self) -> None:
        """Wall time by one clock; what others took and what lay around the runs by others."""
        phases = self.timing.phases
        if phases is None:
            return
        timed_ms = phases.start_ms + phases.cold_ms + sum(phases.warm_up_ms)
        timed_ms += sum(self.timing.latencies_ms)
        others_s = self._clock.turns_s - self._turns_before_s - self._turns_s
        phases = replace(
            phases,
            around_ms=max(0.0, 1000 * self._turns_s - timed_ms),
            waiting_ms=max(0.0, 1000 * others_s),
            wall_ms=1000 * (time.monotonic() - self._began_s),
        )
        self.timing = replace(self.timing, phases=phases)

    def _gone(self) -> str:
        rounds = len(self.timing.blocks_ms)
        kept = f"; its {counted(rounds, 'round is', 'rounds are')} kept" if rounds else ""
        return (
            "The variant's process was ended from outside between two of its turns, by hand or "
            f"because the machine ran out of memory{kept}. Race it again with more memory free."
        )
