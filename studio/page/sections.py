"""The row of sections at the top of a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st


def choose_section(
    titles: Mapping[str, str], chosen: str, *, key: str, take: Callable[[str], None]
) -> None:
    """The widget.

    Args:
        titles: of the sections, in order.
        chosen: the one that is shown, also after another page was open.
        key: of the widget.
        take: called with the one that a visitor picks.
    """
    st.session_state[key] = chosen
    st.segmented_control(
        "Section",
        list(titles),
        format_func=titles.__getitem__,
        key=key,
        on_change=lambda: take(st.session_state[key]),
        label_visibility="collapsed",
        required=True,
    )
