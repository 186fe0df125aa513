"""Memory: what a run requests, uses and holds over time."""

from __future__ import annotations

import streamlit as st

from studio.pages.run.setting import Setting


def render_section(setting: Setting) -> None:
    """The section."""
    del setting
    st.caption(
        "Here will be the memory of one run over time: requested, in use, held, and the peak."
    )
