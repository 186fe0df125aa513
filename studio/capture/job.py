"""A captured CUDA graph against plain launches, on a machine with a GPU."""

from __future__ import annotations

import datetime
import hashlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.limits import JobLimits
from profiling.cuda.capture import CapturePlan, CaptureSide, capture_side
from profiling.cuda.findings import CaptureCheck
from profiling.cuda.stages_torch import TorchStages, torch_stages
from profiling.machine import Machine, this_machine
from profiling.records import Measurement, Recording
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.capture.check import check_entrants
from studio.variants.entrant import Entrant, entrant_key, variants_of

Report = Callable[[str, float], None]
Asked = Callable[[], bool]
Keep = Callable[[Recording], int | None]
_LIMITS = JobLimits(seconds=300, memory_bytes=None)
PLAIN, CAPTURED = "one launch a kernel", "captured graph"


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """What to capture.

    Attributes:
        entrant: the variant; it runs on CUDA whatever its device is.
        seconds: of steady running, for both sides together.
    """

    entrant: Entrant
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class CaptureReport:
    """What came out.

    Attributes:
        variant: label of the entrant.
        step: of its trace.
        model: display name.
        model_hash: SHA-256 of the source model.
        workload: SHA-256 of the file that ran.
        check: its checklist.
        plain: launched kernel by kernel.
        captured: with graphs; None where the runtime refused, which `refusal` tells.
        refusal: the runtime's reason, empty where it captured.
        torch: the stages one by one, None where they were not timed.
        machine: it ran on.
        started_at: UTC, ISO 8601.
        seconds: duration.
        kept: id of its recording; None where it was not kept.
    """

    variant: str
    step: int
    model: str
    model_hash: str
    workload: str
    check: CaptureCheck
    plain: CaptureSide
    captured: CaptureSide | None
    refusal: str
    torch: TorchStages | None
    machine: Machine
    started_at: str
    seconds: float
    kept: int | None = None

    def recording(self) -> Recording:
        """What the records keep."""
        sides = [(PLAIN, self.plain, ""), (CAPTURED, self.captured, self.refusal)]
        return Recording(
            kind="capture",
            title=finding(self),
            model=self.model,
            model_hash=self.model_hash,
            machine=self.machine,
            started_at=self.started_at,
            seconds=self.seconds,
            measurements=tuple(
                _measurement(f"{self.variant}, {label}", side, error, self)
                for label, side, error in sides
            ),
            payload=CAPTURE.to_json(self),
        )


def finding(report: CaptureReport) -> str:
    """The experiment in one line. The sides ran one after the other, so it gives no verdict."""
    if report.captured is None:
        return f"{report.variant}: not captured, {report.refusal}"
    before, after = median_ms(report.plain), median_ms(report.captured)
    if before is None or after is None:
        return f"{report.variant}: captured, but nothing was timed"
    return f"{report.variant}: {before:.3g} ms launched one by one, {after:.3g} ms as one graph"


def median_ms(side: CaptureSide) -> float | None:
    """Median steady latency of the first shape."""
    latencies = side.shapes[0].latencies_ms if side.shapes else ()
    return statistics.median(latencies) if latencies else None


def run_capture(
    store: Store,
    pool: WorkerPool,
    subject: tuple[OpenedModel, OpenedRun],
    request: CaptureRequest,
    *,
    progress: Report,
    cancelled: Asked,
    keep: Keep | None = None,
) -> CaptureReport:
    """Run both sides, each in a process of its own, and the stages in PyTorch if it is there.

    Raises:
        StudioError: a file cannot be written, there is no GPU, or the model does not run on it.
    """
    began, started_at = time.monotonic(), _now()
    entrant = request.entrant
    checked = check_entrants(
        store, pool, subject, (entrant,), progress=progress, cancelled=cancelled
    )[0]
    variant = variants_of((entrant,), store, subject)[0]
    assert not isinstance(variant.model, bytes)
    config = replace(variant.config, device="cuda", cuda_graph=False)
    plan = CapturePlan(seconds=request.seconds / 2)

    def side(*, cuda_graph: bool, after: float) -> CaptureSide:
        name = CAPTURED if cuda_graph else PLAIN
        return pool.run_fresh(
            capture_side, variant.model, replace(config, cuda_graph=cuda_graph), plan,
            limits=_LIMITS, cancelled=cancelled,
            progress=lambda text, part: progress(f"{name}: {text}", after + 0.4 * part),
        )  # fmt: skip

    machine = this_machine()
    plain = side(cuda_graph=False, after=0.1)
    captured, refusal = _tried(lambda: side(cuda_graph=True, after=0.5))
    progress("the stages in PyTorch", 0.9)
    torch, _ = _tried(lambda: pool.run_fresh(torch_stages, limits=_LIMITS, cancelled=cancelled))
    report = CaptureReport(
        entrant.label, checked.step, subject[0].summary["name"], subject[0].summary["digest"],
        hashlib.sha256(variant.model.read_bytes()).hexdigest(), checked.check, plain, captured,
        refusal, torch, machine, started_at, time.monotonic() - began,
    )  # fmt: skip
    return report if keep is None else replace(report, kept=keep(report.recording()))


def _tried(work: Callable[[], Any]) -> tuple[Any, str]:
    """What it gave, or why it failed; cancelling ends everything."""
    from optimizer.errors import Cancelled

    try:
        return work(), ""
    except Cancelled:
        raise
    except StudioError as error:
        return None, error.message


def capture_key(model: OpenedModel, run: OpenedRun, request: CaptureRequest) -> tuple[object, ...]:
    """Equal requests have equal keys: a reload finds its result again."""
    return ("capture", model.key, run.key, entrant_key(request.entrant), request.seconds)


CAPTURE = Format(
    CaptureReport, "passlens.capture-report/1", "recorded capture", names={"kept": None}
)


def _measurement(
    label: str, side: CaptureSide | None, error: str, report: CaptureReport
) -> Measurement:
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
