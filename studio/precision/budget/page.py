"""Budget: a search for the cheapest plan, everything it tried, and the way to the plan's steps."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from optimizer.errors import StudioError
from optimizer.isolation import Progress
from optimizer.numbers import counted
from optimizer.verify import budget_of
from profiling.precision.choose import SearchRequest, choose
from profiling.precision.chosen import CHOSEN, ChosenPlan
from profiling.precision.evaluation import Requirement
from profiling.precision.trials import Allowance
from studio.artifacts.artifact import Value
from studio.artifacts.atomic_folder import atomic_folder
from studio.artifacts.opened import SOURCE
from studio.experiment import measured_on
from studio.page.computed import computed_artifact
from studio.page.figure import picked_key, show_figure, show_table, show_twin
from studio.page.launch import launch
from studio.page.parts import choose_section, show_error, show_message, words
from studio.page.plans import open_plan
from studio.precision.budget.figure import not_drawn, pareto, regions_table, tried_table
from studio.precision.link import MOST_MINUTES
from studio.precision.ranges.figure import sizes
from studio.precision.ranges.job import INVENTORY
from studio.precision.setting import PrecisionSetting, change
from studio.services import pool

_PICKED = "precision-picked"
_FORM = Value(CHOSEN)
_GOALS = {"speed": "Faster", "size": "Smaller"}


@dataclass(frozen=True, slots=True)
class _Search:
    """A search that can be begun.

    Attributes:
        asked: what is wanted.
        source: the model's file.
        folder: where what was found is kept.
    """

    asked: SearchRequest
    source: Path
    folder: Path

    def __call__(
        self,
        *,
        progress: Progress,
        cancelled: Callable[[], bool],
        partial: Callable[[Any], None] = lambda _: None,
    ) -> ChosenPlan:
        found = choose(
            self.source, self.asked, pool=pool(), observer=partial, progress=progress,
            cancelled=cancelled,
        )  # fmt: skip
        with atomic_folder(self.folder) as draft:
            _FORM.write(draft, found)
        return found


def render_budget(setting: PrecisionSetting) -> None:
    """The section."""
    _form(setting)
    runnable = setting.model.summary.statuses.runnable
    if not runnable.ok:
        show_message(f"This model cannot be run: {runnable.reason}", key="not-runnable")
        return
    try:
        required = Requirement(budget_of(setting.choice.budget))
    except StudioError as error:
        show_error(error, key="budget")
        return
    seconds = 60.0 * setting.choice.minutes
    asked = SearchRequest(required, setting.choice.goal, setting.samples, {}, Allowance(seconds))
    mark = hashlib.sha256(repr(asked).encode()).hexdigest()[:16]
    search = _Search(asked, setting.model.folder / SOURCE, setting.run.folder / f"search-{mark}")
    launch(
        ("precision-search", setting.model.key, setting.run.key, mark),
        search,
        explain=partial(_explain, setting, kept=search.folder.is_dir()),
        show=_show,
        name="Search",
        show_partial=lambda found: _show(found, searching=True),
        show_left=_show,
        earlier=partial(_earlier, search.folder),
    )


def _form(setting: PrecisionSetting) -> None:
    choice = setting.choice
    with st.container(horizontal=True, vertical_alignment="top", key="budget-form"):
        key = "precision-budget"
        st.session_state[key] = choice.budget
        st.text_input(
            "Budget", key=key, width=160, on_change=lambda: _take_budget(st.session_state[key]),
            help="Most error of any output, of its scale: 5 %. Or least signal over error: 25 dB.",
        )  # fmt: skip
        choose_section(
            _GOALS, choice.goal, key="precision-goal", take=lambda goal: change(goal=goal),
            label="Goal", is_shown=True,
        )  # fmt: skip
        minutes = "precision-minutes"
        st.session_state[minutes] = choice.minutes
        st.number_input(
            "Minutes", 1, MOST_MINUTES, key=minutes, width=130,
            on_change=lambda: change(minutes=st.session_state[minutes]),
        )  # fmt: skip
    if (error := st.session_state.get("precision-budget-error")) is not None:
        show_error(error, key="budget-text")


def _take_budget(text: str) -> None:
    """A budget that makes no sense is told, and the one of before stays."""
    try:
        change(budget=str(budget_of(text)))
    except StudioError as error:
        st.session_state["precision-budget-error"] = error
    else:
        st.session_state.pop("precision-budget-error", None)


def _explain(setting: PrecisionSetting, *, kept: bool) -> None:
    if kept:
        return
    found = computed_artifact(INVENTORY, setting.subject, setting.step, "Reading the weights")
    if found is not None:
        show_figure(sizes(found), "precision-sizes")
    st.caption(
        "Here will be everything the search tries: each region of the graph in float32, int8 or"
        " fewer bits, its time against float in one race, its error on held-out inputs, its size."
    )


def _earlier(folder: Path) -> None:
    """What was found before, if it is there."""
    if folder.is_dir():
        st.caption("Found earlier, on this server:")
        _show(_FORM.read(folder, None))


def _show(chosen: ChosenPlan, *, searching: bool = False) -> None:
    found = chosen.found
    title = _title(chosen, searching=searching)
    picked = st.session_state.get(_PICKED, found.answer)
    picked = picked if picked < len(found.evaluations) else found.answer
    clicked = picked_key(pareto(chosen, picked=picked, title=title), "precision-pareto")
    if clicked is not None and int(clicked) != picked:
        picked = st.session_state[_PICKED] = int(clicked)
    if not searching:
        st.markdown(f"**{words(chosen.finding)}**")
    st.caption(words(_how(chosen)))
    _plan(chosen, picked, searching=searching)
    show_twin("Everything tried as a table", tried_table(chosen))


def _plan(chosen: ChosenPlan, place: int, *, searching: bool) -> None:
    one = chosen.found.evaluations[place]
    with st.container(key="ways-plan", horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Plan** {words(chosen.told(place))}")
        if place and not searching and st.button("Open in Rewrite", key=f"open-plan-{place}"):
            open_plan(chosen.pipeline(one.plan))
    if place:
        with st.expander("The plan, region by region", expanded=not searching):
            show_table(regions_table(chosen, place))


def _title(chosen: ChosenPlan, *, searching: bool) -> str:
    tried = counted(len(chosen.found.evaluations) - 1, "plan")
    if searching:
        return f"Searching: {tried} tried, {len(chosen.front)} on the front"
    return f"{tried} tried for {chosen.required}: {'met' if chosen.found.met else 'not met'}"


def _how(chosen: ChosenPlan) -> str:
    left_out = not_drawn(chosen)
    calibrated = counted(chosen.calibrated, "input")
    text = (
        f"Ranges rest on {calibrated}, errors on {counted(chosen.held, 'other')}. Times are of"
        f" interleaved races against float; a mark's area is the file's size; the dotted line"
        f" joins what nothing else beats; the dashed one is the budget."
    )
    if left_out:
        text += f" Not in the picture, since they failed or were not worth a race: {left_out}."
    ended = f" The search ended: {chosen.found.ended}." if chosen.found.ended else ""
    where = measured_on(chosen.machine, chosen.started_at)
    return f"{text}{ended} {chosen.remark} {where}"
