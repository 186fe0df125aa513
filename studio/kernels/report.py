"""What the races of kernels found: figures, each with its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import starmap

import streamlit as st

from optimizer.numbers import counted, digits
from profiling.config import Value
from profiling.config.option import setting_text
from profiling.kernels.confirmation import OPTIONS, Confirmation
from profiling.kernels.generated.decisions import KernelDecision
from profiling.kernels.hotspots import Hotspots
from profiling.kernels.selection import CandidateRow, Selection, WorkloadRace
from profiling.racing.race import ran_without
from profiling.timeline.finding import taken_off
from studio.experiment import measured_on
from studio.kernels.figure import candidate_dots, hot_bars
from studio.kernels.job import KernelsReport, finding
from studio.kernels.tree_figure import selection_tree
from studio.page.figure import Table, show_figure, show_twin
from studio.page.parts import show_message, words
from studio.race.latency_figure import latency_strips

MOST_ROWS = 500
_SHORT_MS = 0.05


def show_kernels(report: KernelsReport) -> None:
    """Everything, the finding first."""
    hot = report.selection.hotspots
    if not hot.operators:
        return
    if hot.remark:
        show_message(f"Not profiled, times are estimates: {hot.remark}", key="kernels-remark")
    if hot.left_out:
        show_message(ran_without(report.variant, hot.left_out), key="kernels-without")
    raced = frozenset(race.operator.workload.key for race in report.selection.races)
    show_figure(hot_bars(hot, raced=raced, title=finding(report.selection)), "hot")
    st.caption(words(_how(report)))
    show_twin("Hot operators as a table", _hot_table(hot, raced))
    races = report.selection.races
    for first in range(0, len(races), 2):
        for column, race in zip(st.columns(2, gap="medium"), races[first:], strict=False):
            with column:
                _workload(race)
    _trees(races)
    if report.tuning is not None:
        _tuning(report)
    if report.confirmation is not None:
        show_confirmation(report.confirmation, report.selection)


def _trees(races: Sequence[WorkloadRace]) -> None:
    """What was decided about each workload: tuning, kernel, algorithm."""
    raced = [race for race in races if race.race is not None]
    if raced:
        with st.expander("Tuning, kernel and algorithm of each as a tree"):
            for race in raced:
                show_figure(selection_tree(race), f"tree-{race.operator.workload.key[:12]}")


def show_confirmation(confirmation: Confirmation, selection: Selection) -> None:
    """The whole model before and after, and what to take over."""
    race = confirmation.race
    share = 100 * sum(raced.operator.share for raced in selection.races)
    text = confirmation.finding
    title = f"{text[:1].upper()}{text[1:]}"
    if any(timing.blocks_ms for timing in race.timings):
        show_figure(latency_strips(race, title=title), "kernels-whole")
    else:
        show_message(title, key="kernels-whole")
    st.caption(
        f"The prediction counts the raced operators alone, {share:.0f} % of the time of all; only "
        "this race of the whole model is believed."
    )
    options = command_line(confirmation.choice.options)
    if options:
        taken = confirmation.adopted == OPTIONS or "options" in confirmation.adopted
        st.text("Options, for the command line:" if taken else "Options that were tried:")
        st.code(options, language=None)
    for note in (*confirmation.choice.notes, *_places(confirmation)):
        st.caption(words(note))
    show_twin("Whole model as a table", _whole_table(confirmation))


def show_decision(decision: KernelDecision) -> None:
    """The candidates of one generated kernel: what won, what lost and by how much."""
    copies = decision.copies
    _workload(decision.raced, copies)
    if decision.raced.race is not None:
        show_figure(selection_tree(decision.raced, copies=copies), "kernel-tree")
    checked = [f"{label} on {count}" for label, count in decision.checked.items()]
    told = f" Right before it was timed: {', '.join(checked)} edge cases." if checked else ""
    st.caption(
        words(
            f"{decision.name}, {counted(decision.threads, 'thread')}, "
            f"{counted(copies, 'copy', 'copies')} in a row, times of one.{told}"
        )
    )


def command_line(options: Mapping[str, Value]) -> str:
    """Options as the command line takes them."""
    return " ".join(f"--set {setting_text(*item)}" for item in options.items())


def _workload(raced: WorkloadRace, copies: int = 1) -> None:
    operator = raced.operator
    rows = raced.rows()
    if raced.race is None:
        text = f"{operator.workload.title}: not raced: {raced.error}"
        show_message(text, key=f"raced-{operator.workload.key[:12]}")
    else:
        show_figure(candidate_dots(raced, copies=copies), f"workload-{operator.workload.key[:12]}")
        if (raced.row(raced.candidates[0].label).p50_ms or 1) < _SHORT_MS:
            st.caption(
                "Of a run this short the call itself takes a good part, some 5 µs: differences look"
                " smaller here than they are inside a model."
            )
    here = [row for row in rows if row.candidate.target == raced.candidates[0].target]
    elsewhere = [row for row in rows if row not in here]
    show_twin("Candidates as a table", _candidate_table(here, copies))
    if elsewhere:
        reason = elsewhere[0].verdict
        same = all(row.verdict == reason for row in elsewhere)
        title = counted(len(elsewhere), "GPU candidate") + (f", {reason}" if same else "")
        show_twin(words(title), _candidate_table(elsewhere))


def _tuning(report: KernelsReport) -> None:
    tuning = report.tuning
    assert tuning is not None
    if tuning.remark:
        st.caption(words(tuning.remark))
        return
    st.text(f"The runtime tuned {counted(tuning.choices, 'kernel')} by itself.")
    st.download_button(
        "Download tuning results", tuning.text, "tuning-results.json", key="kernels-tuning"
    )


def _how(report: KernelsReport) -> str:
    changed = ", ".join(starmap(setting_text, report.selection.config.changed().items()))
    hot, profiler = report.selection.hotspots, ""
    source = "operators of the file, estimated from arithmetic and traffic"
    if hot.source == "runtime profile":
        source = "operators of the file as it stands, from the runtime's profile"
        profiler = f" {taken_off([hot.profiler])}"
    return (
        f"{report.variant}: {source}. {measured_on(report.machine, report.started_at)}, load"
        f" {report.machine.load:.1f}; {changed or 'default options'}.{profiler}"
    )


def _hot_table(hot: Hotspots, raced: frozenset[str]) -> Table:
    shown = hot.operators[:MOST_ROWS]
    return {
        "workload": [o.workload.title for o in shown],
        "ms in a run": [digits(o.time_us / 1000) for o in shown],
        "share, %": [digits(100 * o.share) for o in shown],
        "places": [len(o.nodes) for o in shown],
        "raced": ["yes" if o.workload.key in raced else o.reason or "no" for o in shown],
        "first node": [o.nodes[0][0] for o in shown],
        "hash": [o.workload.key[:16] for o in shown],
    }


def _candidate_table(rows: Sequence[CandidateRow], copies: int = 1) -> Table:
    return {
        "candidate": [row.candidate.label for row in rows],
        "median, ms": [None if row.p50_ms is None else digits(row.p50_ms / copies) for row in rows],
        "verdict": [row.verdict for row in rows],
        "difference of results": [
            None if row.scaled is None else float(f"{row.scaled:.2g}") for row in rows
        ],
        "fewer bits": ["yes" if row.candidate.lossy else "" for row in rows],
        "options": [
            ", ".join(starmap(setting_text, row.candidate.changes.items())) for row in rows
        ],
    }


def _whole_table(confirmation: Confirmation) -> Table:
    race = confirmation.race
    timed = [timing.summary for timing in race.timings]
    return {
        "variant": [t.label for t in race.timings],
        "median, ms": [None if s is None else digits(s.p50_ms) for s in timed],
        "predicted": [
            f"{confirmation.predicted[t.label]:.1%} less time"
            if t.label in confirmation.predicted
            else ""
            for t in race.timings
        ],
        "verdict": [race.verdict(t.label) for t in race.timings],
    }


def _places(confirmation: Confirmation) -> list[str]:
    return [
        f"{counted(one.places, 'place')} written anew; others were left: {'; '.join(one.reasons)}."
        for one in confirmation.changed.values()
        if one.reasons
    ]
