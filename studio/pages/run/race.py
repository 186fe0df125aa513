"""What a race found: figures, each with its table."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from profiling.racing.race import Race, Timing
from studio.experiments.race import RaceReport
from studio.figures.latency import PHASES, latency_strips, phase_bars, phase_values
from studio.figures.profiles import (
    memory_lines,
    node_kinds,
    node_times,
    operator_bars,
    operator_times,
)
from studio.figures.template import color_of
from studio.pages.parts import show_message, words

Table = dict[str, list[Any]]
MOST_NODES = 5000


def show_report(report: RaceReport) -> None:
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
        left, right = st.columns(2, gap="medium")
        with left:
            _figure(phase_bars(race), "phases")
            st.caption("Of a fresh process: what happens once, then the median steady run.")
            _twin("Phases as a table", _phase_table(race))
        if report.profiles:
            with right:
                _figure(memory_lines(report.profiles, _colors(race)), "memory")
                st.caption(_memory_source(report))
                _twin("Memory as a table", _memory_table(report))
    if report.profiles:
        _operators(report)


def finding(race: Race) -> str:
    """The race in one line: "Step 52 (optimized): 1.31× faster, …"."""
    broken = [timing.label for timing in race.timings if timing.error]
    if broken:
        return f"No comparison: {' and '.join(broken)} did not get to the end"
    challenger = race.timings[-1]
    return f"{challenger.label.capitalize()}: {race.verdict(challenger.label)}"


def _operators(report: RaceReport) -> None:
    _figure(operator_bars(report.profiles, _colors(report.race)), "operators")
    st.caption(
        "From the runtime's profiler, five runs, the first left out. Writing the profile costs"
        " time: compare shares here, and latencies above."
    )
    _twin("Operators as a table", _operator_table(report))
    _twin("Every node by name", _node_table(report))


def _colors(race: Race) -> dict[str, str]:
    return {timing.label: color_of(index) for index, timing in enumerate(race.timings)}


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
    race, config = report.race, report.request.config
    runs = ", ".join(f"{len(t.latencies_ms):,} runs of {t.label}" for t in race.timings)
    changed = ", ".join(f"{name}={value}" for name, value in config.changed().items())
    machine = ", ".join(filter(None, (race.machine.cpu, race.machine.gpu, race.machine.runtime)))
    started = race.started_at.replace("T", " ").partition("+")[0]
    return (
        f"{machine}, {race.machine.cores} cores; {started} UTC; {runs}, in turns, each variant in a"
        f" process of its own; {changed or 'default options'}; load {race.machine.load:.1f} before,"
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


def _memory_table(report: RaceReport) -> Table:
    table: Table = {"variant": [], "ms since the run began": [], "bytes": []}
    for label, profile in report.profiles.items():
        for curve in profile.memory[:1]:
            table["variant"] += [label] * len(curve.times_us)
            table["ms since the run began"] += [time / 1000 for time in curve.times_us]
            table["bytes"] += list(curve.live_bytes)
    return table


def _operator_table(report: RaceReport) -> Table:
    times = operator_times(report.profiles)
    table: Table = {"operator": list(times)}
    for index, label in enumerate(report.profiles):
        table[f"{label}, ms"] = [_digits(row[index] / 1000) for row in times.values()]
    return table


def _node_table(report: RaceReport) -> Table:
    times = dict(list(node_times(report.profiles).items())[:MOST_NODES])
    kinds = node_kinds(report.profiles)
    table: Table = {"node": list(times), "operator": [kinds.get(node, "") for node in times]}
    for index, label in enumerate(report.profiles):
        table[f"{label}, µs"] = [
            None if row[index] is None else round(row[index] or 0.0, 1) for row in times.values()
        ]
    return table


def _memory_source(report: RaceReport) -> str:
    sources = {curve.source for p in report.profiles.values() for curve in p.memory[:1]}
    if sources == {"runtime"}:
        return "First run, as the runtime's allocator reported it; weights left out."
    return "First run, from the sizes of outputs still needed; the runtime told nothing."
