"""Memory: where every byte of a run lives, planned by different planners, in different orders."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from studio.memory_choice import SECTIONS, MemoryChoice
from studio.pages.memory.setting import Setting
from studio.pages.parts import model_and_run
from studio.planning.request import ArenaRequest
from studio.store import OpenedModel, OpenedRun
from studio.workspace import current, remember

Section = Callable[[Setting], None]

TITLES = dict(zip(SECTIONS, ("Map", "Planners", "Order", "Recompute", "Film"), strict=True))
_KEY = "memory-section"


def render() -> None:
    """The page."""
    found = model_and_run()
    if found is not None:
        _page(*found)


def _page(model: OpenedModel, run: OpenedRun) -> None:
    st.session_state[_KEY] = current().memory.section
    st.segmented_control(
        "Section",
        SECTIONS,
        format_func=TITLES.__getitem__,
        key=_KEY,
        on_change=_pick_section,
        label_visibility="collapsed",
        required=True,
    )
    setting = setting_of(model, run)
    if setting.choice.section == "film":
        film = importlib.import_module("studio.pages.memory.film")
        film.render_section(setting)


def setting_of(model: OpenedModel, run: OpenedRun) -> Setting:
    """What this session has chosen, as far as this run has it."""
    workspace = current()
    choice: MemoryChoice = workspace.memory
    last: int = run.result["steps"]
    step = last if workspace.view.step is None else min(workspace.view.step, last)
    request = ArenaRequest(
        step,
        views=choice.views,
        in_place=choice.in_place,
        alignment=choice.alignment,
        order=choice.order,
        sizes=choice.sizes,
    )
    return Setting(model, run, request, workspace.view.before, choice)


def _pick_section() -> None:
    section = st.session_state[_KEY]
    if section in SECTIONS:
        remember(replace(current(), memory=replace(current().memory, section=section)))
