"""Planners: one arena, planned by everybody."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from optimizer.memory.plan import Plan
from optimizer.memory.registry import planners
from studio.memory.arena_map import ArenaMap
from studio.memory.lanes_figure import Panel, Scale, lanes
from studio.memory.planners.figure import cut_at, planner_bars, planners_finding
from studio.memory.planners.job import ALL_PLANS, Planned, PlannersRequest
from studio.memory.setting import Maps, Setting
from studio.memory.waiting import settled
from studio.memory.wording import times_bound
from studio.numbers import bytes_text, digits, times_text
from studio.page.figure import show_figure, show_twin
from studio.page.parts import show_message
from studio.services import pool
from studio.timeline.page import is_dark

_FEW = ("naive", "lazy-best-fit")
_GAP = 0.001


def render_section(setting: Setting, maps: Maps) -> None:
    """The section."""
    request = PlannersRequest(setting.request, float(setting.choice.seconds))
    subject = (setting.model, setting.run)
    found = settled(
        ALL_PLANS.key(*subject, request),
        partial(ALL_PLANS.run, pool(), subject, request),
        name="Planning with every planner",
    )
    if found is not None:
        _show(found, maps.after)


def _show(found: Planned, drawn: ArenaMap) -> None:
    titles = {planner.id: planner.title for planner in planners()}
    for planner, reason in found.failed.items():
        show_message(f"{titles.get(planner, planner)}: {reason}", key=f"failed-{planner}")
    figure = planner_bars(found.plans, titles, title=planners_finding(found.plans, titles))
    show_figure(figure, "planners")
    st.caption(
        "Peak of the activations' arena; every plan was checked by an independent sweep. The most"
        " that is alive at once is a lower bound: a plan that meets it is optimal, and so is one"
        " whose search ruled out everything smaller. Times are of this machine, once."
    )
    show_twin("Every planner as a table", _table(found, titles))
    show_figure(_lanes(found, drawn, titles), "planner-lanes")
    st.caption(
        "The same buffers, the same axes: naive never uses a byte twice and leaves the picture; a"
        " gap below the live curve is fragmentation."
    )


def _lanes(found: Planned, drawn: ArenaMap, titles: dict[str, str]) -> Any:
    few = [plan for plan in map(found.of, _FEW) if plan is not None]
    shown = [*few, found.best] if found.best not in few else few
    panels = [Panel(_panel_title(plan, titles), replace(drawn, plan=plan)) for plan in shown]
    scale = Scale(max(1, len(drawn.arena.nodes)), cut_at(found.plans))
    return lanes(panels, title=_lost(found), scale=scale, dark=is_dark())


def _panel_title(plan: Plan, titles: dict[str, str]) -> str:
    peak = f"{bytes_text(plan.peak_bytes)}, {times_bound(plan)}"
    return f"{titles.get(plan.planner, plan.planner)} · {peak}"


def _lost(found: Planned) -> str:
    """What reuse gives, and what fragmentation takes of it."""
    naive, lazy, best = found.of("naive"), found.of("lazy-best-fit"), found.best
    if naive is None or lazy is None or not best.peak_bytes:
        return f"Best: {bytes_text(best.peak_bytes)}"
    reuse = naive.peak_bytes / best.peak_bytes
    lost = lazy.peak_bytes / best.peak_bytes - 1
    text = f"Without reuse {times_text(reuse)} as much"
    if lost < _GAP:
        return f"{text}; lazy best fit loses nothing to fragmentation"
    return f"{text}; lazy best fit loses {100 * lost:.3g} % to fragmentation"


def _table(found: Planned, titles: dict[str, str]) -> dict[str, list[Any]]:
    plans = found.plans
    return {
        "planner": [titles.get(plan.planner, plan.planner) for plan in plans],
        "peak, KiB": [digits(plan.peak_bytes / 1024) for plan in plans],
        "× bound": [digits(plan.peak_bytes / max(1, plan.bound_bytes)) for plan in plans],
        "ms": [digits(plan.seconds * 1000) for plan in plans],
        "certificate": [plan.certificate or "" for plan in plans],
        "note": [plan.note for plan in plans],
    }
