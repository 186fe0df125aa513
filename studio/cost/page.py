"""Cost: what each rewrite bought, and when it has paid."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from profiling.config import RunConfig
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.cost.ablation.job import AblationReport
from studio.cost.ablation.page import render_ablation, show_ablation
from studio.cost.break_even.page import render_break_even, show_break_even
from studio.cost.choice import chosen
from studio.cost.device import calibrate_once, choose_device, say_calibrating
from studio.cost.fusion.page import render_fusion
from studio.cost.link import CostChoice
from studio.cost.payload import worth_from_payload
from studio.cost.roofline.page import render_roofline
from studio.cost.sidebar import segments, sidebar, variant
from studio.cost.trace_costs import TraceCosts, trace_costs
from studio.cost.waterfall.job import WaterfallReport
from studio.cost.waterfall.page import measured, on_paper, predicted, show_waterfall
from studio.page.launch import Draw
from studio.page.parts import model_and_run, show_message
from studio.services import store
from studio.variants.problem import show_problem

_SECTIONS = {
    "waterfall": "Waterfall",
    "roofline": "Roofline",
    "fusion": "Fusion",
    "ablation": "Ablation",
    "break-even": "Break-even",
}


def render() -> None:
    """The page."""
    found = model_and_run()
    if found is None:
        return
    calibrate_once()
    choice = chosen()
    segments("section", _SECTIONS, choice.section)
    if choice.section == "roofline":
        _roofline(found, choice)
    elif choice.section == "fusion":
        render_fusion(found, choice)
    else:
        _worth(*found, choice)


def _roofline(subject: tuple[OpenedModel, OpenedRun], choice: CostChoice) -> None:
    with st.sidebar:
        device = choose_device(choice)
        variant(choice, int(subject[1].result.steps))
    render_roofline(subject, device, choice)


def _worth(model: OpenedModel, run: OpenedRun, choice: CostChoice) -> None:
    predicting = choice.section == "waterfall" and choice.count == "predicted"
    with st.sidebar:
        config, problem = sidebar(choice)
        device = choose_device(choice) if predicting else None
        if not predicting:
            say_calibrating()
    held = None if problem is None else partial(show_problem, problem)
    costs = trace_costs(store(), model, run)
    if not costs.steps:
        show_message("No pass found anything to do; there is nothing to explain.", key="no-steps")
    elif device is not None:
        predicted((model, run), costs, device, choice)
    else:
        _section(model, run, costs, config, choice, held=held)


def _section(
    model: OpenedModel,
    run: OpenedRun,
    costs: TraceCosts,
    config: RunConfig,
    choice: CostChoice,
    *,
    held: Draw | None,
) -> None:
    runnable = model.summary["statuses"]["runnable"]
    if choice.section == "waterfall" and choice.count != "latency":
        on_paper(costs, choice.count, choice)
    elif not runnable["ok"] and (choice.section != "ablation" or choice.race):
        show_message(f"This model cannot be run: {runnable['reason']}", key="not-runnable")
    elif choice.section == "waterfall":
        measured(model, run, costs, config, choice, held=held)
    elif choice.section == "ablation":
        render_ablation(model, run, costs, config, choice, held=held)
    else:
        render_break_even(model, run, config, choice, held=held)


def show_worth(payload: Mapping[str, Any]) -> None:
    """A recorded waterfall, ablation or break-even.

    Raises:
        StudioError: the payload is none of them.
    """
    report = worth_from_payload(payload)
    if isinstance(report, WaterfallReport):
        show_waterfall(report)
    elif isinstance(report, AblationReport):
        show_ablation(report)
    else:
        show_break_even(report)
