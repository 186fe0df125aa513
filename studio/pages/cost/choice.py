"""What the Cost page is set to, in this browser session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import streamlit as st

from profiling.worth.waterfall import By

Section = Literal["waterfall", "ablation", "break-even"]
Count = Literal["bytes", "nodes", "flops", "latency"]
SECTIONS: tuple[Section, ...] = get_args(Section)
COUNTS: tuple[Count, ...] = get_args(Count)
SECONDS = 30
_KEY = "cost-choice"


@dataclass(frozen=True, slots=True)
class CostChoice:
    """The settings.

    Attributes:
        section: what is looked at.
        count: what bars are made of.
        by: which steps make one bar.
        seconds: of steady running in a measurement.
        race: whether an ablation is raced as well.
        tune_s: seconds that tuning took, for the break-even.
    """

    section: Section = "waterfall"
    count: Count = "bytes"
    by: By = "pass"
    seconds: int = SECONDS
    race: bool = False
    tune_s: float = 0.0


def chosen() -> CostChoice:
    """This session's settings."""
    return st.session_state.get(_KEY) or CostChoice()


def put(name: str, key: str) -> None:
    """Take over what the widget `key` was set to; nothing, where it was emptied."""
    value: Any = st.session_state.get(key)
    if value is not None:
        st.session_state[_KEY] = replace(chosen(), **{name: value})
