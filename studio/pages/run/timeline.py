"""Timeline: when which operator runs, with the gaps between them."""

from __future__ import annotations

import streamlit as st

from studio.pages.run.setting import Setting


def render_section(setting: Setting) -> None:
    """The section."""
    del setting
    st.caption(
        "Here will be every operator of one run on a time axis, and the gaps between."
    )
