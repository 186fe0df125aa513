"""What the Cost page is set to, in this browser session and in its link."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from studio.cost.link import CostChoice
from studio.workspace import current, remember


def chosen() -> CostChoice:
    """This session's settings."""
    return current().of(CostChoice)


def put(name: str, key: str) -> None:
    """Take over what the widget `key` was set to; nothing, where it was emptied."""
    value: Any = st.session_state.get(key)
    if value is not None:
        take(**{name: value})


def take(**changes: Any) -> None:
    """Settings from now on."""
    workspace = current()
    remember(workspace.having(replace(workspace.of(CostChoice), **changes)))
