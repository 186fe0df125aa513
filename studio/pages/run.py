"""Run: race two steps of a trace against each other."""

from __future__ import annotations

import streamlit as st


def render() -> None:
    """The page."""
    st.text("Run")
