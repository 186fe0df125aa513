"""A region's schedule kept, so that the race of its kernel tries it beside the default one."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from optimizer.errors import StudioError
from profiling.kernels.generated.own_schedules import (
    LONGEST_NAME,
    OwnSchedule,
    guarded,
    guarded_text,
    kept_own,
    own_recording,
    take_back,
)
from profiling.kernels.generated.won_schedules import won_schedules
from studio.page.parts import show_error, show_message, words
from studio.recordings.keeper import is_shared
from studio.schedule.choices_job import applied
from studio.schedule.opened import OpenedSchedule
from studio.services import keeper, records, tasks
from studio.workspace import current

_NAME, _SAID = "candidate-name", "candidate-said"


def render_section(opened: OpenedSchedule) -> None:
    """A name and a button, and what is kept; nothing for an example, which is no kernel."""
    kernel = opened.kernel
    if not kernel:
        return
    st.subheader("A candidate for the race", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name", "mine", key=_NAME, max_chars=LONGEST_NAME, width=220)
        if st.button("Save as candidate", key="keep-candidate"):
            st.session_state[_SAID] = _keep(opened, kernel, name)
    st.caption(
        "Kept in the records of this machine. The race of the kernels on Run tries it, too, and "
        "says which schedule won. One that won is what the preset generated writes here."
    )
    try:
        _show_kept(kernel, kept_own(kernel, records()))
    except StudioError as error:
        show_error(error, key="error-candidates")
    said: str | StudioError = st.session_state.pop(_SAID, "")
    if isinstance(said, StudioError):
        show_error(said, key="error-candidate")
    elif said:
        show_message(said, key="candidate-kept")


def _show_kept(kernel: str, own: Sequence[OwnSchedule]) -> None:
    """What is kept, what of it is taken, and a button to take each back."""
    won = won_schedules(records()).get(kernel) if own else None
    for number, one in enumerate(own):
        count = len(one.schedule.primitives)
        state = "won its race here, and is what is written" if one == won else "not taken so far"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(f"{one.name}, {count} primitives: {state}.")
            if not is_shared():
                st.button(
                    "Take back", key=f"take-back-{number}", on_click=_take_back,
                    args=(kernel, one.name), help=words(f"Forget {one.name}"),
                )  # fmt: skip


def _take_back(kernel: str, name: str) -> None:
    try:
        take_back(kernel, name, records())
    except StudioError as error:
        st.session_state[_SAID] = error
        return
    st.session_state[_SAID] = f"Took back {name}: nothing here is written in its order any more."


def _keep(opened: OpenedSchedule, kernel: str, name: str) -> str | StudioError:
    """What to say."""
    opening = tasks().get(("model", current().model))
    source = "" if opening is None or opening.result is None else opening.result.summary.digest
    schedule, changed = guarded(applied(opened))
    try:
        recording = own_recording(OwnSchedule(kernel, name, schedule, source))
    except StudioError as error:
        return error
    if keeper().keep(recording) is None:
        return StudioError(keeper().problem or "Nothing is kept here: this server is shared.")
    return f"Kept {name} as a candidate of {kernel}.{guarded_text(changed)}"
