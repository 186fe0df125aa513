"""Who takes the memory: at the peak or another moment, and in the whole run."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from optimizer.numbers import bytes_text, counted
from studio.memory.arena_map import ArenaMap
from studio.memory.setting import Setting
from studio.memory.sidebar import change
from studio.page.parts import look_at, words

_COLORS = {"weights": "#8590a0", "inputs and outputs": "#bd964c", "activations": "#5b68ee"}
MOST_LISTED = 100
_MOST_ROWS, _TABLE_PX = 8, 300
"""Rows of a table that is as high as they are, and the height of one with more."""


def show_contributors(setting: Setting, drawn: ArenaMap) -> None:
    """What is alive at the chosen step, largest first; a row leads to its node."""
    steps = len(drawn.live_bytes)
    chosen = setting.choice.moment
    moment = drawn.peak_step if chosen is None else min(chosen, steps - 1)
    alive = drawn.arena.contributors(moment)
    label = drawn.label_at(moment)
    where = "At the peak" if moment == drawn.peak_step else "Alive"
    with st.container(key="memory-moment", horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**{where}, step {moment}** · {words(label.op)} {words(_end_of(label.name))} ·"
            f" {bytes_text(drawn.live_bytes[moment])} in {counted(len(alive), 'buffer')}"
        )
        _choose_moment(moment, steps)
        if chosen is not None:
            st.button("Back to the peak", key="to-peak", on_click=lambda: change(moment=None))
    total = max(1, drawn.live_bytes[moment])
    shown = alive[:MOST_LISTED]
    makers = [drawn.labels.get(one.node) for one in shown]
    event: Any = st.dataframe(
        {
            "tensor": [one.name for one in shown],
            "share, %": [100 * one.size_bytes / total for one in shown],
            "size": [bytes_text(one.size_bytes) for one in shown],
            "made by": [maker.op if maker else "input" for maker in makers],
            "alive": [f"{one.start}–{one.end - 1}" for one in shown],
            "shape": ["×".join(map(str, one.shape)) for one in shown],
        },
        column_config={
            "tensor": st.column_config.TextColumn(width=210),
            "share, %": st.column_config.ProgressColumn(
                format="%.3g", min_value=0, max_value=100, width=96
            ),
        },
        hide_index=True,
        width="stretch",
        height="auto" if len(shown) <= _MOST_ROWS else _TABLE_PX,
        key=f"contributors-{setting.request.step}-{moment}",
        on_select="rerun",
        selection_mode="single-row",
    )
    rows: list[int] = event["selection"]["rows"]
    if rows and rows[0] < len(shown):
        one = shown[rows[0]]
        if one.node and st.button(f"Show {words(one.name)} in the viewer", key="show-contributor"):
            look_at(one.node, setting.request.step)
    else:
        st.caption("A row, or a rectangle above, leads to its node in the viewer.")


def _end_of(name: str) -> str:
    """The last parts of a node's path: the heading stays on one line."""
    parts = name.rsplit("/", 2)
    return f"…/{parts[-2]}/{parts[-1]}" if len(parts) == 3 and parts[0] else name


def _choose_moment(moment: int, steps: int) -> None:
    key = "memory-at"
    st.session_state[key] = moment
    st.number_input(
        "At step",
        0,
        max(0, steps - 1),
        key=key,
        on_change=lambda: change(moment=st.session_state[key]),
        label_visibility="collapsed",
        help="List what is alive at another step of the run.",
        width=120,
    )


def show_regions(drawn: ArenaMap) -> None:
    """Small bars: weights and inputs stay, of activations only the planned arena is needed."""
    unknown = {one.region for one in drawn.arena.unknown}
    planned = drawn.best.peak_bytes if drawn.best is not None else 0
    apart = drawn.arena.region_bytes()
    sizes = {**apart, "activations": planned}
    most = max(1, *sizes.values())
    rows = "".join(
        f'<span>{escape(region)}</span><i style="--part:{sizes[region] / most:.4f};'
        f'--of:{_COLORS[region]}">'
        f"{'unknown' if region in unknown else bytes_text(sizes[region])}</i>"
        for region in sizes
    )
    every = apart["activations"]
    st.html(
        '<div class="facts memory-regions"><h3>Three regions</h3>'
        f'<div class="bars">{rows}</div><small>Weights stay for ever; inputs and outputs are the'
        f" caller's; activations take {bytes_text(planned)} planned, {bytes_text(every)} if every"
        " tensor had its own block.</small></div>"
    )
