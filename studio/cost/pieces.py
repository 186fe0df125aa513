"""Pieces that all sections of the Cost page show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from profiling.config import RunConfig
from profiling.config.option import setting_text
from profiling.config.question import SETTLED, meaning_of, question_of
from profiling.racing.race import Race
from studio.cost.trace_costs import steps_text
from studio.numbers import counted
from studio.page.parts import go_to, look_at, words
from studio.workspace import View, current, remember

Table = dict[str, list[Any]]


def figure(drawn: go.Figure, name: str, *, pick: bool = False) -> int | None:
    """A figure; with `pick`, the number of the trace that a visitor clicked."""
    event = _chart(drawn, name, pick=pick)
    return _picked(event, "points", "curve_number") if pick else None


def _chart(drawn: go.Figure, name: str, *, pick: bool) -> Any:
    return st.plotly_chart(
        drawn,
        width="stretch",
        key=f"figure-{name}",
        on_select="rerun" if pick else "ignore",
        selection_mode="points",
        config={
            "displaylogo": False,
            "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d", "zoom2d", "pan2d"],
            "toImageButtonOptions": {"format": "svg", "filename": f"passlens-{name}", "scale": 2},
        },
    )


def picked_key(drawn: go.Figure, name: str) -> str | None:
    """A figure; the first of the custom data of the point that a visitor clicked."""
    event: Any = _chart(drawn, name, pick=True)
    points: list[Any] = event["selection"]["points"]
    data = points[0].get("customdata") if points else None
    return str(data[0]) if data else None


def way_to_node(name: str, node: str, step: int, *, key: str) -> None:
    """From a dot or a bar to its node in the viewer.

    Args:
        name: of the node; empty for what to do while none was clicked.
        node: its id.
        step: of the trace whose graph has it.
        key: unique on the page.
    """
    with st.container(key=f"node-{key}", horizontal=True, vertical_alignment="center"):
        if not name:
            st.caption("Click a dot or a bar to go to its node.")
            return
        st.markdown(f"**{words(name)}**")
        if st.button("Look at it", key=f"look-node-{key}"):
            look_at(node, step)


def twin(title: str, table: Table, *, key: str) -> int | None:
    """The table of a figure, folded; the row that a visitor chose."""
    with st.expander(title):
        event: Any = st.dataframe(
            table, hide_index=True, width="stretch", key=f"table-{key}", on_select="rerun",
            selection_mode="single-row",
        )  # fmt: skip
    return _picked(event, "rows")


def _picked(event: Any, kind: str, name: str = "") -> int | None:
    """The first selected item of an event, as a number."""
    selected: list[Any] = event["selection"][kind]
    if not selected:
        return None
    return int(selected[0][name] if name else selected[0])


def ways_in(label: str, steps: Sequence[int], *, key: str) -> None:
    """From a bar to its steps on the Rewrite page."""
    with st.container(key=f"ways-{key}", horizontal=True, vertical_alignment="center"):
        if not steps:
            st.caption("Click a bar, or choose a row of the table, to go to its steps.")
            return
        st.markdown(f"**{words(label)}** · {steps_text(steps)}")
        for step in dict.fromkeys((steps[0], steps[-1])):
            if st.button(f"Look at step {step}", key=f"look-{key}-{step}"):
                workspace = current()
                view = View(step=step, before="previous")
                remember(replace(workspace, view=view, seq=workspace.seq + 1))
                go_to("rewrite")


def run_as(config: RunConfig) -> str:
    """Which question was asked, and what was set beside it."""
    question = question_of([config])
    others = [setting_text(*item) for item in config.changed().items() if item[0] not in SETTLED]
    return ", ".join([f"{question}: {meaning_of([config])}", *others])


def how(race: Race, *, races: int, seconds: float, options: str) -> str:
    """How it was measured, for a caption."""
    machine = ", ".join(filter(None, (race.machine.cpu, race.machine.gpu, race.machine.runtime)))
    started = race.started_at.replace("T", " ").partition("+")[0]
    several = f"{races} interleaved races" if races > 1 else "one interleaved race"
    return words(
        f"{machine}, {counted(race.machine.cores, 'core')}; {started} UTC; {several} of"
        f" {seconds:.0f} s steady running together, each model in a process of its own;"
        f" {options}; load {race.machine.load:.1f} before."
    )
