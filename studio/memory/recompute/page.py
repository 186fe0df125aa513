"""Recompute: less memory for more arithmetic."""

from __future__ import annotations

import streamlit as st

from optimizer.memory.rematerialization import Rematerialized
from optimizer.numbers import counted, digits
from studio.memory.arena_map import ArenaMap
from studio.memory.link import EXTRA
from studio.memory.recompute.figure import recompute_curve
from studio.memory.recompute.job import CURVE, RECOMPUTED, PeakCurve
from studio.memory.setting import Maps, Setting
from studio.memory.sidebar import change
from studio.page.computed import computed_artifact
from studio.page.figure import show_figure, show_twin
from studio.page.parts import file_stem, look_at, words
from studio.services import store

_KEY = "memory-extra"


def render_section(setting: Setting, maps: Maps) -> None:
    """The section."""
    found = computed_artifact(
        CURVE, setting.subject, setting.request, "Looking for what to compute again"
    )
    if found is not None:
        _show(setting, maps.after, found)


def _show(setting: Setting, drawn: ArenaMap, found: PeakCurve) -> None:
    points = found.points
    gain = points[-1].peak_bytes < points[0].peak_bytes
    if gain:
        _slider(setting)
    chosen = at_most(points, setting.choice.extra)
    show_figure(recompute_curve(points, chosen, drawn.floor_bytes), "recompute")
    st.caption(words(_why(drawn, points)))
    if gain:
        show_twin("The curve as a table", _table(points))
        _copies(setting, drawn, chosen, found.order)


def at_most(points: tuple[Rematerialized, ...], percent: int) -> Rematerialized:
    """The point with the smallest peak for at most so much more arithmetic."""
    return [point for point in points if 100 * point.part <= percent][-1]


def _slider(setting: Setting) -> None:
    st.session_state[_KEY] = setting.choice.extra
    st.slider(
        "Extra FLOP at most, % of all",
        0,
        EXTRA,
        key=_KEY,
        on_change=lambda: change(extra=st.session_state[_KEY]),
    )


def _why(drawn: ArenaMap, points: tuple[Rematerialized, ...]) -> str:
    text = (
        "A value that is needed again much later is dropped and computed a second time just before"
        " its late use; a copy stays only where the peak falls."
    )
    last = points[-1]
    if last.peak_bytes > drawn.floor_bytes:
        return text
    label = drawn.label_at(drawn.peak_step)
    operator = f"{label.op} {label.name}".strip()
    return (
        f"{text} The peak is now what a single operator reads and writes ({operator}): below it"
        " only in-place operators, fusion, a smaller type or smaller pieces help."
        if points[0].peak_bytes > last.peak_bytes
        else f"{text} Here the peak is what a single operator reads and writes ({operator}), and"
        " that must be there at once: only in-place operators, fusion, a smaller type or smaller"
        " pieces help."
    )


def _table(points: tuple[Rematerialized, ...]) -> dict[str, list[float]]:
    return {
        "extra FLOP, %": [digits(100 * point.part) for point in points],
        "extra FLOP": [point.extra_flops for point in points],
        "peak, KiB": [digits(point.peak_bytes / 1024) for point in points],
        "copies": [len(point.copies) for point in points],
    }


def _copies(
    setting: Setting, drawn: ArenaMap, chosen: Rematerialized, order: tuple[str, ...]
) -> None:
    """What runs again, and the model in which it does."""
    if not chosen.copies:
        st.caption("With so little on top nothing runs again.")
        return
    count = counted(len(chosen.copies), "node runs", "nodes run")
    st.subheader(f"{count} again", anchor=False)
    event = st.dataframe(
        {
            "runs again": [_name(drawn, node) for node, _ in chosen.copies],
            "just before": [_name(drawn, before) for _, before in chosen.copies],
        },
        hide_index=True,
        width="stretch",
        key="copies",
        on_select="rerun",
        selection_mode="single-row",
    )
    wanted = (setting.request.step, order, chosen.copies)
    with st.container(key="memory-copies", horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Model with these copies (.onnx)",
            data=lambda: store().get(RECOMPUTED, setting.subject, wanted).read_bytes(),
            file_name=f"{file_stem()}-step-{setting.request.step}-recompute.onnx",
            on_click="ignore",
        )
        rows: list[int] = event["selection"]["rows"]  # pyright: ignore[reportIndexIssue, reportUnknownVariableType] - a dictionary where rows can be chosen
        if rows and rows[0] < len(chosen.copies) and st.button("Show the node in the viewer"):
            look_at(chosen.copies[rows[0]][0], setting.request.step)


def _name(drawn: ArenaMap, node: str) -> str:
    label = drawn.labels.get(node)
    return f"{label.op} {label.name}".strip() if label is not None else node
