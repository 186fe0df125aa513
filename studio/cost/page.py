"""Cost: what each rewrite bought, and when it has paid."""

from __future__ import annotations

from functools import partial

import streamlit as st

from profiling.config import RunConfig
from studio.artifacts.opened import Subject
from studio.cost.ablation.page import render_ablation
from studio.cost.break_even.page import render_break_even
from studio.cost.device import calibrate_once, choose_device, say_calibrating
from studio.cost.fusion.page import render_fusion
from studio.cost.link import CostChoice
from studio.cost.roofline.page import render_roofline
from studio.cost.sidebar import chosen, segments, sidebar, variant
from studio.cost.trace_costs import TraceCosts, trace_costs
from studio.cost.waterfall.page import measured, on_paper, predicted
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
    subject = model_and_run()
    if subject is None:
        return
    calibrate_once()
    choice = chosen()
    segments("section", _SECTIONS, choice.section)
    if choice.section == "roofline":
        _roofline(subject, choice)
    elif choice.section == "fusion":
        render_fusion(subject, choice)
    else:
        _worth(subject, choice)


def _roofline(subject: Subject, choice: CostChoice) -> None:
    with st.sidebar:
        device = choose_device(choice)
        variant(choice, subject[1].result.steps)
    render_roofline(subject, device, choice)


def _worth(subject: Subject, choice: CostChoice) -> None:
    predicting = choice.section == "waterfall" and choice.count == "predicted"
    with st.sidebar:
        config, problem = sidebar(choice)
        device = choose_device(choice) if predicting else None
        if not predicting:
            say_calibrating()
    blocked = None if problem is None else partial(show_problem, problem)
    costs = trace_costs(store(), *subject)
    if not costs.steps:
        show_message("No pass found anything to do; there is nothing to explain.", key="no-steps")
    elif device is not None:
        predicted(subject, costs, device, choice)
    elif choice.section == "waterfall" and choice.count != "latency":
        on_paper(costs, choice.count, choice)
    else:
        _measured(subject, costs, config, choice, blocked)


def _measured(
    subject: Subject, costs: TraceCosts, config: RunConfig, choice: CostChoice, blocked: Draw | None
) -> None:
    runnable = subject[0].summary.statuses.runnable
    if not runnable.ok and (choice.section != "ablation" or choice.race):
        show_message(f"This model cannot be run: {runnable.reason}", key="not-runnable")
    elif choice.section == "waterfall":
        measured(subject, costs, config, choice, blocked)
    elif choice.section == "ablation":
        render_ablation(subject, costs, config, choice, blocked)
    else:
        render_break_even(subject, config, choice, blocked)
