"""A recorded profile, drawn as in both sections of the Run page."""

from __future__ import annotations

import streamlit as st

from studio.experiments.profile_report import ProfileReport
from studio.pages.run.memory import show_memory
from studio.pages.run.timeline import show_failures, show_timeline


def show_profile(report: ProfileReport) -> None:
    """Timeline, then memory."""
    show_failures(report)
    show_timeline(report)
    st.subheader("Memory", anchor=False)
    show_memory(report)
