"""Which recordings are listed: widgets in the sidebar."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import cast

import streamlit as st

from profiling.records import Choices, Filter

KEYS = ("text", "kinds", "model", "machine", "bundle", "days")
_PREFIX = "history-filter-"
_PAGE = "history-page"
_LAST = "history-last-filter"


def choose_filter(choices: Choices) -> Filter:
    """The filter that is set."""
    st.subheader("Filter", anchor=False)
    text = st.text_input("Text", placeholder="title, model or machine", key=f"{_PREFIX}text")
    kinds = st.multiselect("Kind", choices.kinds, key=f"{_PREFIX}kinds")
    model = _one_of("Model", choices.models, "model")
    machine = _one_of("Machine", choices.machines, "machine")
    bundle = _one_of("From bundle", choices.bundles, "bundle") if choices.bundles else ""
    since, until = _days()
    wanted = Filter(
        kinds=tuple(kinds),
        model=model,
        machine=machine,
        text=text.strip(),
        since=since,
        until=until,
        bundle=bundle,
    )
    if wanted != Filter():
        st.button("Clear filter", on_click=clear_filter, key="history-clear")
    if st.session_state.get(_LAST) != wanted:
        st.session_state[_LAST] = wanted
        st.session_state[_PAGE] = 0
    return wanted


def clear_filter() -> None:
    """List everything."""
    for name in KEYS:
        st.session_state.pop(f"{_PREFIX}{name}", None)


def filter_by_bundle(name: str) -> None:
    """List what came with a bundle; only before the widgets of this run are drawn."""
    clear_filter()
    st.session_state[f"{_PREFIX}bundle"] = name


def page_number(found: int, per_page: int) -> int:
    """Which page of the list is shown, the newest being 0."""
    last = (found - 1) // per_page
    return min(last, int(st.session_state.get(_PAGE, 0)))


def turn_page(number: int) -> None:
    """Show another page of the list."""
    st.session_state[_PAGE] = number


def _one_of(label: str, choices: tuple[str, ...], name: str) -> str:
    key = f"{_PREFIX}{name}"
    if st.session_state.get(key) not in (None, *choices):
        del st.session_state[key]  # what it named is gone
    return st.selectbox(label, choices, index=None, placeholder="any", key=key) or ""


def _days() -> tuple[datetime | None, datetime | None]:
    """From the first day's midnight to the end of the last; both open as long as nothing is set."""
    nothing: list[date | datetime | str | None] = []
    label, key = "First and last day, UTC", f"{_PREFIX}days"
    picked = st.date_input(label, nothing, key=key, format="YYYY-MM-DD")
    days = sorted(cast("tuple[date, ...]", picked))
    if not days:
        return None, None
    return _midnight(days[0]), _midnight(days[-1] + timedelta(days=1))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
