"""Fusion: why it pays."""

from __future__ import annotations

import streamlit as st

from studio.cost_choice import CostChoice
from studio.store import OpenedModel, OpenedRun

Subject = tuple[OpenedModel, OpenedRun]


def render_fusion(subject: Subject, choice: CostChoice) -> None:
    """The section."""
    st.caption("…")
