"""Points, dependences and their order, by isl: a section of the page Schedule."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from itertools import combinations
from typing import Any, cast

import streamlit as st
from streamlit.components.v2 import component

from optimizer.errors import RunError
from optimizer.isolation import Progress
from optimizer.limits import MIB, JobLimits
from optimizer.loops.schedule import Schedule
from optimizer.polyhedral.view import POLYHEDRAL_VIEW, DrawnStage, PolyhedralView
from profiling.schedules.isl import proposed_by_isl
from studio.page.figure import Table, show_twin
from studio.page.parts import run_again_after, show_error, show_message, words
from studio.schedule.editing import replace_schedule
from studio.schedule.opened import OpenedSchedule
from studio.services import pool, tasks
from studio.tasks import Task
from studio.viewer import asset_version

LIMITS = JobLimits(seconds=30, memory_bytes=2048 * MIB)
"""Of all that isl is asked about one schedule."""
_PATIENCE_S = 0.1
_SHOWN, _WANTED = "polyhedral-shown", "polyhedral-wanted"

# Several lines on purpose: Streamlit takes a single line with a slash for the path of a file.
_STUB = """
export default async function (component) {
  const url = new URL('viewer/VERSION/polyhedral.js', document.baseURI);
  const points = await import(url.href);
  return points.default(component);
}
"""
_HTML = """
<div data-passlens-points></div>
"""
Chosen = tuple[tuple[str, tuple[str, str]], ...]
"""Stages, and which two axes are drawn of each."""


def render_section(opened: OpenedSchedule) -> None:
    """The points of a smaller nest of the same shape, in the order of the schedule."""
    st.subheader("Points in order", anchor=False)
    waiting = _take_proposal(opened)
    chosen: Chosen = st.session_state.get(_axes_key(opened), ())
    key: Hashable = ("schedule-points", opened.key, opened.schedule, chosen)
    task = tasks().start(key, partial(_ask, opened, chosen))
    task.wait(_PATIENCE_S)
    run_again_after([one for one in (task, *waiting) if not one.done])
    if task.error is not None:
        show_error(task.error, key="error-points")
        return
    # Until isl has answered, what it said before stays: nothing jumps.
    view = task.result or st.session_state.get(_SHOWN)
    if view is not None:
        st.session_state[_SHOWN] = view
        _show(opened, view)


def _axes_key(opened: OpenedSchedule) -> str:
    return f"polyhedral-axes-{opened.key}"


def _ask(
    opened: OpenedSchedule, chosen: Chosen, *, progress: Progress, cancelled: Callable[[], bool]
) -> PolyhedralView:
    """Points and dependences, found in a worker.

    Raises:
        StudioError: the nest is not affine, or a primitive cannot be applied.
        RunError: isl took too long or too much memory.
    """
    # Native code, which nobody needs who does not come here.
    from optimizer.polyhedral.picture import polyhedral_view

    progress("asking isl", 0.1)
    try:
        return pool()(
            polyhedral_view, opened.algorithm, opened.schedule.primitives, dict(chosen),
            limits=LIMITS, cancelled=cancelled,
        )  # fmt: skip
    except RunError as error:
        raise RunError(f"isl cannot follow this schedule: {error.message}") from error


def _take_proposal(opened: OpenedSchedule) -> list[Task[Schedule]]:
    """Put isl's own schedule into the page once it is there; the task while it is not."""
    st.button(
        "Take isl's own schedule",
        on_click=_want_proposal,
        args=(opened,),
        help="Stages that can share loops do, in tiles; an edit like any other.",
    )
    if st.session_state.get(_WANTED) != opened.key:
        return []
    task: Task[Schedule] = tasks().start(_proposal_key(opened), partial(_propose, opened))
    if not task.wait(_PATIENCE_S):
        return [task]
    del st.session_state[_WANTED]
    if task.error is not None:
        show_error(task.error, key="error-isl-schedule")
    elif task.result is not None:
        replace_schedule(task.result)
        st.rerun()
    return []


def _want_proposal(opened: OpenedSchedule) -> None:
    tasks().drop_failed(_proposal_key(opened))
    st.session_state[_WANTED] = opened.key


def _proposal_key(opened: OpenedSchedule) -> Hashable:
    return ("isl-schedule", opened.key)


def _propose(
    opened: OpenedSchedule, *, progress: Progress, cancelled: Callable[[], bool]
) -> Schedule:
    """What isl's scheduler finds.

    Raises:
        StudioError: the algorithm is not affine, or isl needs too long.
    """
    progress("asking isl", 0.1)
    return proposed_by_isl(opened.algorithm, pool=pool(), cancelled=cancelled)


def _show(opened: OpenedSchedule, view: PolyhedralView) -> None:
    st.caption(_explained(view))
    for number, reason in enumerate(view.broken):
        show_message(f"Not legal: {reason}.", key=f"points-broken-{number}")
    for number, reason in enumerate(view.refused):
        show_message(f"Left out: {reason}.", key=f"points-refused-{number}")
    _choose_axes(opened, view)
    js = _STUB.replace("VERSION", asset_version())
    draw = cast("Callable[..., Any]", component("passlens_points", html=_HTML, js=js))
    draw(key="schedule-points", data=_data(opened, view))
    show_twin("The same as a table", _table(view))


def _explained(view: PolyhedralView) -> str:
    """In which words the drawing is introduced: none of them a model's."""
    said = [
        "Each point is one element that a stage computes. It may run once all points have run that "
        "arrows lead from: isl holds the schedule to that."
    ]
    if not view.broken:
        said.append("This one is legal: no arrow leads backwards, or to a round side by side.")
    if view.note:
        said.append("Drawn over fewer rounds of each loop, tiles with them.")
    return " ".join(said)


def _data(opened: OpenedSchedule, view: PolyhedralView) -> Mapping[str, Any]:
    sent = POLYHEDRAL_VIEW.to_json(view)
    kept = "note", "stages", "left_out", "ticks", "arrows", "tails"
    return {"title": opened.title, **{name: sent[name] for name in kept}}


def _choose_axes(opened: OpenedSchedule, view: PolyhedralView) -> None:
    """For stages of more than two axes, which two of them."""
    many = [one for one in view.stages if len(one.choices) > 2]
    if not many:
        return
    with st.container(horizontal=True, key="points-axes"):
        for stage in many:
            pairs = list(combinations(stage.choices, 2))
            st.selectbox(
                f"Axes of {words(stage.name)}",
                pairs,
                index=pairs.index(stage.axes) if stage.axes in pairs else None,
                format_func=lambda pair: f"{pair[0]} down, {pair[1]} across",
                key=f"{_axes_key(opened)}-{stage.name}",
                on_change=_take_axes,
                args=(opened, stage),
                width=240,
            )


def _take_axes(opened: OpenedSchedule, stage: DrawnStage) -> None:
    pair = st.session_state[f"{_axes_key(opened)}-{stage.name}"]
    known: Chosen = st.session_state.get(_axes_key(opened), ())
    others = tuple(one for one in known if one[0] != stage.name)
    st.session_state[_axes_key(opened)] = (*others, (stage.name, tuple(pair)))


def _table(view: PolyhedralView) -> Table:
    rows = [
        (at, view.stages[tick.stage], cell)
        for at, tick in enumerate(view.ticks, 1)
        for cell in tick.cells
    ]
    return {
        "order": [at for at, _, _ in rows],
        "stage": [stage.name for _, stage, _ in rows],
        "down": [f"{stage.axes[0]} {cell[0]}" for _, stage, cell in rows],
        "across": [f"{stage.axes[1]} {cell[1]}" for _, stage, cell in rows],
    }
