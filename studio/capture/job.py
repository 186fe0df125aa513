"""Whether variants can be captured as CUDA graphs; a captured graph against plain launches."""

from __future__ import annotations

import datetime
import hashlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from optimizer.errors import Cancelled, StudioError
from optimizer.isolation import within_worker
from optimizer.limits import JobLimits
from optimizer.rewrite.graph_at import TraceFiles, own_graph_at
from optimizer.source import complete
from profiling.cuda.capture import CapturePlan, CaptureSide, capture_side
from profiling.cuda.eligibility import check_model
from profiling.cuda.findings import CaptureCheck
from profiling.cuda.stages_torch import TorchStages, torch_stages
from profiling.machine import this_machine
from profiling.records import Measurement
from studio.experiment import Equipment, Experiment, TimedReport, report_format
from studio.variants.variant import TraceVariant, materialized, run_of, step_of

_LIMITS = JobLimits(seconds=300, memory_bytes=None)
PLAIN, CAPTURED = "one launch a kernel", "captured graph"


@dataclass(frozen=True, slots=True)
class CheckedVariant:
    """One variant's checklist.

    Attributes:
        label: of the variant.
        step: of its trace.
        preset: whose trace; empty for the one that is open.
        check: the checklist; its node ids are those of the trace.
    """

    label: str
    step: int
    preset: str
    check: CaptureCheck


def check_variants(
    bench: Equipment, variants: tuple[TraceVariant, ...]
) -> tuple[CheckedVariant, ...]:
    """The checklist of each.

    Raises:
        StudioError: a preset's passes fail, or a step cannot be opened.
    """
    found: list[CheckedVariant] = []
    for index, variant in enumerate(variants):
        bench.progress(f"checking {variant.label}", index / len(variants))
        run = run_of(variant, bench.store, bench.subject)
        step = step_of(variant, run)
        check = bench.pool(
            check_step, run.files, step,
            variant.config.graph_optimization != "disabled", cancelled=bench.cancelled,
        )  # fmt: skip
        found.append(CheckedVariant(variant.label, step, variant.preset, check))
    return tuple(found)


def check_step(files: TraceFiles, step: int, folding: bool) -> CaptureCheck:
    """The checklist of a step of a trace. Only in a worker.

    Raises:
        StudioError: there is no such step.
    """
    model = complete(own_graph_at(files, step), isolate=within_worker)
    return check_model(model, folding=folding)


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """What to capture.

    Attributes:
        variant: the variant; it runs on CUDA whatever its device is.
        seconds: of steady running, for both sides together.
    """

    variant: TraceVariant
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class CaptureReport(TimedReport):
    """What came out.

    Attributes:
        variant: label of the variant.
        step: of its trace.
        workload: SHA-256 of the file that ran.
        check: its checklist.
        plain: launched kernel by kernel.
        captured: with graphs; None where the runtime refused, which `refusal` tells.
        refusal: the runtime's reason, empty where it captured.
        torch: the stages one by one, None where they were not timed.
    """

    variant: str
    step: int
    workload: str
    check: CaptureCheck
    plain: CaptureSide
    captured: CaptureSide | None
    refusal: str
    torch: TorchStages | None

    @property
    def title(self) -> str:
        """The finding, one line. The sides ran one after the other, so it gives no verdict."""
        if self.captured is None:
            return f"{self.variant}: not captured, {self.refusal}"
        before, after = median_ms(self.plain), median_ms(self.captured)
        if before is None or after is None:
            return f"{self.variant}: captured, but nothing was timed"
        return f"{self.variant}: {before:.3g} ms launched one by one, {after:.3g} ms as one graph"

    @property
    def sides(self) -> dict[str, CaptureSide]:
        """Those that ran, by label."""
        both = {PLAIN: self.plain, CAPTURED: self.captured}
        return {label: side for label, side in both.items() if side is not None}

    def measurements(self) -> list[Measurement]:
        """A row for each side, also for one that did not run."""
        errors = {PLAIN: "", CAPTURED: self.refusal}
        return [_measurement(label, error, self) for label, error in errors.items()]


def median_ms(side: CaptureSide) -> float | None:
    """Median steady latency of the first shape."""
    latencies = side.shapes[0].latencies_ms if side.shapes else ()
    return statistics.median(latencies) if latencies else None


def run_capture(bench: Equipment, request: CaptureRequest) -> CaptureReport:
    """Run both sides, each in a process of its own, and the stages in PyTorch if it is there.

    Raises:
        StudioError: a file cannot be written, there is no GPU, or the model does not run on it.
    """
    began, started_at = time.monotonic(), _now()
    (checked,) = check_variants(bench, (request.variant,))
    (variant,) = materialized((request.variant,), bench.store, bench.subject)
    assert not isinstance(variant.model, bytes)
    config = replace(variant.config, device="cuda", cuda_graph=False)
    plan = CapturePlan(seconds=request.seconds / 2)

    def side(*, cuda_graph: bool, after: float) -> CaptureSide:
        name = CAPTURED if cuda_graph else PLAIN
        return bench.pool.run_fresh(
            capture_side, variant.model, replace(config, cuda_graph=cuda_graph), plan,
            limits=_LIMITS, cancelled=bench.cancelled,
            progress=lambda text, part: bench.progress(f"{name}: {text}", after + 0.4 * part),
        )  # fmt: skip

    machine = this_machine()
    plain = side(cuda_graph=False, after=0.1)
    captured, refusal = _tried(lambda: side(cuda_graph=True, after=0.5))
    bench.progress("the stages in PyTorch", 0.9)
    torch, _ = _tried(
        lambda: bench.pool.run_fresh(torch_stages, limits=_LIMITS, cancelled=bench.cancelled)
    )
    return CaptureReport(
        *bench.source, machine, started_at, time.monotonic() - began,
        request.variant.label, checked.step,
        hashlib.sha256(variant.model.read_bytes()).hexdigest(), checked.check, plain, captured,
        refusal, torch,
    )  # fmt: skip


def _tried(work: Callable[[], Any]) -> tuple[Any, str]:
    """What it gave, or why it failed; cancelling ends everything."""
    try:
        return work(), ""
    except Cancelled:
        raise
    except StudioError as error:
        return None, error.message


CAPTURE_EXPERIMENT = Experiment(
    "capture", "capture", run_capture, report_format(CaptureReport, "capture")
)


def _measurement(name: str, error: str, report: CaptureReport) -> Measurement:
    label, side = f"{report.variant}, {name}", report.sides.get(name)
    if side is None or not side.shapes:
        return Measurement(label, report.workload, report.step, error=error)
    runs = side.shapes[0]
    steady = sorted(runs.latencies_ms)
    return Measurement(
        label,
        report.workload,
        report.step,
        {"device": "cuda", "cuda_graph": side.captured},
        p50_ms=statistics.median(steady) if steady else None,
        p95_ms=steady[int(0.95 * (len(steady) - 1))] if steady else None,
        min_ms=steady[0] if steady else None,
        first_ms=runs.first_ms,
        create_ms=side.create_ms,
        runs=len(steady),
    )


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
