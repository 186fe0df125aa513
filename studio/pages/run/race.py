"""What a race found: figures, each with its table."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from profiling.racing.race import Race, Timing
from studio.experiments.race import RaceReport, RaceRequest, race_key, run_race
from studio.figures.latency import PHASES, latency_strips, phase_bars, phase_values
from studio.pages.launch import launch
from studio.pages.parts import show_message, words
from studio.pages.run.setting import Setting
from studio.services import pool, store

Table = dict[str, list[Any]]
_AROUND_S = 10
"""What a race takes beside its steady runs: sessions and warm-up."""


def render_section(setting: Setting) -> None:
    """The section: a race of all entrants."""
    request = RaceRequest(setting.entrants, setting.seconds)
    subject = (setting.model, setting.run)
    launch(
        race_key(*subject, request),
        partial(run_race, store(), pool(), subject, request),
        explain=lambda: _explain(setting),
        show=show_race,
        name="Race",
    )


def _explain(setting: Setting) -> None:
    """What will be here."""
    names = ", ".join(escape(entrant.label) for entrant in setting.entrants)
    duration = setting.seconds * 1.25 + _AROUND_S
    st.html(
        f'<div class="empty"><h2>Which one is faster?</h2><p>{names}: each in a process of its '
        f"own, in turns, outputs compared first. It takes about {duration:.0f} s.</p></div>"
    )


def show_race(report: RaceReport) -> None:
    """Everything, the finding first."""
    race = report.race
    for number, timing in enumerate(race.timings):
        if not timing.believable:
            sentence = f"{timing.label.capitalize()}: {race.verdict(timing.label)}"
            show_message(sentence, key=f"variant-{number}")
    for number, remark in enumerate(race.remarks):
        show_message(remark, key=f"remark-{number}")
    if any(timing.blocks_ms for timing in race.timings):
        _figure(latency_strips(race, title=finding(race)), "latency")
        st.caption(words(_how(report)))
        _table(_percentiles(race))
    if any(timing.phases is not None for timing in race.timings):
        _figure(phase_bars(race), "phases")
        st.caption("Of a fresh process: what happens once, then the median steady run.")
        _twin("Phases as a table", _phase_table(race))


def finding(race: Race) -> str:
    """The race in one line: "Step 52 (optimized): 1.31× faster, …"."""
    broken = [timing.label for timing in race.timings if timing.error]
    if broken:
        return f"No comparison: {' and '.join(broken)} did not get to the end"
    challenger = race.timings[-1]
    return f"{challenger.label.capitalize()}: {race.verdict(challenger.label)}"


def _figure(figure: go.Figure, name: str) -> None:
    kind = st.session_state.get("picture-kind") or "svg"
    st.plotly_chart(
        figure,
        width="stretch",
        key=f"figure-{name}",
        config={
            "displaylogo": False,
            "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
            "toImageButtonOptions": {"format": kind, "filename": f"passlens-{name}", "scale": 2},
        },
    )


def _twin(title: str, table: Table) -> None:
    with st.expander(title):
        _table(table)


def _table(table: Table) -> None:
    st.dataframe(table, hide_index=True, width="stretch")


def _how(report: RaceReport) -> str:
    race = report.race
    runs = ", ".join(f"{len(t.latencies_ms):,} runs of {t.label}" for t in race.timings)
    machine = ", ".join(filter(None, (race.machine.cpu, race.machine.gpu, race.machine.runtime)))
    started = race.started_at.replace("T", " ").partition("+")[0]
    return (
        f"{machine}, {race.machine.cores} cores; {started} UTC; {runs}, in turns, each variant in a"
        f" process of its own; load {race.machine.load:.1f} before,"
        f" {race.load_after:.1f} after."
    )


def _digits(number: float) -> float:
    return float(f"{number:.4g}")


def _percentiles(race: Race) -> Table:
    timed = [(t, t.summary) for t in race.timings if t.summary is not None]
    fields = ("min_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "spread_ms")
    table: Table = {"variant": [t.label for t, _ in timed]}
    for field in fields:
        name = field.removesuffix("_ms")
        table[f"{name}, ms"] = [_digits(getattr(s, field)) for _, s in timed]
    table["runs"] = [s.runs for _, s in timed]
    table["peak memory, MB"] = [
        round(t.peak_bytes / 1e6, 1) if t.peak_bytes else None for t, _ in timed
    ]
    table["outputs"] = [_outputs(t) for t, _ in timed]
    table["ran on"] = [
        ", ".join(p.removesuffix("ExecutionProvider") for p in t.providers) for t, _ in timed
    ]
    return table


def _outputs(timing: Timing) -> str:
    if timing.error:
        return "unknown"
    if not timing.believable:
        return "differ"
    return "equal" if all(o.same_bits for o in timing.outputs) else "equal within tolerance"


def _phase_table(race: Race) -> Table:
    timed = [t for t in race.timings if t.phases is not None]
    columns = zip(*(phase_values(t) for t in timed), strict=True)
    table: Table = {"variant": [t.label for t in timed]}
    for phase, values in zip(PHASES, columns, strict=True):
        table[f"{phase}, ms"] = [_digits(value) for value in values]
    table["runs until warm"] = [t.phases.warm_after for t in timed if t.phases is not None]
    return table
