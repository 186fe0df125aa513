"""On what a model is calibrated, and by which method ranges are chosen."""

from __future__ import annotations

from typing import Any

import streamlit as st

from optimizer.errors import SampleError
from optimizer.numbers import counted
from optimizer.precision.samples import Samples, files_of
from optimizer.precision.threshold import find_method, methods
from studio.page.parts import show_error, show_message, words
from studio.precision.link import METHOD, MOST_INPUTS, NUMBERS, PrecisionChoice
from studio.precision.samples import keep_samples
from studio.precision.setting import PrecisionSetting, change

_UPLOADS = "precision-uploads"


def sidebar(setting: PrecisionSetting) -> None:
    """What the section rests on: samples, how many of them, the method."""
    st.subheader("Samples", anchor=False)
    with st.container(key="samples"):
        _samples(setting)
    choice = setting.choice
    if choice.section == "budget":
        return  # a search takes all samples, and tries every method
    st.slider("Inputs", 1, MOST_INPUTS, **kept("inputs", choice.inputs))
    if choice.section == "ranges" or NUMBERS[choice.numbers] == "static int8":
        _method(choice)


def _method(choice: PrecisionChoice) -> None:
    st.subheader("Ranges", anchor=False)
    titles = {method.id: method.title for method in methods()}
    method = choice.method if choice.method in titles else METHOD
    st.selectbox(
        "Method", list(titles), format_func=titles.__getitem__, **kept("method", method),
        help="Which range of an activation int8 is given.",
    )  # fmt: skip
    st.caption(words(find_method(method).documentation.partition("\n\n")[0]))


def kept(name: str, value: Any) -> dict[str, Any]:
    """Of a widget: it shows the link's setting, and changes it."""
    key = f"precision-{name}"
    st.session_state[key] = value
    return {"key": key, "on_change": lambda: change(**{name: st.session_state[key]})}


def _samples(setting: PrecisionSetting) -> None:
    """Files are taken out of the widget at once: what it keeps would come along the next time."""
    number = st.session_state.setdefault(_UPLOADS, 0)
    files = st.file_uploader(
        "Samples: an .npz with an array for each input, or .npy for one input, each",
        accept_multiple_files=True,
        key=f"samples-{number}",
        label_visibility="collapsed",
    )
    if files:
        st.session_state[_UPLOADS] = number + 1
        try:
            change(samples=keep_samples(setting.run, {f.name: f.getvalue() for f in files}))
        except SampleError as error:
            st.session_state["samples-error"] = error
        else:
            st.session_state.pop("samples-error", None)
        st.rerun()
    error = st.session_state.get("samples-error")
    if error is not None:
        show_error(error, key="samples")
    if setting.samples is not None:
        count = len(files_of(Samples(setting.samples, count=MOST_INPUTS)))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{counted(count, 'sample')} of yours")
            st.button("Remove", type="tertiary", on_click=lambda: change(samples=""))
    elif setting.choice.samples:
        show_message(
            "The samples of this link are not on this server; inputs are generated.",
            key="samples-gone",
        )
    else:
        st.caption("None yet: inputs are generated.")
