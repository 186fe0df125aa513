"""Which rewrite step is looked at."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from studio.cost.trace_costs import trace_costs
from studio.memory.link import MemoryChoice
from studio.memory.setting import Setting
from studio.numbers import counted
from studio.services import store
from studio.workspace import current, remember

_KEY = "memory-step"


def step_slider(setting: Setting) -> None:
    """Scrubs through the trace; nothing where it has no steps."""
    if not setting.last:
        return
    st.session_state[_KEY] = setting.request.step
    with st.container(key="memory-steps"):
        st.slider(
            step_text(setting),
            0,
            setting.last,
            key=_KEY,
            on_change=_go,
            help="Arrow keys step through the rewrites; 0 is the source.",
        )


def step_text(setting: Setting) -> str:
    """The step in words: "Step 38 of 152 · Fuse BatchNorm into Conv"."""
    step, last = setting.request.step, setting.last
    if step == 0:
        return f"Source · {counted(last, 'step follows', 'steps follow')}"
    costs = trace_costs(store(), setting.model, setting.run)
    title = costs.names[costs.steps[step - 1].pass_id].title
    return f"Step {step} of {last} · {title}"


def go_to_step(step: int) -> None:
    """Look at another step; the viewer follows."""
    workspace = current()
    view = replace(workspace.view, step=step)
    memory = replace(workspace.of(MemoryChoice), moment=None, graph="", event=None)
    moved = replace(workspace, view=view, seq=workspace.seq + 1)
    remember(moved.having(memory))


def _go() -> None:
    go_to_step(st.session_state[_KEY])
