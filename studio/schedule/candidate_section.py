"""A region's schedule kept, so that the race of its kernel tries it beside the default one."""

from __future__ import annotations

import streamlit as st

from optimizer.errors import StudioError
from profiling.kernels.generated.own_schedules import LONGEST_NAME, OwnSchedule, own_recording
from studio.page.parts import show_error, show_message, words
from studio.schedule.choices_job import applied
from studio.schedule.link import REGION, ScheduleChoice
from studio.schedule.opened import OpenedSchedule
from studio.services import keeper
from studio.workspace import current

_NAME, _SAID = "candidate-name", "candidate-said"


def render_section(opened: OpenedSchedule) -> None:
    """A name and a button; nothing for an example, which is no kernel of a model."""
    kernel = current().of(ScheduleChoice).subject.removeprefix(REGION)
    if not opened.key.endswith(f" {kernel}"):
        return
    st.subheader("A candidate for the race", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name", "mine", key=_NAME, max_chars=LONGEST_NAME, width=220)
        if st.button("Save as candidate", key="keep-candidate"):
            st.session_state[_SAID] = _keep(opened, kernel, name)
    st.caption(
        "Kept in the records of this machine. The race of the kernels on Run tries it, too, and "
        "says which schedule won."
    )
    said: str | StudioError = st.session_state.pop(_SAID, "")
    if isinstance(said, StudioError):
        show_error(said, key="error-candidate")
    elif said:
        show_message(words(said), key="candidate-kept")


def _keep(opened: OpenedSchedule, kernel: str, name: str) -> str | StudioError:
    """What to say."""
    try:
        recording = own_recording(OwnSchedule(kernel, name, applied(opened)))
    except StudioError as error:
        return error
    if keeper().keep(recording) is None:
        return StudioError(keeper().problem or "Nothing is kept here: this server is shared.")
    return f"Kept {name} as a candidate of {kernel}."
