"""Waterfall: from the source to the optimized graph, bar by bar."""

from __future__ import annotations

from math import exp

import streamlit as st

from optimizer.cost.device import DeviceProfile
from optimizer.numbers import FLOP_MEANS, counted, digits
from profiling.config import RunConfig
from profiling.worth.waterfall import (
    Bar,
    MeasuredBar,
    MeasuredBy,
    Metric,
    Waterfall,
    measured_bars,
    waterfall,
)
from studio.artifacts.opened import Subject
from studio.cost.go_to import go_to_steps
from studio.cost.link import CostChoice
from studio.cost.prediction.job import PREDICTED_STEPS, device_text
from studio.cost.trace_costs import TraceCosts, steps_text
from studio.cost.waterfall.figure import (
    elsewhere_label,
    measured_waterfall_figure,
    static_waterfall,
)
from studio.cost.waterfall.job import WATERFALL_EXPERIMENT, WaterfallReport
from studio.cost.worth import WorthRequest, how
from studio.page.computed import computed_artifact
from studio.page.experiment import offer
from studio.page.figure import Table, picked_row, picked_trace, show_figure
from studio.page.launch import Draw
from studio.page.parts import show_remarks, words

GENERATE = "generate-kernels"
"""The pass whose steps are called by their regions."""
_UNITS = {"nodes": "nodes", "flops": "FLOP", "bytes": "bytes moved", "predicted": "ns"}


_COUNTED = (
    f"Counted from shapes, without running anything: {FLOP_MEANS}; bytes are what"
    " every operator reads and writes; free dimensions at their assumed sizes."
)


def predicted(
    subject: Subject, costs: TraceCosts, device: DeviceProfile, choice: CostChoice
) -> None:
    """What the cost model says of every step, on one device."""
    found = computed_artifact(PREDICTED_STEPS, subject, device_text(device), "Predicting")
    if found is None:
        return
    on_paper(costs.with_predicted(found), "predicted", choice, how=_model_of(device, found.unknown))


def _model_of(device: DeviceProfile, unknown: tuple[int, int]) -> str:
    cold = " (longer where what it reads lies far)" if device.far_us else ""
    lost = f" Without a prediction: {counted(unknown[0], 'node')} before, {unknown[1]} after."
    missing = lost if any(unknown) else ""
    return words(
        f"Predicted for {device.title}: launch{cold}, then arithmetic or reading and"
        f" writing, whichever takes longer; node after node, each rounded to a nanosecond.{missing}"
    )


def on_paper(costs: TraceCosts, metric: Metric, choice: CostChoice, *, how: str = _COUNTED) -> None:
    """What shapes and operators say; exact, and at once.

    Args:
        costs: of every step, with this metric.
        metric: what is counted.
        choice: what makes one bar.
        how: it was counted, for the caption.
    """
    found = waterfall(costs.steps, costs.totals, metric=metric, by=choice.by)
    labels = [_label(bar, costs) for bar in found.bars]
    families = [costs.names[bar.pass_id].family for bar in found.bars]
    drawn, rows = static_waterfall(found, labels, families)
    picked = picked_trace(drawn, f"waterfall-{metric}-{choice.by}")
    beside = ""
    if found.elsewhere and metric == "predicted":
        beside = " Launches that no rewrite touched find other caches, too: the last bar."
    st.caption(
        f"{how} The bars add up exactly.{beside} A pass gets what it did at its turn; the ablation"
        " says what it is worth beside the others."
    )
    bars = rows[picked] if picked is not None and picked < len(rows) else ()
    place = st.container()
    row = picked_row("Every bar as a table", _table(found, labels), key=f"paper-{metric}")
    if row is not None and row < len(found.bars) and not bars:
        bars = (found.bars[row],)
    with place:
        steps = tuple(step for bar in bars for step in bar.steps)
        label = labels[found.bars.index(bars[0])] if len(bars) == 1 else counted(len(bars), "bar")
        go_to_steps(label, sorted(steps), key="paper")


def _label(bar: Bar, costs: TraceCosts) -> str:
    if bar.rule:
        place = f"{bar.steps[0]} · " if len(bar.steps) == 1 else ""
        return f"{place}{bar.rule}"
    return costs.names[bar.pass_id].title


