"""Deleting recordings, asked twice."""

from __future__ import annotations

import streamlit as st

from optimizer.errors import StudioError
from studio.page.parts import show_error
from studio.recordings.keeper import is_shared
from studio.services import records
from studio.workspace import current, remember

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
