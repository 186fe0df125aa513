"""Export: take the model, the trace or a picture with you."""

from __future__ import annotations

import streamlit as st


def render() -> None:
    """The page."""
    st.text("Export")
