"""Budget: a search for the cheapest plan, everything it tried, and the way to the plan's steps."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from optimizer.errors import StudioError
from optimizer.numbers import counted
from optimizer.verify import budget_of
from profiling.precision.choose import SearchRequest
from profiling.precision.chosen import ChosenPlan
from profiling.precision.evaluation import Requirement
from profiling.precision.trials import Allowance
from studio.artifacts.opened import SOURCE
from studio.artifacts.store import run_key
from studio.experiment import measured_on
from studio.page.computed import computed_artifact
from studio.page.figure import picked_key, picked_row, show_figure, show_table
from studio.page.launch import launch
from studio.page.parts import choose_section, run_again_after, show_error, show_message, words
from studio.precision.budget.figure import (
    failed,
    pareto,
    regions_table,
    search_title,
    tried_table,
)
from studio.precision.budget.job import Search
from studio.precision.layers.job import LayersRequest, PlanErrors, measure_plan
from studio.precision.layers.page import show_layers
from studio.precision.link import MOST_MINUTES
from studio.precision.ranges.figure import sizes
from studio.precision.ranges.inventory import INVENTORY
from studio.precision.setting import PrecisionSetting, change, is_quick
from studio.services import store, tasks
from studio.variants.plan import offer_plan

_PICKED = "precision-picked"
_GOALS = {"speed": "Faster", "size": "Smaller"}


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
    kind = ("precision-search", setting.model.key, setting.run.key)
    folder = setting.run.folder / f"search-{mark}"
    search = Search(asked, setting.model.folder / SOURCE, folder, kind)
    if tasks().get(search.key) is None:
        _tell_others(search)
    launch(
        search.key,
        search,
        explain=partial(_explain, setting, search),
        show=partial(_show, setting),
        name="Search",
        again="Search again",
        show_partial=partial(_show, setting, searching=True),
        show_left=partial(_show, setting),
        earlier=partial(_earlier, setting, search),
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


def _tell_others(search: Search) -> None:
    """That another search would end."""
    if others := search.others():
        st.caption("Another search on this model is running; this one ends it and keeps its finds.")
        run_again_after(others)


def _explain(setting: PrecisionSetting, search: Search) -> None:
    if search.folder.is_dir():
        return
    found = computed_artifact(INVENTORY, setting.subject, setting.step, "Reading the weights")
    if found is not None and not found.stored:
        show_message("There is nothing to quantize: the model has no constants.", key="nothing")
        return
    if found is not None:
        show_figure(sizes(found), "precision-sizes")
    st.caption(
        "Here will be everything the search tries: each region of the graph in float32, int8 or"
        " fewer bits, its time against float in one race, its error on held-out inputs, its size."
    )


def _earlier(setting: PrecisionSetting, search: Search) -> None:
    """What was found before, if it is there."""
    if (found := search.kept()) is not None:
        st.caption("Found earlier, on this server:")
        _show(setting, found)


def _show(setting: PrecisionSetting, chosen: ChosenPlan, *, searching: bool = False) -> None:
    if not searching:
        st.markdown(f"**{words(chosen.finding)}**")
    state: _Picked = st.session_state.setdefault(
        f"{_PICKED}-{chosen.digest}-{chosen.started_at}", _Picked()
    )
    place = chosen.found.answer if state.place is None else state.place
    title = search_title(chosen, searching=searching)
    clicked = picked_key(pareto(chosen, picked=place, title=title), "precision-pareto")
    st.caption(words(_how(chosen)))
    row = picked_row(
        "Everything tried as a table; a row shows its plan", tried_table(chosen), key="tried"
    )
    if state.takes(clicked=None if clicked is None else int(clicked), row=row):
        st.rerun()
    _plan(chosen, place, searching=searching)
    if place and not searching and not chosen.found.evaluations[place].failure:
        _errors(setting, chosen, place)


@dataclass(slots=True)
class _Picked:
    """The plan that is shown: what was last clicked, in the figure or in the table.

    Attributes:
        place: of the plan; None for the answer.
        clicked: the mark that was clicked when the page was last drawn.
        row: the row that was chosen then.
    """

    place: int | None = None
    clicked: int | None = None
    row: int | None = None

    def takes(self, *, clicked: int | None, row: int | None) -> bool:
        """Whether another plan is to be shown now."""
        shown = self.place
        if clicked != self.clicked and clicked is not None:
            self.place = clicked
        elif row != self.row and row is not None:
            self.place = row
        self.clicked, self.row = clicked, row
        return self.place != shown


def _plan(chosen: ChosenPlan, place: int, *, searching: bool) -> None:
    one = chosen.found.evaluations[place]
    told = "the answer" if place and place == chosen.found.answer else chosen.told(place)
    with st.container(key="ways-plan", horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Plan shown:** {words(told)}")
        if place and not searching and not one.failure:
            offer_plan(
                chosen.pipeline(one.plan), title=one.plan.text(chosen.regions), key=f"plan-{place}"
            )
    if place:
        with st.expander("The plan, region by region"):
            show_table(regions_table(chosen, place))


def _errors(setting: PrecisionSetting, chosen: ChosenPlan, place: int) -> None:
    """What every value loses in a plan, on the samples that were held out."""
    plan = chosen.found.evaluations[place].plan
    pipeline, subject = chosen.pipeline(plan), setting.subject
    observed = replace(setting.observed, count=chosen.held)
    request = LayersRequest(
        observed, setting.left_out(chosen.calibrated), "float16" in plan.choices
    )
    key = ("precision-plan", setting.model.key, run_key(pipeline), request)
    work = partial(measure_plan, store(), subject, pipeline, request)
    inventory = computed_artifact(INVENTORY, subject, setting.step, "Reading the weights")
    if inventory is not None and is_quick(setting, inventory.size_bytes, inventory.predicted_us):
        tasks().start(key, work)
    launch(
        key,
        work,
        explain=_explain_errors,
        show=_show_errors,
        name="Measure errors",
        again="Measure errors again",
    )


def _show_errors(measured: PlanErrors) -> None:
    show_layers(measured, "this plan", ways=False)
    st.caption(
        "Run with the rewrites of the runtime off, so that every value is there: outputs may keep"
        " a little more or less than in the race. In Rewrite the overlay of errors (key x) shows"
        " the same as colours."
    )


def _explain_errors() -> None:
    st.caption(
        "Measured, every value of this plan is compared with the float source: where its error"
        " starts, and in Rewrite the same as colours (key x)."
    )


def _how(chosen: ChosenPlan) -> str:
    calibrated = counted(chosen.calibrated, "input")
    text = f"Ranges rest on {calibrated}, errors on {counted(chosen.held, 'other')}."
    if chosen.goal == "speed":
        text += (
            " Times are of interleaved races against float, lines their 95 % intervals;"
            " a mark's area is the file's size."
        )
    text += " The dotted line joins what nothing else beats in size, time and error."
    if lost := failed(chosen):
        text += f" Not in the picture, since they failed: {lost}."
    ended = f" The search ended: {chosen.found.ended}." if chosen.found.ended else ""
    where = measured_on(chosen.machine, chosen.started_at)
    return f"{text}{ended} {chosen.remark} {where}"
