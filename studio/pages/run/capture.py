"""CUDA Graph: whether the model can be captured, and what that saves."""

from __future__ import annotations

import streamlit as st

from studio.pages.run.setting import Setting


def render_section(setting: Setting) -> None:
    """The section."""
    del setting
    st.caption(
        "Here will be whether this model can be captured, and what stands in the way."
    )
