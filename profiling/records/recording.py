"""One experiment and its numbers, as the database and the bundles hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from optimizer.numbers import counted
from profiling.config import Value
from profiling.machine import Machine

Kind = Literal[
    "race", "sweep", "worth", "kernels", "decision", "capture", "profile", "benchmark", "schedule"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measurement:
    """One variant's numbers, flat, so that they can be filtered and compared.

    Attributes:
        label: of the variant in its experiment.
        workload: SHA-256 of the model file that ran; empty if it was not read.
        step: of the trace, where the variant is one.
        options: run-time options that were not at their default.
        p50_ms: median latency of the steady state, None where nothing was measured.
        p95_ms: 95th percentile.
        min_ms: the fastest run.
        first_ms: the first run.
        create_ms: reading the model and creating the session.
        runs: of the steady state.
        peak_bytes: most memory of the worker process.
        error: why there are no numbers, empty if there are.
        verdict: against the experiment's baseline, one sentence.
    """

    label: str
    workload: str = ""
    step: int | None = None
    options: Mapping[str, Value] = field(default_factory=dict[str, Value])
    p50_ms: float | None = None
    p95_ms: float | None = None
    min_ms: float | None = None
    first_ms: float | None = None
    create_ms: float | None = None
    runs: int = 0
    peak_bytes: int = 0
    error: str = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """One experiment.

    Attributes:
        kind: which reader understands the payload.
        title: the finding, one line.
        model: display name.
        model_hash: of the source model; equal for equal models.
        machine: it ran on.
        started_at: UTC, ISO 8601.
        seconds: duration.
        measurements: flat rows, the baseline first.
        payload: JSON from which the experiment's own page is drawn again.
        id: in the database; 0 before it is there.
        bundle: name of the file it was read from; empty if it was measured here.
        passlens: version that recorded it; filled in when it is kept.
    """

    kind: Kind
    title: str
    model: str
    model_hash: str
    machine: Machine
    started_at: str
    seconds: float
    measurements: tuple[Measurement, ...]
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: int = 0
    bundle: str = ""
    passlens: str = ""


def hardware(machine: Machine) -> str:
    """The machine's name for people, without its software: "NVIDIA H100, Xeon 8481C, 16 cores"."""
    gpu = machine.gpu.partition(",")[0].strip()
    cores = counted(machine.cores, "core")
    return ", ".join(filter(None, (gpu, machine.cpu, cores)))


def started(recorded_at: str) -> datetime:
    """The moment in UTC.

    Raises:
        ValueError: the text is no ISO 8601 date and time.
    """
    moment = datetime.fromisoformat(recorded_at)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def origin(recorded: Recording) -> str:
    """Where and when: "Recorded on Xeon 8481C, 16 cores, 2026-11-21 14:05 UTC"."""
    when = started(recorded.started_at).strftime("%Y-%m-%d %H:%M UTC")
    source = f", from {recorded.bundle}" if recorded.bundle else ""
    return f"Recorded on {hardware(recorded.machine)}, {when}{source}"
