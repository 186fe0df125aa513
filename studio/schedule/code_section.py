"""Look inside: the code of a schedule at all levels, and what a step changes in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal, get_args

import streamlit as st

from optimizer.schedules.document import primitive_text
from studio.page.parts import draw_every, show_error, show_message, show_progress
from studio.schedule.code_component import show_code
from studio.schedule.code_job import (
    Json,
    code_key,
    code_task,
    difference_key,
    difference_task,
    gpu_key,
    gpu_task,
)
from studio.schedule.opened import OpenedSchedule
from studio.services import tasks
from studio.tasks import Task

_WANTED, _LAST, _SHOWN = "schedule-code-wanted", "schedule-code-last", "schedule-code-shown"
_LOOK_AGAIN_S = 0.4
_PATIENCE_S = 0.1
"""Short: the page is drawn anew after each edit, and waits for nothing else."""
Shown = Literal["Code", "Difference of two steps"]
Target = Literal["CPU", "GPU, this schedule", "GPU, by Triton"]


def render_section(opened: OpenedSchedule) -> None:
    """The section; nothing is compiled before somebody asks for it, and then each edit is."""
    with st.container(key="schedule-code-section"):
        st.subheader("Look inside", anchor=False)
        if not st.session_state.get(_WANTED):
            _explain()
        elif _choose() == "Code":
            _render_code(opened)
        else:
            steps = _steps(opened)
            key = difference_key(opened, steps)
            _follow(opened.key, difference_task(opened, steps), lambda: tasks().drop_failed(key))


def _render_code(opened: OpenedSchedule) -> None:
    if _target(opened) != "GPU, by Triton":
        _follow(opened.key, code_task(opened), lambda: tasks().drop_failed(code_key(opened)))
        return
    st.caption("Triton orders loops itself: this is the algorithm, whatever its schedule.")
    _follow(gpu_key(opened), gpu_task(opened), lambda: tasks().drop_failed(gpu_key(opened)))


def _target(opened: OpenedSchedule) -> Target:
    """What to compile for; a schedule is for one of the two."""
    own: Target = "GPU, this schedule" if opened.schedule.needs_gpu else "CPU"
    triton: Target = "GPU, by Triton"
    found: Target | None = st.segmented_control(
        "What to compile for", (own, triton), default=own, key=f"schedule-code-target-{own}",
        label_visibility="collapsed", required=True,
    )  # fmt: skip
    return found or own


def _explain() -> None:
    st.caption(
        "The loops beside the code that they become: Halide's statements, C++, LLVM and assembly, "
        "linked line by line; vectors and spills of every loop, and what a step changes in them. "
        "And the same algorithm for a GPU: Triton, its two forms, PTX and machine code."
    )
    st.button("Compile", on_click=_want, key="schedule-code-compile")


def _want() -> None:
    st.session_state[_WANTED] = True


def _choose() -> Shown:
    found = st.segmented_control(
        "What to look at", get_args(Shown), default="Code", key=_SHOWN,
        label_visibility="collapsed", required=True,
    )  # fmt: skip
    return found or "Code"


def _steps(opened: OpenedSchedule) -> tuple[int, int]:
    """The two that are compared: the last one and all before it, unless others are chosen."""
    primitives = opened.schedule.primitives
    names = ["0  no primitive"]
    names += [f"{number}  {primitive_text(one)}" for number, one in enumerate(primitives, 1)]
    last = len(primitives)
    with st.container(horizontal=True):
        before = st.selectbox("Before", names, index=max(0, last - 1), key=f"diff-before-{last}")
        after = st.selectbox("After", names, index=last, key=f"diff-after-{last}")
    return names.index(before), names.index(after)


def _follow(key: Hashable, task: Task[Json], retry: Callable[[], None]) -> None:
    """The result; until it is there what was before, and below it how far it is.

    Args:
        key: what was before is of the same one.
        task: that makes it.
        retry: makes it be made again.
    """
    if task.wait(_PATIENCE_S):
        if task.result is not None:
            st.session_state[_LAST] = key, task.result
            _show(task.result)
        elif task.error is not None:
            show_error(task.error, key="schedule-code")
            st.button("Try again", on_click=retry, key="schedule-code-again")
        return
    before, last = st.session_state.get(_LAST, ("", None))
    if last is not None and before == key:
        _show(last)

    def look() -> None:
        if task.done:
            st.rerun()
        show_progress(task, "Code")

    draw_every(_LOOK_AGAIN_S, look)


def _show(found: Json) -> None:
    if found.get("leftOut"):
        count = found["leftOut"]
        text = f"Without {count} that cannot be applied; the list above says why."
        show_message(text, key="schedule-code-left-out")
    if found.get("missing"):
        show_message(found["missing"], key="schedule-code-missing")
    show_code(found)
