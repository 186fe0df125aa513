"""The list of recordings, and what can be done with those that are chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from optimizer.numbers import counted
from profiling.records import Listed, Recording, hardware
from profiling.records.recording import started
from studio.history.actions import offer_deletion, offer_exports
from studio.history.compare import MOST_COMPARED, show_comparison
from studio.history.filters import turn_page
from studio.recordings.shipped import Shipped
from studio.services import records
from studio.workspace import current, remember

PER_PAGE = 100
_ROW_PX = 31
_MOST_ROWS_SHOWN = 8
_WIDTHS_PX = {
    "#": 44,
    "recorded, UTC": 130,
    "kind": 84,
    "model": 104,
    "finding": 330,
    "machine": 210,
    "variants": 64,
}


def show_table(
    entries: Sequence[Listed], source: Source, *, found: int, first: int = 1, narrowed: bool = False
) -> None:
    """One page of the list, the newest first."""
    actions = st.container(horizontal=True, vertical_alignment="center", key="history-actions")
    event: Any = st.dataframe(
        _columns(entries),
        hide_index=True,
        width="stretch",
        height=_ROW_PX * (min(len(entries), _MOST_ROWS_SHOWN) + 1) + 3,
        row_height=_ROW_PX,
        on_select="rerun",
        selection_mode="multi-row",
        key=f"history-table-{entries[0].id}-{entries[-1].id}-{len(entries)}",
        column_config={
            name: st.column_config.Column(width=width) for name, width in _WIDTHS_PX.items()
        },
    )
    rows: list[int] = event.selection.rows
    chosen = [entries[row] for row in rows if row < len(entries)]
    with actions:
        _count(found, first, len(entries), narrowed=narrowed)
        _actions(chosen, source)
    if len(chosen) > 1:
        show_comparison([source.load(entry.id) for entry in chosen[:MOST_COMPARED]])
    else:
        st.caption("Select one to open it, several to compare them.")


def _columns(entries: Sequence[Listed]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        "#": [entry.id for entry in entries],
        "recorded, UTC": [f"{started(entry.started_at):%Y-%m-%d %H:%M}" for entry in entries],
        "kind": [entry.kind for entry in entries],
        "model": [entry.model for entry in entries],
        "finding": [entry.title for entry in entries],
        "machine": [hardware(entry.machine) for entry in entries],
        "variants": [entry.variants for entry in entries],
    }
    if any(entry.bundle for entry in entries):
        columns["from"] = [entry.bundle for entry in entries]
    return columns


def _count(found: int, first: int, shown: int, *, narrowed: bool) -> None:
    total = f"{counted(found, 'recording')}{' found' if narrowed else ''}"
    if found <= PER_PAGE:
        st.text(total)
        return
    number = (first - 1) // PER_PAGE
    st.text(f"{first:,}-{first + shown - 1:,} of {total}")
    st.button("Newer", on_click=turn_page, args=(number - 1,), disabled=number == 0)
    last = first + shown > found
    st.button("Older", on_click=turn_page, args=(number + 1,), disabled=last)


def _actions(chosen: Sequence[Listed], source: Source) -> None:
    one = len(chosen) == 1
    if st.button("Open", type="primary", disabled=not one, key="history-open"):
        source.open(chosen[0].id)
        st.rerun()
    if not chosen:
        return
    identities = tuple(entry.id for entry in chosen)

    def load() -> list[Recording]:
        return [source.load(identity) for identity in identities]

    offer_exports(load, len(identities))
    if source.own:
        offer_deletion(identities)


@dataclass(frozen=True, slots=True)
class Source:
    """What a table needs for the recordings that it lists.

    Attributes:
        load: a whole recording, by its id.
        open: makes it the one that is open.
        own: whether they are the person's, to be deleted.
    """

    load: Callable[[int], Recording]
    open: Callable[[int], None]
    own: bool


def own() -> Source:
    """The database."""
    return Source(records().load, lambda identity: open_place(record=identity), own=True)


def along(bundle: Shipped) -> Source:
    """A bundle that comes with Passlens."""
    return Source(
        lambda number: bundle.recordings[number - 1],
        lambda number: open_place(recorded=f"{bundle.name}:{number}"),
        own=False,
    )


def open_place(*, record: int | None = None, recorded: str = "") -> None:
    """What History shows from now on: a recording, a bundle, or with nothing the list."""
    remember(current().showing(record=record, recorded=recorded))


def listed(recordings: Sequence[Recording]) -> list[Listed]:
    """Rows of a table."""
    return [
        Listed(
            one.id, one.kind, one.title, one.model, one.model_hash, one.machine, one.started_at,
            one.seconds, "", one.passlens, len(one.measurements),
        )
        for one in recordings
    ]  # fmt: skip
