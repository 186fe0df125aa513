"""Run: choose variants once; race them, and see in each section why one wins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from profiling.config.question import explained
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.capture import page as capture
from studio.kernels import generated_page as generated
from studio.kernels import page as kernels
from studio.page.parts import choose_section, model_and_run, show_message
from studio.race import page as race
from studio.timeline import memory_page as memory
from studio.timeline import page as timeline
from studio.variants.link import SECTIONS, RunChoice
from studio.variants.sidebar import choose
from studio.variants.variant import RunSetup
from studio.workspace import current, remember

Section = Callable[[RunSetup], None]

TITLES: Mapping[str, str] = dict(
    zip(
        SECTIONS,
        ("Race", "Timeline", "Memory", "Kernels", "Generated kernels", "CUDA Graph"),
        strict=True,
    )
)
_DRAW: Mapping[str, Section] = dict(
    zip(
        SECTIONS,
        (
            race.render_section,
            timeline.render_section,
            memory.render_section,
            kernels.render_section,
            generated.render_section,
            capture.render_section,
        ),
        strict=True,
    )
)

_ASKING = frozenset({"race", "generated"})
"""Sections that say themselves how variants run."""


def render() -> None:
    """The page."""
    found = model_and_run()
    if found is not None:
        _page(*found)


def _page(model: OpenedModel, run: OpenedRun) -> None:
    with st.sidebar:
        chosen, problem = choose(model, run)
    status = model.summary.statuses.runnable
    choose_section(TITLES, current().of(RunChoice).section, key="section", take=_take)
    if not status.ok:
        show_message(f"This model cannot be run: {status.reason}", key="not-runnable")
    else:
        choice = current().of(RunChoice)
        setup = RunSetup(model, run, chosen, float(choice.seconds), problem)
        if choice.section not in _ASKING:
            _say_question(setup)
        _DRAW[choice.section](setup)


def _say_question(setup: RunSetup) -> None:
    """Which of the two questions a section is about that asks only one."""
    text = explained([[variant.config for variant in setup.variants]])
    if text:
        st.caption(text)


def _take(section: str) -> None:
    remember(current().having(replace(current().of(RunChoice), section=section)))
