"""One recording, drawn as on the page that made it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import streamlit as st

from optimizer.errors import StudioError
from optimizer.numbers import mebibytes, three_digits
from optimizer.schedules.document import primitive_text
from profiling.kernels.generated.decisions import DECISION, KIND
from profiling.kernels.generated.network import NETWORK
from profiling.kernels.generated.own_schedules import OWN_SCHEDULE
from profiling.records import Measurement, Recording, origin
from studio.capture.job import CAPTURE_EXPERIMENT
from studio.capture.report import show_capture
from studio.cost.ablation.job import ABLATION_EXPERIMENT
from studio.cost.ablation.page import show_ablation
from studio.cost.break_even.job import BREAK_EVEN_EXPERIMENT
from studio.cost.break_even.page import show_break_even
from studio.cost.waterfall.job import WATERFALL_EXPERIMENT
from studio.cost.waterfall.page import show_waterfall
from studio.experiment import Experiment
from studio.history.benchmark import show_benchmark
from studio.history.figure import median_dots, options_texts, variants_of
from studio.kernels.job import KERNELS_EXPERIMENT
from studio.kernels.network import show_network
from studio.kernels.report import show_decision, show_kernels
from studio.page.experiment import draw_recorded
from studio.page.parts import words
from studio.race.job import RACE_EXPERIMENT
from studio.race.report import show_race
from studio.race.sweep.job import SWEEP_EXPERIMENT
from studio.race.sweep.page import show_sweep
from studio.timeline.job import PROFILE_EXPERIMENT
from studio.timeline.memory_page import show_profile
from studio.transposes.job import TRANSPOSES_EXPERIMENT
from studio.transposes.page import show_transposes

Table = dict[str, list[Any]]
OPENERS: tuple[tuple[Experiment[Any, Any], Callable[[Any], None]], ...] = (
    (RACE_EXPERIMENT, show_race),
    (SWEEP_EXPERIMENT, show_sweep),
    (WATERFALL_EXPERIMENT, show_waterfall),
    (ABLATION_EXPERIMENT, show_ablation),
    (BREAK_EVEN_EXPERIMENT, show_break_even),
    (KERNELS_EXPERIMENT, show_kernels),
    (CAPTURE_EXPERIMENT, show_capture),
    (PROFILE_EXPERIMENT, show_profile),
    (TRANSPOSES_EXPERIMENT, show_transposes),
)
"""Who draws which recording: a line for each experiment."""


def show_opened(recording: Recording) -> None:
    """Where it comes from, then everything it holds."""
    st.html(
        f'<div class="empty" style="max-width:none"><h2>{escape(recording.title)}</h2></div>',
    )
    st.caption(words(_about(recording)))
    with st.container(key="report"):
        drawn = draw_recorded(recording, show_recording, instead="its measurements follow")
        if not drawn:
            _figure(recording)
    with st.expander("Measurements as a table", expanded=not drawn):
        st.dataframe(measurements_table(recording.measurements), hide_index=True, width="stretch")


def measurements_table(measurements: Sequence[Measurement]) -> Table:
    """A row a variant; columns that are empty throughout are left out."""
    table: Table = {
        "variant": [one.label for one in measurements],
        "step": [one.step for one in measurements],
        "options": options_texts(measurements),
        "p50, ms": [one.p50_ms for one in measurements],
        "p95, ms": [one.p95_ms for one in measurements],
        "min, ms": [one.min_ms for one in measurements],
        "first run, ms": [one.first_ms for one in measurements],
        "create, ms": [one.create_ms for one in measurements],
        "runs": [one.runs or None for one in measurements],
        "peak memory, MiB": [mebibytes(one.peak_bytes) or None for one in measurements],
        "verdict": [one.verdict for one in measurements],
        "error": [one.error for one in measurements],
    }
    return {name: cells for name, cells in table.items() if any(c not in (None, "") for c in cells)}


def _about(recording: Recording) -> str:
    """The label that every opened recording bears."""
    machine = recording.machine
    return (
        f"{origin(recording)} · {recording.kind} of {recording.model} · "
        f"{recording.seconds:.3g} s · {machine.runtime} · {machine.system} · "
        f"Passlens {recording.passlens}"
    )


def _figure(recording: Recording) -> None:
    rows = variants_of([recording])
    if not rows:
        return
    label, ms = min(((label, timed[0][1]) for label, timed in rows.items()), key=lambda row: row[1])
    title = f"Lowest median: {label}, {three_digits(ms)} ms"
    st.plotly_chart(
        median_dots([recording], [""], title=title), width="stretch", key="history-medians"
    )
    st.caption("Medians of the steady state.")


def show_recording(recording: Recording) -> None:
    """A recording as on the page that made it.

    Raises:
        StudioError: no experiment of this version wrote it, or it is damaged.
    """
    if recording.kind == "benchmark":
        show_benchmark(recording.payload)
        return
    if recording.kind == KIND and NETWORK.reads(recording.payload):
        show_network(NETWORK.from_json(recording.payload))
        return
    if recording.kind == KIND:
        show_decision(DECISION.from_json(recording.payload))
        return
    if OWN_SCHEDULE.reads(recording.payload):
        own = OWN_SCHEDULE.from_json(recording.payload)
        st.code("\n".join(map(primitive_text, own.schedule.primitives)), language=None)
        return
    for experiment, show in OPENERS:
        if experiment.kind == recording.kind and experiment.form.reads(recording.payload):
            show(experiment.form.from_json(recording.payload))
            return
    raise StudioError(f"This version of Passlens cannot draw this {recording.kind}.")
