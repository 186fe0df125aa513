"""Race: which variant is faster, and how sure that is; at one size, or over several."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import streamlit as st

from profiling.config.question import meaning_of, question_of
from studio.page.experiment import offer
from studio.page.parts import choose_section, show_message
from studio.race.advised import with_advice
from studio.race.job import RACE_EXPERIMENT, RaceReport, RaceRequest
from studio.race.report import show_race, show_race_cut_short, show_race_so_far
from studio.race.sweep.job import dimensions_of
from studio.race.sweep.page import render_sweep
from studio.variants.link import RunChoice, SweepChoice
from studio.variants.problem import with_labels
from studio.variants.variant import RunSetup
from studio.workspace import current, remember

_SET_UP_S = 4
"""What each variant takes beside its steady runs: a process, a session, warming up."""

_MODE = "race-mode"


def render_section(setup: RunSetup) -> None:
    """The section: a race of all variants, or a sweep of one."""
    dimensions = dimensions_of(setup.model)
    if dimensions:
        _choose_mode(dimensions)
    if setup.run.result.steps == 0 and len({e.step for e in setup.variants}) == 1:
        _no_rewrites(setup)
    if setup.chosen.left_out:
        show_message(with_labels(setup.chosen.left_out), key="left-out")
    if dimensions and current().of(RunChoice).sweep is not None:
        render_sweep(setup, dimensions)
    else:
        _race(setup)


def _race(setup: RunSetup) -> None:
    request = RaceRequest(setup.chosen.asked, setup.seconds)
    offer(
        RACE_EXPERIMENT,
        setup.subject,
        request,
        name="Race",
        explain=lambda: _explain(setup, request),
        show=lambda report: _show(report, setup),
        show_recorded=show_race,
        show_partial=show_race_so_far,
        show_left=show_race_cut_short,
        blocked=setup.blocked,
    )


def _show(report: RaceReport, setup: RunSetup) -> None:
    """The race, and one click that makes of its advice one more variant."""
    taken = with_advice(current().of(RunChoice), setup.variants, report.races)
    if taken is not None:
        st.button(
            "Add a variant without the runtime's slow fusions",
            icon=":material/build:",
            key="advice",
            on_click=lambda: remember(current().having(taken)),
        )
    show_race(report)


def _explain(setup: RunSetup, request: RaceRequest) -> None:
    """What will be here, what runs for it, and for how long."""
    names = " · ".join(escape(variant.label) for variant in setup.variants)
    duration = setup.seconds * 1.3 + _SET_UP_S * sum(map(len, request.asked))
    st.html(
        f'<div class="empty"><h2>Which one is faster?</h2><p>{names}</p>{_questions(request)}'
        "<p>Each variant runs in a process of its own, in turns with the others; outputs are "
        f"compared first. It ends when all is sure, after about {duration:.0f} s at most.</p>"
        "<p>Here will be: every run as a dot; who is faster, with a 95 % interval; percentiles and "
        "memory; what importing, creating the session and the first run cost.</p></div>"
    )


def _questions(request: RaceRequest) -> str:
    """A line for each question, with its share of the time."""
    asked = [[variant.config for variant in variants] for variants in request.asked]
    lines = [
        f"<li><b>{question.capitalize()}</b>: {meaning_of(configs)}; "
        f"up to {request.seconds_each:.3g} s of steady running</li>"
        for configs in asked
        if (question := question_of(configs)) is not None
    ]
    return f"<ul>{''.join(lines)}</ul>" if lines else ""


def _no_rewrites(setup: RunSetup) -> None:
    if len({tuple(sorted(e.config.changed().items())) for e in setup.variants}) == 1:
        text = (
            "No pass found anything to do here, so all variants are the same; "
            "let one of them vary an option."
        )
        show_message(text, key="no-rewrites")


def _choose_mode(dimensions: tuple[str, ...]) -> None:
    """One size, or several of them; only where the model leaves a size open."""
    mode = "sweep" if current().of(RunChoice).sweep is not None else "race"

    def take(chosen: str) -> None:
        sweep = SweepChoice(dimensions[0]) if chosen == "sweep" else None
        remember(current().having(replace(current().of(RunChoice), sweep=sweep)))

    titles = {"race": "One size", "sweep": "Several sizes"}
    choose_section(titles, mode, key=_MODE, take=take, label="What to race over")
