"""A recorded profile, drawn as in both sections of the Run page."""

from __future__ import annotations

import streamlit as st

from studio.timeline.memory_page import show_memory
from studio.timeline.page import show_failures, show_timeline
from studio.timeline.result import ProfileReport


def show_profile(report: ProfileReport) -> None:
    """Timeline, then memory."""
    show_failures(report)
    show_timeline(report)
    st.subheader("Memory", anchor=False)
    show_memory(report)
