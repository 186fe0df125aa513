"""Memory: where every byte of a run lives, planned by different planners, in different orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import streamlit as st

from optimizer.memory.arena import LifetimeOptions
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.memory.arena_map import ArenaMap
from studio.memory.film import page as film
from studio.memory.link import SECTIONS, MemoryChoice
from studio.memory.map import page as lanes
from studio.memory.map.job import MAP, MapRequest
from studio.memory.orders import page as order
from studio.memory.planners import page as planners
from studio.memory.recompute import page as recompute
from studio.memory.setting import Maps, Setting
from studio.memory.sidebar import change, change_sizes, sidebar, step_slider
from studio.memory.subject import ArenaRequest
from studio.page.computed import computed_artifact
from studio.page.parts import choose_section, model_and_run, show_message, words
from studio.workspace import current

MOST_LISTED = 200
Section = Callable[[Setting, Maps], None]

TITLES: Mapping[str, str] = dict(
    zip(SECTIONS, ("Map", "Planners", "Order", "Recompute", "Film"), strict=True)
)
_DRAW: Mapping[str, Section] = {
    "map": lanes.render_section,
    "planners": planners.render_section,
    "order": order.render_section,
    "recompute": recompute.render_section,
    "film": lambda setting, _: film.render_section(setting),
}


def render() -> None:
    """The page."""
    found = model_and_run()
    if found is not None:
        _page(*found)


def _page(model: OpenedModel, run: OpenedRun) -> None:
    setting = setting_of(model, run)
    shown = setting.choice.section
    choose_section(
        TITLES, shown, key="memory-section", take=lambda section: change(section=section)
    )
    with st.sidebar:
        sidebar(setting.choice)
    if not model.summary.statuses.optimizable.ok:
        reason = model.summary.statuses.optimizable.reason
        show_message(f"This model cannot be planned: {reason}", key="not-plannable")
        return
    step_slider(setting)
    maps = _maps(setting)
    if maps is None:
        return
    assumed = assumed_sizes(setting, maps.after)
    if assumed:
        setting = with_sizes(setting, assumed)
        maps = _maps(setting)
        if maps is None:
            return
    with st.sidebar:
        change_sizes(setting, maps.after)
    say_assumed(assumed)
    if not maps.after.known:
        say_unknown(maps.after)
    elif not maps.after.activations:
        show_message(
            "Nothing is kept between two operators here: there are no activations to plan.",
            key="no-activations",
        )
    else:
        _DRAW[shown](setting, maps)


def setting_of(model: OpenedModel, run: OpenedRun) -> Setting:
    """What this session has chosen, as far as this run has it."""
    workspace = current()
    choice = workspace.of(MemoryChoice)
    last: int = run.result.steps
    step = last if workspace.view.step is None else min(workspace.view.step, last)
    options = LifetimeOptions(choice.views, choice.in_place, choice.alignment)
    request = ArenaRequest(step, options, choice.order, choice.sizes)
    return Setting(model, run, request, workspace.view.before, choice)


def _maps(setting: Setting) -> Maps | None:
    """The step that is looked at; None while there is progress or an error to show."""
    choice, request = setting.choice, setting.request
    compared = choice.section == "map" and choice.compared and request.step > 0
    steps = (setting.before_step, request.step) if compared else (request.step,)
    wanted = tuple(
        MapRequest(replace(request, step=step), choice.planner, float(choice.seconds))
        for step in steps
    )
    found: list[ArenaMap] = []
    for one in wanted:
        drawn = computed_artifact(MAP, setting.subject, one, "Planning")
        if drawn is None:
            return None
        found.append(drawn)
    *before, after = found
    return Maps(after, before[0] if before else None, (setting.before_step, request.step))


def assumed_sizes(setting: Setting, drawn: ArenaMap) -> dict[str, int]:
    """Free dimensions that nobody has set a size of, and the sizes they are taken to have.

    Args:
        setting: with the sizes that were set.
        drawn: under these; where it is planned nothing needs to be assumed.
    """
    given = dict(setting.request.sizes)
    if drawn.known:
        return {}
    return {name: size for name, size in drawn.free.items() if name not in given}


def with_sizes(setting: Setting, sizes: Mapping[str, int]) -> Setting:
    """The same with more sizes; the link does not change."""
    every = tuple(sorted((dict(setting.request.sizes) | dict(sizes)).items()))
    return replace(setting, request=replace(setting.request, sizes=every))


def say_assumed(assumed: Mapping[str, int]) -> None:
    """Which sizes the page has chosen by itself."""
    if assumed:
        listed = ", ".join(f"{name} = {size:,}" for name, size in assumed.items())
        it = "it" if len(assumed) == 1 else "them"
        said = f"At {listed}: assumed, the model leaves {it} open. Change {it} on the left."
        with st.container(key="assumed-sizes"):
            st.caption(words(said))


def say_unknown(drawn: ArenaMap) -> None:
    """Why there is no total: a sum without these tensors would be too small."""
    unknown = drawn.arena.unknown
    show_message(
        f"{len(unknown)} tensors have no known size, and no dimension that could be given one;"
        " memory cannot be planned.",
        key="unknown-sizes",
    )
    with st.expander(f"{len(unknown)} tensors of unknown size"):
        shown = unknown[:MOST_LISTED]
        st.dataframe(
            {"tensor": [one.name for one in shown], "why": [one.reason for one in shown]},
            hide_index=True,
            width="stretch",
            key="unknown-table",
        )