def _table(found: Waterfall, labels: list[str]) -> Table:
    bars, names = list(found.bars), labels
    if found.elsewhere:
        bars, names = [*bars, Bar("", "", (), found.elsewhere)], [*labels, elsewhere_label(found)]
    return {
        "bar": names,
        "pass": [bar.pass_id for bar in bars],
        "rewrites": [len(bar.steps) for bar in bars],
        "steps": [steps_text(bar.steps) if bar.steps else "" for bar in bars],
        f"change, {_UNITS[found.metric]}": [bar.change for bar in bars],
    }


def measured(
    subject: Subject, costs: TraceCosts, config: RunConfig, choice: CostChoice, blocked: Draw | None
) -> None:
    """What a race of cut points says."""
    by: MeasuredBy = "pass" if choice.by == "pass" else "cut"
    offer(
        WATERFALL_EXPERIMENT,
        subject,
        WorthRequest(config, float(choice.seconds)),
        name="Measure",
        explain=lambda: _explain(costs, choice),
        show=lambda report: show_waterfall(report, by=by, inside=True),
        show_recorded=show_waterfall,
        show_partial=lambda report: show_waterfall(report, by=by, inside=False),
        blocked=blocked,
    )


def _explain(costs: TraceCosts, choice: CostChoice) -> None:
    passes = len(costs.fired)
    st.html(
        '<div class="empty"><h2>What did each pass buy in milliseconds?</h2>'
        f"<p>The model is cut between its {passes} passes; all cuts race in turns, each in a"
        " process of its own. Where two neighbours differ clearly, the steps between them are cut"
        " again, until a difference is one step, is not clear, or the time is up"
        f" ({choice.seconds} s of steady running, and as much again for sessions).</p>"
        "<p>Here will be: a bar for each pass with its 95 % interval; all bars together are the"
        " measured total.</p></div>"
    )


def show_waterfall(
    report: WaterfallReport, *, by: MeasuredBy = "pass", inside: bool = False
) -> None:
    """A measured waterfall; `inside`, its steps are those of the open run."""
    found = report.measured
    bars = measured_bars(found, report.pass_ids, by=by)
    labels = [_measured_label(bar, report, by) for bar in bars]
    families = [report.names[bar.passes[0]].family for bar in bars]
    drawn = measured_waterfall_figure(
        bars, found.source_ms, title=report.title, labels=labels, families=families
    )
    name = f"measured-{by}"
    picked = picked_trace(drawn, name) if inside else show_figure(drawn, name)
    st.caption(_how(report))
    show_remarks(found.remarks, key="worth")
    place = st.container()
    table: Table = {
        "bar": labels,
        "steps": [steps_text(bar.steps) for bar in bars],
        "speed-up": [digits(bar.change.speedup) for bar in bars],
        "low": [digits(exp(min(50.0, bar.change.low))) for bar in bars],
        "high": [digits(exp(min(50.0, bar.change.high))) for bar in bars],
        "saved, ms": [digits(bar.saved_ms) for bar in bars],
        "clear": [bar.change.clear for bar in bars],
    }
    row = picked_row("Every bar as a table", table, key=f"measured-{by}")
    index = picked if picked is not None and picked < len(bars) else row
    if inside:
        with place:
            label, steps = (labels[index], bars[index].steps) if index is not None else ("", ())
            go_to_steps(label, steps, key="measured")


def _measured_label(bar: MeasuredBar, report: WaterfallReport, by: MeasuredBy) -> str:
    """The count first: the rest may be cut off."""
    title, rules = report.names[bar.passes[0]].title, {report.steps[n - 1][1] for n in bar.steps}
    if by != "pass" and len(rules) == 1 and bar.passes == (GENERATE,):
        (title,) = rules
    several = f"{len(bar.passes)} passes: " if len(bar.passes) > 1 else ""
    return several + (title if by == "pass" else f"{steps_text(bar.steps)} · {title}")


def _how(report: WaterfallReport) -> str:
    heats = report.measured.heats
    request = report.request
    text = how(heats[0].race, request.config, races=len(heats), seconds=request.seconds)
    points = counted(len(report.measured.levels.points), "cut point")
    ended = report.measured.ended
    until = f" It ended because {ended}." if ended else ""
    return (
        f"{text} {points}.{until} Milliseconds are the source's median divided by paired"
        " speed-ups; hatched bars do not differ clearly from nothing."
    )
