"""From a figure to the nodes and steps that it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from studio.cost.trace_costs import steps_text
from studio.page.parts import go_to, look_at, words
from studio.workspace import View, current, remember


def go_to_node(name: str, node: str, step: int, *, key: str) -> None:
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


def go_to_steps(label: str, steps: Sequence[int], *, key: str) -> None:
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
