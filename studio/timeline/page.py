"""Timeline: when which operator runs, with the gaps between them."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from math import floor, log10

import streamlit as st

from optimizer.numbers import digits
from profiling.racing.race import ran_without
from profiling.timeline.attribution import Attribution
from profiling.timeline.balance import Balance, balance
from profiling.timeline.chrome_trace import chrome_trace
from profiling.timeline.finding import taken_off
from profiling.timeline.profile import Phase
from studio.experiment import measured_on
from studio.figures.change_bars import (
    Kernels,
    change_bars,
    operator_bars,
    operator_times,
    row_became,
    row_name,
    row_title,
    tree_map,
)
from studio.figures.template import color_of
from studio.page.experiment import offer
from studio.page.figure import Table, is_dark, show_figure, show_twin
from studio.page.parts import file_stem, show_message, words
from studio.timeline.figure import gantt
from studio.timeline.job import PROFILE_EXPERIMENT, ProfileRequest
from studio.timeline.result import ProfileReport
from studio.variants.variant import RunSetup

MOST_ROWS = 500
_PHASES = {"steady": "Steady run", "first": "First run"}
_SUMS = (
    "run, µs",
    "sum of operators, µs",
    "side by side, µs",
    "gaps between them, µs",
    "inputs and outputs, µs",
)
_DRAWN = {
    "steady": "Every operator and every gap as long as in the middle one of all steady runs; all "
    "figures here are of this run.",
    "first": "The first run; all figures here are of it.",
}


def render_section(setup: RunSetup) -> None:
    """The section."""
    offer_profile(setup, show_timeline)


def offer_profile(setup: RunSetup, show: Callable[[ProfileReport], None]) -> None:
    """The profile of all variants, which timeline and memory share."""

    def show_it(report: ProfileReport) -> None:
        show_failures(report)
        show(report)

    offer(
        PROFILE_EXPERIMENT,
        setup.subject,
        ProfileRequest(setup.variants),
        name="Profile",
        explain=lambda: _explain(setup),
        show=show_it,
        show_recorded=show_it,
        blocked=setup.blocked,
    )


def _explain(setup: RunSetup) -> None:
    names = ", ".join(escape(variant.label) for variant in setup.variants)
    st.html(
        '<div class="empty"><h2>Where does the time go?</h2>'
        f"<p>{names}: eleven runs each with the runtime's profiler on, in turns with eleven "
        "without, so that what it costs itself is known and taken off. Here will be every operator "
        "on a time axis with the gaps between, what a fused operator takes against its originals, "
        "and the memory over the run; the viewer gets the times as colours.</p></div>"
    )


def show_timeline(report: ProfileReport) -> None:
    """Everything that ran, the finding first."""
    profiles = report.profiles
    if not profiles:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        phase = choose_phase("timeline")
        pair = _pair(list(profiles))
        st.download_button(
            "Chrome trace",
            data=lambda: json.dumps(chrome_trace(profiles), separators=(",", ":")),
            file_name=f"{file_stem()}-timeline.json",
            mime="application/json",
            icon=":material/download:",
            help="All runs, for chrome://tracing and ui.perfetto.dev",
            on_click="ignore",
        )
    show_figure(gantt(profiles, phase, dark=is_dark()), "timeline")
    st.caption(words(f"{_DRAWN[phase]} Bare stretches: no operator ran. {how(report)}"))
    show_twin("How each run adds up", _sums(report, phase))
    colors = {label: color_of(index) for index, label in enumerate(profiles)}
    if pair is not None:
        found = report.attribution(*pair, phase)
        shown = (colors[pair[0]], colors[pair[1]])
        show_figure(change_bars(found, report.source, labels=pair, colors=shown), "changes")
        st.caption(_ATTRIBUTED)
        show_twin("All nodes as a table", _rows(found, report))
    kernels = {one.label: one.kernels(phase) for one in report.variants if one.profile is not None}
    show_figure(operator_bars(kernels, colors), "operators")
    show_twin("Operators as a table", _operators(kernels))
    show_figure(tree_map(kernels, dark=is_dark()), "tree")
    st.caption("Area is time, on one scale for all variants: click a kind to see its nodes.")


def show_failures(report: ProfileReport) -> None:
    """Variants that did not run, or not with all of their kernels, each with its reason."""
    for number, one in enumerate(report.variants):
        if one.error:
            show_message(f"{one.label}: {one.error}", key=f"profile-{number}")
        elif one.profile is not None and one.profile.left_out:
            show_message(ran_without(one.label, one.profile.left_out), key=f"without-{number}")


def choose_phase(key: str, default: Phase = "steady") -> Phase:
    """Which run is looked at."""
    chosen = st.segmented_control(
        "Run",
        list(_PHASES),
        format_func=_PHASES.__getitem__,
        default=default,
        key=f"phase-{key}",
        label_visibility="collapsed",
        required=True,
    )
    return "first" if chosen == "first" else "steady"


def how(report: ProfileReport) -> str:
    """How it was measured, and on what."""
    kept = max((len(profile.timeline.runs) for profile in report.profiles.values()), default=0)
    count = str(kept) if report.runs in (0, kept) else f"{report.runs} ({kept} kept)"
    return (
        f"{measured_on(report.machine, report.started_at)}, load {report.machine.load:.1f};"
        f" {count} runs of each, the variants in turns, with the runtime's profiler on."
        f" {taken_off(profile.profiler for profile in report.profiles.values())}"
        " Which variant is faster is a question for Race."
    )


def _pair(labels: list[str]) -> tuple[str, str] | None:
    """Which two variants are compared node by node."""
    if len(labels) < 2:
        return None
    if len(labels) == 2:
        return labels[0], labels[1]
    before = st.selectbox("Before", labels, index=0, key="profile-before", width=200)
    others = [label for label in labels if label != before]
    after = st.selectbox("After", others, index=len(others) - 1, key="profile-after", width=200)
    return before, after


_ATTRIBUTED = (
    "Nodes of the source that some operator computes together, before or after, are one row; the "
    "runtime's own fusions are traced back as well."
)


def _sums(report: ProfileReport, phase: Phase) -> Table:
    runs = [(label, profile.run(phase)) for label, profile in report.profiles.items()]
    sums = [(label, run, balance(run)) for label, run in runs if run is not None]
    written = [_adding_up(one) for _, _, one in sums]
    table: Table = {
        "variant": [label for label, _, _ in sums],
        **{name: [row[index] for row in written] for index, name in enumerate(_SUMS)},
        "operators": [len(run.events) for _, run, _ in sums],
    }
    costs = [report.profiles[label].profiler for label, _, _ in sums]
    if phase == "steady" and any(costs):
        table["profiler, taken off each operator, µs"] = [
            None if cost is None else digits(cost.node_us) for cost in costs
        ]
        table["median run without the profiler, µs"] = [
            None if cost is None or cost.run_us is None else digits(cost.run_us) for cost in costs
        ]
    return table


def _adding_up(one: Balance) -> tuple[float, ...]:
    """The columns `_SUMS`: four digits of the run, and parts that add up to them."""
    places = 3 - floor(log10(max(one.run_us, 1)))
    run, overlap, executor, around = (
        round(us, places) + 0.0
        for us in (one.run_us, -one.overlap_us, one.executor_us, one.around_us)
    )
    own = round(run - overlap - executor - around, places)
    return run, own, overlap, executor, around


def _rows(found: Attribution, report: ProfileReport) -> Table:
    rows = [*found.rows[:MOST_ROWS]]
    if found.unattributed.before or found.unattributed.after:
        rows.append(found.unattributed)
    left = found.rows[MOST_ROWS:]
    source = report.source
    table: Table = {
        "source nodes": [row_title(row, source) for row in rows],
        "became": [row_became(row, source) for row in rows],
        "before, ms": [_ms(row.before_us) for row in rows],
        "after, ms": [_ms(row.after_us) for row in rows],
        "saved, ms": [_ms(row.saved_us) for row in rows],
        "first name": [row_name(row, source) for row in rows],
    }
    if left:
        before, after = sum(row.before_us for row in left), sum(row.after_us for row in left)
        last = (f"{len(left):,} more rows", "", _ms(before), _ms(after), _ms(before - after), "")
        for cells, cell in zip(table.values(), last, strict=True):
            cells.append(cell)
    return table


def _operators(kernels: Kernels) -> Table:
    times = operator_times(kernels)
    table: Table = {"operator": list(times)}
    for index, label in enumerate(kernels):
        table[f"{label}, ms"] = [_ms(each[index]) for each in times.values()]
    return table


def _ms(time_us: float) -> float:
    return float(f"{time_us / 1000:.4g}")
