"""What can be done with a result: choose how figures are saved, open its recording."""

from __future__ import annotations

import streamlit as st

from studio.page.figure import choose_picture_kind
from studio.page.parts import go_to
from studio.workspace import current, remember


def beside(kept: int | None) -> None:
    """The row's other controls.

    Args:
        kept: id of the recording; None where it was not kept.
    """
    choose_picture_kind()
    if kept is not None and st.button(
        f"Kept in History as {kept}", type="tertiary", icon=":material/history:", key="kept"
    ):
        remember(current().showing(record=kept))
        go_to("history")
