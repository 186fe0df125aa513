"""Ablation: the pipeline without each pass."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from optimizer.numbers import counted, digits
from profiling.config import RunConfig
from profiling.worth.ablation import Ablation
from profiling.worth.waterfall import Metric, waterfall
from studio.artifacts.opened import Subject
from studio.cost.ablation.figure import ablation_dots, interactions, latency_without
from studio.cost.ablation.job import ABLATION_EXPERIMENT, AblationReport, AblationRequest
from studio.cost.link import CostChoice
from studio.cost.trace_costs import TraceCosts
from studio.cost.worth import how
from studio.page.experiment import offer
from studio.page.figure import Table, show_figure, show_twin
from studio.page.launch import Draw
from studio.page.parts import show_message
from studio.workspace import current

NO_TURNS: Mapping[str, int] = MappingProxyType({})


def render_ablation(
    subject: Subject, costs: TraceCosts, config: RunConfig, choice: CostChoice, blocked: Draw | None
) -> None:
    """The section."""
    seconds = float(choice.seconds) if choice.race else 0.0
    metric: Metric = "nodes" if choice.count in ("latency", "predicted") else choice.count
    at_turn = waterfall(costs.steps, costs.totals, metric=metric).bars
    turn = {bar.pass_id: -bar.change for bar in at_turn}

    def show(report: AblationReport) -> None:
        show_ablation(report, metric=metric, turn=turn)

    offer(
        ABLATION_EXPERIMENT,
        subject,
        AblationRequest(config, seconds, current().pipeline()),
        name="Leave out one by one",
        explain=lambda: _explain(costs),
        show=show,
        show_recorded=show_ablation,
        show_partial=show,
        blocked=blocked,
    )


def _explain(costs: TraceCosts) -> None:
    count = len(costs.fired)
    st.html(
        '<div class="empty"><h2>Which passes would be missed?</h2>'
        f"<p>{counted(count, 'pass', 'passes')} fired. The pipeline runs again without each of"
        " them, and with each alone: a pass that prepares the ground for others is missed"
        " for more than it does itself, and one whose work others do as well is not missed at"
        " all.</p>"
        f"<p>That is {2 * count} runs of the optimizer.</p></div>"
    )


def show_ablation(
    report: AblationReport, *, metric: Metric = "nodes", turn: Mapping[str, int] = NO_TURNS
) -> None:
    """What was found; `turn` is what each pass saved in the waterfall, if known."""
    titles = {name: entry.title for name, entry in report.names.items()}
    worth = report.ablation.worth(metric)
    for pass_id, reason in report.failed.items():
        show_message(f"{titles[pass_id]}: {reason}", key=f"failed-{pass_id}")
    if not worth:
        show_message("No pass fired; there is nothing to leave out.", key="nothing")
        return
    _latency(report, titles)
    show_figure(ablation_dots(worth, turn, metric, titles), f"ablation-{metric}")
    st.caption(
        "Counted on paper. Missed if left out: what all passes save, and all but this one do not."
        " Alone: what the pass saves with no other. At its turn: its bar in the waterfall. Where"
        " the three differ, passes depend on each other."
    )
    show_twin("Every pass as a table", _table(report.ablation, metric, titles))
    drawn = interactions(worth, titles)
    if drawn is None:
        st.caption("No pass changes how often another one fires.")
    else:
        show_figure(drawn, "interactions")
        st.caption(
            "Rewrites of each pass when another one is left out, less those with all passes on."
        )


def _latency(report: AblationReport, titles: dict[str, str]) -> None:
    if report.race is None:
        return
    pairs = ((name, report.slower_without(name)) for name in report.raced[1:])
    found = {name: contrast for name, contrast in pairs if contrast is not None}
    if found:
        show_figure(latency_without(found, titles, report.request.config), "latency-without")
    st.caption(how(report.race, report.request.config, seconds=report.request.seconds))
    table: Table = {
        "left out": [titles[name] for name in found],
        "slower by, %": [digits(100 * (c.speedup - 1)) for c in found.values()],
        "low, %": [digits(100 * (c.low - 1)) for c in found.values()],
        "high, %": [digits(100 * (c.high - 1)) for c in found.values()],
        "rounds": [c.rounds for c in found.values()],
    }
    show_twin("Latencies as a table", table)


def _table(ablation: Ablation, metric: Metric, titles: dict[str, str]) -> Table:
    worth = ablation.worth(metric)
    return {
        "pass": [titles[w.pass_id] for w in worth],
        "rewrites": [w.fired for w in worth],
        f"missed, {metric}": [w.missing for w in worth],
        f"alone, {metric}": [w.alone for w in worth],
        "others fire": [
            ", ".join(f"{titles[name]} {change:+d}" for name, change in w.others.items())
            for w in worth
        ],
    }
