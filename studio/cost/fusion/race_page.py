"""The chain measured: as it is, as our passes make it, and as the runtime fuses it."""

from __future__ import annotations

import streamlit as st

from studio.artifacts.opened import Subject
from studio.cost.fusion.race import FUSION_EXPERIMENT, FusionRaceRequest, fusion_finding
from studio.page.experiment import offer
from studio.page.figure import show_figure, show_table
from studio.page.parts import show_message, show_remarks, words
from studio.race.job import RaceReport
from studio.race.latency_figure import latency_strips
from studio.race.report import how, percentiles, show_race_cut_short, show_race_so_far
from studio.race.speedup_figure import speedup_forest


def render_fusion_race(subject: Subject, request: FusionRaceRequest) -> None:
    """The button, progress, and what came out."""
    offer(
        FUSION_EXPERIMENT,
        subject,
        request,
        name="Race the chain",
        explain=_explain,
        show=lambda found: _show(found, request),
        show_partial=show_race_so_far,
        show_left=show_race_cut_short,
    )


def _explain() -> None:
    st.html(
        '<div class="empty"><h2>Does it pay here?</h2>'
        "<p>The chain alone, on this machine, one thread: as it is, as our passes make it, and"
        " fused by the runtime itself, in turns, each in a process of its own. Here will be how"
        " much faster each is, with its interval.</p></div>"
    )


def _show(found: RaceReport, request: FusionRaceRequest) -> None:
    (race,) = found.races
    for number, timing in enumerate(race.timings):
        if not timing.believable:
            show_message(f"{timing.label}: {race.verdict(timing.label)}", key=f"chain-{number}")
    show_remarks(race.remarks, key="chain")
    title = fusion_finding(race, request.explained.fusion, request.device)
    show_figure(latency_strips(race, title=title), "fusion-latency")
    st.caption(
        words(
            "The same inputs again and again: on a CPU everything may lie in its caches, so that"
            " what fusing keeps out of memory was cheap to begin with, and the gain is smaller than"
            " in the whole model or on a GPU. A run includes the session's own overhead."
            f" {how(race)}"
        )
    )
    if len(race.timings) > 1:
        show_figure(speedup_forest(race), "fusion-speedup")
    show_table(percentiles([race]))
