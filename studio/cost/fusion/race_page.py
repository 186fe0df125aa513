"""The chain measured: as it is, as our passes make it, and as the runtime fuses it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from optimizer.cost.device import DeviceProfile
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.cost.fusion.job import ChainRequest, Explained
from studio.cost.fusion.race import FusionRaced, fusion_race_key, run_fusion_race
from studio.cost.link import CostChoice
from studio.cost.pieces import figure
from studio.page.figure import show_table
from studio.page.launch import launch
from studio.page.parts import show_message, words
from studio.page.result_actions import beside
from studio.race.latency_figure import latency_strips
from studio.race.report import how, percentiles, show_race_cut_short, show_race_so_far
from studio.race.speedup_figure import speedup_forest
from studio.services import keeper, pool

Subject = tuple[OpenedModel, OpenedRun]


def render_fusion_race(
    subject: Subject,
    request: ChainRequest,
    explanation: Explained,
    device: DeviceProfile,
    choice: CostChoice,
) -> None:
    """The button, progress, and what came out."""
    launch(
        fusion_race_key(subject, request, choice.seconds),
        partial(
            run_fusion_race, pool(), subject, explanation, device=device,
            seconds=float(choice.seconds), keep=keeper().keep,
        ),
        explain=_explain,
        show=lambda found: _show(replace(found, fusion=explanation.fusion, device=device)),
        beside=lambda found: beside(found.report.kept),
        name="Race the chain",
        show_partial=lambda race: show_race_so_far((race,)),
        show_left=lambda race: show_race_cut_short((race,)),
    )  # fmt: skip


def _explain() -> None:
    st.html(
        '<div class="empty"><h2>Does it pay here?</h2>'
        "<p>The chain alone, on this machine, one thread: as it is, as our passes make it, and"
        " fused by the runtime itself, in turns, each in a process of its own. Here will be how"
        " much faster each is, with its interval.</p></div>"
    )


def _show(found: FusionRaced) -> None:
    if keeper().problem:
        show_message(keeper().problem, key="not-kept")
    (race,) = found.report.races
    for number, timing in enumerate(race.timings):
        if not timing.believable:
            show_message(f"{timing.label}: {race.verdict(timing.label)}", key=f"chain-{number}")
    for number, remark in enumerate(race.remarks):
        show_message(remark, key=f"chain-remark-{number}")
    figure(latency_strips(race, title=found.finding), "fusion-latency")
    st.caption(words(_how(found)))
    if len(race.timings) > 1:
        figure(speedup_forest(race), "fusion-speedup")
    show_table(percentiles([race]))


def _how(found: FusionRaced) -> str:
    return (
        "The same inputs again and again: on a CPU everything may lie in its caches, so that what"
        " fusing keeps out of memory was cheap to begin with, and the gain is smaller than in the"
        f" whole model or on a GPU. A run includes the session's own overhead. "
        f"{how(found.report.races[0])}"
    )
