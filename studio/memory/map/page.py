"""Map: every buffer at its addresses and its time, before and after on one scale."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from optimizer.errors import quoted
from optimizer.memory.order import ORDERS
from optimizer.memory.registry import find_planner
from optimizer.numbers import counted, digits
from studio.memory.arena_map import ArenaMap
from studio.memory.buffers_figure import MOST_DRAWN, dtype_text
from studio.memory.lanes_figure import Scale, lanes
from studio.memory.map.bodies import body_name, choose_graph
from studio.memory.map.contributors import show_contributors, show_regions
from studio.memory.measured import page as measured
from studio.memory.plan_text import peaks_text, proof_text
from studio.memory.setting import Maps, Setting
from studio.memory.sidebar import change, go_to_step
from studio.memory.walk.figure import walk_strip
from studio.memory.walk.job import WALK, Walk
from studio.page.figure import is_dark, picture_kind, show_twin
from studio.page.parts import draw_every, look_at, show_message, words
from studio.services import store, tasks
from studio.tasks import Task

LOOK_AGAIN_S = 1.0
_ROUND = "memory-round"


def render_section(setting: Setting, maps: Maps) -> None:
    """The section."""
    graph = choose_graph(setting, maps)
    after, before = graph.after, graph.before
    if before is not None and not before.known:
        show_message(_why_alone(maps.before_title, before), key="before-unknown")
        before = None
    walking = _walking(setting)
    walk = walking.result if walking is not None else None
    shown = {maps.before_title: before} if before is not None else {}
    shown[maps.after_title] = after
    found = measured.result(setting) if not after.arena.owner else None
    assert after.best is not None
    lines = measured.lines(found, after.best.peak_bytes)
    peaks = [line.peak_bytes for line in lines]
    figure = lanes(
        shown,
        title=finding(setting, before, after),
        scale=scale_of(shown.values(), walk if not after.arena.owner else None, peaks),
        measured=lines,
        moment=setting.choice.moment,
        dark=is_dark(),
    )
    _pick(_draw(figure), list(shown.values()), maps.steps)
    st.caption(_how(setting, after, MOST_DRAWN // len(shown)))
    left, right = st.columns([0.66, 0.34], gap="medium")
    with left:
        show_contributors(setting, after)
    with right:
        show_regions(after)
    if walking is not None and not after.arena.owner:
        _say_counting(walking)
        if walk is not None and any(walk.bound_bytes):
            _strip(setting, walk)
        elif walk is None and walking.result is not None:
            st.rerun()  # it was counted while the figure above was drawn
    measured.offer(setting, after)
    if found is None and not after.arena.owner and measured.result(setting) is not None:
        st.rerun()  # it was measured so quickly that the figure above does not have it
    show_twin("Every buffer as a table", _table(after))


def _why_alone(title: str, before: ArenaMap) -> str:
    unknown = before.arena.unknown
    count = counted(len(unknown), "tensor has", "tensors have")
    return (
        f"{title} has no total to compare with: {count} no known size (first:"
        f" {quoted(unknown[0].name)}, {unknown[0].reason})."
    )


def finding(setting: Setting, before: ArenaMap | None, after: ArenaMap) -> str:
    """The title: "Step 38 of 152: peak 12.3 → 9.63 MiB, at the lower bound, proven"."""
    assert after.best is not None
    step, last = setting.request.step, setting.last
    place = f"Step {step} of {last}" if step else "Source"
    if after.arena.owner:
        place = f"{place}, body of {body_name(after)}"
    earlier = before.best.peak_bytes if before is not None and before.best is not None else None
    return f"{place}: peak {peaks_text(earlier, after.best.peak_bytes)}, {proof_text(after.best)}"


def scale_of(
    panels: Collection[ArenaMap], walk: Walk | None, measured_bytes: Sequence[int]
) -> Scale:
    """Axes that hold every step of the trace, what is drawn, and what was measured."""
    peaks = [*measured_bytes, *(drawn.best.peak_bytes for drawn in panels if drawn.best)]
    steps = [len(drawn.arena.nodes) for drawn in panels]
    if walk is not None:
        peaks += [size for size in walk.bound_bytes if size is not None]
        steps += walk.nodes
    return Scale(max(1, *steps), max(1, *peaks))


def _walking(setting: Setting) -> Task[Walk] | None:
    """Counting how much every step needs; None where there are no steps."""
    if not setting.last:
        return None
    work = partial(store().get, WALK, setting.subject, setting.request)
    return tasks().start(WALK.key(setting.subject, setting.request), work)


def _say_counting(task: Task[Walk]) -> None:
    """A line about the steps that are being counted; when they are, the page is drawn again."""
    if task.done:
        return

    def look() -> None:
        if task.done:
            st.rerun()
        st.caption(f"Counting every step: {words(task.text)}, {100 * task.fraction:.0f} %")

    draw_every(LOOK_AGAIN_S, look)


def _draw(figure: go.Figure) -> Any:
    """The figure; what was clicked in it, once."""
    number = st.session_state.setdefault(_ROUND, 0)
    event: Any = st.plotly_chart(
        figure,
        width="stretch",
        key=f"figure-lanes-{number}",
        on_select="rerun",
        selection_mode="points",
        config={
            "displaylogo": False,
            "scrollZoom": True,
            "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
            "toImageButtonOptions": {
                "format": picture_kind(), "filename": "passlens-lanes", "scale": 2,
            },
        },
    )  # fmt: skip
    points = event["selection"]["points"]
    return points[0] if points else None


def _pick(point: Any, shown: Sequence[ArenaMap], steps: tuple[int, int]) -> None:
    """A rectangle leads to its node, the live curve to its contributors."""
    if point is None:
        return
    st.session_state[_ROUND] += 1  # the selection is over, also when one comes back
    panel, kind = divmod(int(point["curve_number"]), 2)
    if panel >= len(shown):
        st.rerun()
    if kind == 0:
        last = panel == len(shown) - 1
        look_at(str(point["customdata"]), steps[1] if last else steps[0])
    change(moment=min(int(point["x"]), max(0, len(shown[-1].live_bytes) - 1)))
    st.rerun()


def _strip(setting: Setting, walk: Walk) -> None:
    """The peak over the whole rewrite; a click goes to a step."""
    event: Any = st.plotly_chart(
        walk_strip(walk, setting.request.step),
        width="stretch",
        key=f"figure-walk-{st.session_state[_ROUND]}",
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
    )
    points = event["selection"]["points"]
    if points:
        st.session_state[_ROUND] += 1
        go_to_step(int(points[0]["x"]))
        st.rerun()


def _how(setting: Setting, after: ArenaMap, most: int) -> str:
    request, options, plan = setting.request, setting.request.options, after.best
    assert plan is not None
    shared = [name for name, on in (("views", options.views), ("in place", options.in_place)) if on]
    sharing = f"{' and '.join(shared)} shared" if shared else "nothing shared"
    note = f" ({plan.note.rstrip('.')})" if plan.note else ""
    text = (
        f"Counted from shapes, nothing was run: {sharing}, {options.alignment}-byte aligned,"
        f" order: {ORDERS.get(request.order, request.order).lower()};"
        f" planner {find_planner(plan.planner).title}{note}, {plan.seconds * 1000:.3g} ms, checked"
        " by an independent sweep. A rectangle leads to its node; the live curve lists what is"
        " alive there."
    )
    left_out = len(after.activations) - most
    if left_out > 0:
        text += f" {counted(left_out, 'buffer')} of the smallest size × time not drawn."
    return words(text)


def _table(drawn: ArenaMap) -> dict[str, list[Any]]:
    assert drawn.best is not None
    lifetimes = drawn.activations
    return {
        "tensor": [one.name for one in lifetimes],
        "KiB": [digits(one.size_bytes / 1024) for one in lifetimes],
        "offset, KiB": [digits(offset / 1024) for offset in drawn.best.offsets],
        "from step": [one.start for one in lifetimes],
        "until step": [one.end - 1 for one in lifetimes],
        "shape": ["×".join(map(str, one.shape)) for one in lifetimes],
        "type": [dtype_text(one) for one in lifetimes],
        "values in it": [len(one.values) for one in lifetimes],
    }
