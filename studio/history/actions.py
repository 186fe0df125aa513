"""Taking recordings along, and deleting them, asked twice."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from optimizer.errors import StudioError
from profiling.records import Recording
from profiling.records.bundle import SUFFIX, bundle_bytes
from profiling.records.tabular import recordings_csv, recordings_json
from studio.page.parts import offer_download, show_error
from studio.recordings.keeper import is_shared
from studio.services import records
from studio.workspace import current, remember

Load = Callable[[], list[Recording]]


def offer_exports(load: Load, count: int) -> None:
    """Buttons that make their file when they are clicked.

    Args:
        load: gives the recordings.
        count: how many there will be.
    """
    name = f"passlens-{count}-recordings" if count > 1 else "passlens-recording"
    with st.popover("Export", key="history-export"):
        offer_download(
            "Measurements (.csv)", f"{name}.csv", lambda: recordings_csv(load()).encode()
        )
        offer_download(
            "Everything (.json)", f"{name}.json", lambda: recordings_json(load()).encode()
        )
        offer_download(f"Bundle ({SUFFIX})", f"{name}{SUFFIX}", lambda: bundle_bytes(load()))
        st.caption("A bundle opens in any Passlens like a recording of its own.")


_REFUSED = "history-not-deleted"


def offer_deletion(identities: tuple[int, ...]) -> None:
    """A button behind a button; none where visitors share the server."""
    if is_shared():
        return
    what = f"{len(identities)} recordings" if len(identities) > 1 else "this recording"
    with st.popover("Delete", key="history-delete"):
        st.text(f"Delete {what}? This cannot be undone.")
        st.button(f"Delete {what}", on_click=_delete, args=(identities,), key="history-delete-now")


def show_refusal() -> None:
    """Why the last deletion did not happen, once."""
    error: StudioError | None = st.session_state.pop(_REFUSED, None)
    if error is not None:
        show_error(error, key="not-deleted")


def _delete(identities: tuple[int, ...]) -> None:
    try:
        for identity in identities:
            records().delete(identity)
    except StudioError as error:
        st.session_state[_REFUSED] = error
        return
    if current().record in identities:
        remember(current().showing())
