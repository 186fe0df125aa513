"""Planners: one arena, planned by everybody."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from optimizer.memory.plan import Plan
from optimizer.memory.registry import planners
from optimizer.numbers import bytes_text, digits, times_text
from studio.memory.arena_map import ArenaMap
from studio.memory.lanes_figure import Scale, lanes
from studio.memory.map.job import ALL, MAP, MapRequest
from studio.memory.plan_text import times_bound
from studio.memory.planners.figure import cut_at, planner_bars, planners_finding
from studio.memory.setting import Maps, Setting
from studio.page.computed import computed_artifact
from studio.page.figure import is_dark, show_figure, show_twin
from studio.page.parts import show_message

_FEW = ("naive", "lazy-best-fit")
_GAP = 0.001


def render_section(setting: Setting, maps: Maps) -> None:
    """The section."""
    del maps  # planned by one planner
    request = MapRequest(setting.request, ALL, float(setting.choice.seconds))
    found = computed_artifact(MAP, setting.subject, request, "Planning with every planner")
    if found is not None:
        _show(found)


def _show(found: ArenaMap) -> None:
    titles = {planner.id: planner.title for planner in planners()}
    for planner, reason in found.failed.items():
        show_message(f"{titles.get(planner, planner)}: {reason}", key=f"failed-{planner}")
    figure = planner_bars(found.own_plans, titles, title=planners_finding(found.own_plans, titles))
    show_figure(figure, "planners")
    st.caption(
        "Peak of the activations' arena; every plan was checked by an independent sweep. The most"
        " that is alive at once is a lower bound: a plan that meets it is optimal, and so is one"
        " whose search ruled out everything smaller. Times are of this machine, once."
    )
    show_twin("Every planner as a table", _table(found, titles))
    show_figure(_lanes(found, titles), "planner-lanes")
    st.caption(
        "The same buffers, the same axes: naive never uses a byte twice and leaves the picture; a"
        " gap below the live curve is fragmentation."
    )


def _lanes(found: ArenaMap, titles: dict[str, str]) -> Any:
    shown = dict.fromkeys(plan for plan in (*map(found.of, _FEW), found.best) if plan is not None)
    panels = {
        _panel_title(plan, titles): replace(found, plans={found.arena.graph: (plan,)})
        for plan in shown
    }
    scale = Scale(max(1, len(found.arena.nodes)), cut_at(found.own_plans))
    return lanes(panels, title=_lost(found), scale=scale, dark=is_dark())


def _panel_title(plan: Plan, titles: dict[str, str]) -> str:
    peak = f"{bytes_text(plan.peak_bytes)}, {times_bound(plan)}"
    return f"{titles.get(plan.planner, plan.planner)} · {peak}"


def _lost(found: ArenaMap) -> str:
    """What reuse gives, and what fragmentation takes of it."""
    naive, lazy, best = found.of("naive"), found.of("lazy-best-fit"), found.best
    assert best is not None
    if naive is None or lazy is None or not best.peak_bytes:
        return f"Best: {bytes_text(best.peak_bytes)}"
    reuse = naive.peak_bytes / best.peak_bytes
    lost = lazy.peak_bytes / best.peak_bytes - 1
    text = f"Without reuse {times_text(reuse)} as much"
    if lost < _GAP:
        return f"{text}; lazy best fit loses nothing to fragmentation"
    return f"{text}; lazy best fit loses {100 * lost:.3g} % to fragmentation"


def _table(found: ArenaMap, titles: dict[str, str]) -> dict[str, list[Any]]:
    plans = found.own_plans
    return {
        "planner": [titles.get(plan.planner, plan.planner) for plan in plans],
        "peak, KiB": [digits(plan.peak_bytes / 1024) for plan in plans],
        "× bound": [digits(plan.peak_bytes / max(1, plan.bound_bytes)) for plan in plans],
        "ms": [digits(plan.seconds * 1000) for plan in plans],
        "certificate": [plan.certificate or "" for plan in plans],
        "note": [plan.note for plan in plans],
    }
