"""What was measured with and without a captured graph: figures, each with its table."""

from __future__ import annotations

from statistics import median

import streamlit as st

from optimizer.numbers import digits, mebibytes
from profiling.cuda.capture import CaptureSide, ShapeRuns
from profiling.cuda.device_trace import DeviceTrace
from profiling.cuda.launches import (
    Stage,
    StageName,
    by_kernel,
    idle_ns,
    short_name,
    span_ns,
    stages_by_difference,
)
from studio.capture.checklist import show_checks
from studio.capture.figure import launch_timeline, stage_bars
from studio.capture.job import CAPTURED, PLAIN, CaptureReport, CheckedVariant, median_ms
from studio.experiment import measured_on
from studio.figures.template import color_of
from studio.page.figure import Table, show_figure, show_twin
from studio.page.parts import show_remarks, words

_COLORS = {PLAIN: color_of(0), CAPTURED: color_of(1)}


def show_capture(report: CaptureReport) -> None:
    """Everything, the finding first."""
    st.subheader(words(report.title))
    st.caption(words(_how(report)))
    show_remarks(_remarks(report), key="capture")
    _stages(report)
    _timeline(report)
    show_twin("Latencies as a table", _latencies(report))
    _device(report)
    with st.expander("The checklist of this model"):
        show_checks([CheckedVariant(report.variant, report.step, "recorded", report.check)])


def stages_of_report(report: CaptureReport) -> dict[str, tuple[Stage, ...]]:
    """The stages by row: the model's, and those of PyTorch's chain of layers."""
    rows: dict[str, tuple[Stage, ...]] = {}
    if report.captured is not None:
        for runs in report.captured.shapes:
            rows[_shape_name(report.variant, runs)] = runs.stages or _by_difference(report, runs)
    if report.torch is not None:
        torch = report.torch
        series: tuple[tuple[StageName, tuple[float, ...]], ...] = (
            ("define", torch.define_ms),
            ("instantiate", torch.instantiate_ms),
            ("execute", torch.execute_ms),
        )
        name = f"PyTorch, {torch.kernels} layers"
        rows[name] = tuple(Stage(stage, median(times), "torch") for stage, times in series)
    return rows


def _by_difference(report: CaptureReport, runs: ShapeRuns) -> tuple[Stage, ...]:
    plain, replay = median_ms(report.plain), median(runs.latencies_ms or (0.0,))
    return () if plain is None else stages_by_difference(runs.first_ms, replay, plain)


def _stages(report: CaptureReport) -> None:
    rows = stages_of_report(report)
    if not any(rows.values()):
        return
    show_figure(stage_bars(rows, title="What a captured graph costs once, and each time"), "stages")
    st.caption(
        "Define and instantiate happen once for each shape. By CUPTI's records of the first "
        "call; without CUPTI, 'at most' is what the first call takes beyond a run and a replay."
    )
    flat = [(row, stage) for row, stages in rows.items() for stage in stages]
    show_twin(
        "Stages as a table",
        {
            "graph": [row for row, _ in flat],
            "stage": [stage.name for _, stage in flat],
            "ms": [digits(stage.time_ms) for _, stage in flat],
            "measured by": [stage.origin for _, stage in flat],
        },
    )


def _timeline(report: CaptureReport) -> None:
    sides = report.sides.items()
    traces = {label: trace for label, side in sides if (trace := _last_run(side))}
    if not traces:
        return
    show_figure(launch_timeline(traces, {label: _COLORS[label] for label in traces}), "launches")
    st.caption("One steady run of each side, recorded by CUPTI; recording itself costs some time.")
    show_twin("Launches as a table", _launches(traces))
    for label, trace in traces.items():
        kernels = by_kernel(trace.events)
        show_twin(
            f"Kernels by name, {label}",
            {
                "kernel": [short_name(kernel.name) for kernel in kernels],
                "calls": [kernel.calls for kernel in kernels],
                "µs": [digits(kernel.time_ns / 1e3) for kernel in kernels],
                "full name": [kernel.name for kernel in kernels],
            },
        )


def _last_run(side: CaptureSide) -> DeviceTrace | None:
    trace = side.shapes[0].steady if side.shapes else None
    return trace.within(trace.ranges[-1]) if trace is not None and trace.ranges else None


def _launches(traces: dict[str, DeviceTrace]) -> Table:
    return {
        "side": list(traces),
        "kernels": [sum(e.kind == "kernel" for e in t.events) for t in traces.values()],
        "from first to last, µs": [digits(span_ns(t.events) / 1e3) for t in traces.values()],
        "GPU without work, µs": [digits(idle_ns(t.events) / 1e3) for t in traces.values()],
        "API calls": [len(t.calls) for t in traces.values()],
    }


def _latencies(report: CaptureReport) -> Table:
    rows = [(label, runs) for label, side in report.sides.items() for runs in side.shapes]
    return {
        "side": [label for label, _ in rows],
        "shape": [_shape_name("as suggested", runs) for _, runs in rows],
        "first call, ms": [digits(runs.first_ms) for _, runs in rows],
        "median, ms": [digits(median(runs.latencies_ms or (0.0,))) for _, runs in rows],
        "fastest, ms": [digits(min(runs.latencies_ms, default=0.0)) for _, runs in rows],
        "runs": [len(runs.latencies_ms) for _, runs in rows],
    }


def _device(report: CaptureReport) -> None:
    samples = [(label, one) for label, side in report.sides.items() for one in side.samples]
    if samples:
        show_twin(
            "The GPU meanwhile",
            {
                "side": [label for label, _ in samples],
                "ms": [round(sample.time_ms) for _, sample in samples],
                "this process, MiB": [mebibytes(s.process_bytes) for _, s in samples],
                "all, MiB": [mebibytes(s.used_bytes) for _, s in samples],
                "clock, MHz": [sample.sm_mhz for _, sample in samples],
                "W": [sample.power_w for _, sample in samples],
                "°C": [sample.temperature_c for _, sample in samples],
                "throttled": [", ".join(sample.throttled) for _, sample in samples],
            },
        )


def _how(report: CaptureReport) -> str:
    return (
        f"{measured_on(report.machine, report.started_at)}; inputs and outputs at fixed addresses "
        "on the GPU, no transfers; each side in a process of its own, one after the other: race "
        "both to be sure."
    )


def _remarks(report: CaptureReport) -> list[str]:
    remarks = [f"Not captured: {report.refusal}"] if report.refusal else []
    remarks += [remark for side in report.sides.values() for remark in side.remarks]
    return list(dict.fromkeys(remarks))


def _shape_name(otherwise: str, runs: ShapeRuns) -> str:
    return ", ".join(f"{name}={size}" for name, size in runs.sizes.items()) or otherwise
