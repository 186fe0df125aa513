"""Precision: ranges of values, what fewer bits lose where, the cheapest plan in a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from studio.page.parts import choose_section
from studio.precision.budget.page import render_budget
from studio.precision.layers.page import render_layers
from studio.precision.link import SECTIONS
from studio.precision.ranges.page import render_ranges
from studio.precision.setting import PrecisionSetting, change, setting_here
from studio.precision.sidebar import sidebar

TITLES: Mapping[str, str] = dict(zip(SECTIONS, ("Ranges", "Layers", "Budget"), strict=True))
_DRAW: Mapping[str, Callable[[PrecisionSetting], None]] = {
    "ranges": render_ranges,
    "layers": render_layers,
    "budget": render_budget,
}


def render() -> None:
    """The page."""
    setting = setting_here()
    if setting is None:
        return
    section = setting.choice.section
    choose_section(
        TITLES, section, key="precision-section", take=lambda chosen: change(section=chosen)
    )
    with st.sidebar:
        sidebar(setting)
    _DRAW[section](setting)
