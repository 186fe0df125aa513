"""Recorded runs: bundles that come with Passlens, and bundles of the visitor's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from optimizer.isolation import Progress
from profiling.records import Filter, Recording
from profiling.records.bundle import MOST_FILE_BYTES, SUFFIX, read_bundle
from studio.history.filters import filter_by_bundle
from studio.history.table import open_place
from studio.page.parts import PATIENCE_S, follow, show_error, words
from studio.recordings.keeper import is_shared
from studio.recordings.shipped import Shipped, shipped
from studio.services import records, tasks
from studio.tasks import Task

_PENDING = "history-import"
_ROUND = "history-upload-round"
_SAID = "history-imported"


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import brought.

    Attributes:
        bundle: the file's name.
        identities: of its recordings.
        new: how many had not been there.
    """

    bundle: str
    identities: tuple[int, ...]
    new: int


def offer_bundles() -> None:
    """Recorded runs to open, and a place to drop a bundle."""
    offered = shipped()
    if offered:
        st.subheader("Recorded runs", anchor=False)
        for bundle in offered:
            st.button(
                words(bundle.title),
                key=f"history-recorded-{bundle.name}",
                width="stretch",
                on_click=partial(open_place, recorded=bundle.name),
            )
            st.caption(words(bundle.origin))
    if not is_shared():
        st.subheader("Import", anchor=False)
        with st.container(key="bundle-upload"):
            file = st.file_uploader(
                f"Bundle ({SUFFIX})",
                type=[SUFFIX.removeprefix(".")],
                key=f"history-upload-{st.session_state.get(_ROUND, 0)}",
                max_upload_size=MOST_FILE_BYTES >> 20,
                label_visibility="collapsed",
            )
        if file is not None:
            st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1  # an empty field again
            read = partial(read_bundle, file.getvalue(), name=file.name)
            _begin(("upload", file.file_id), read)
            st.rerun()
    _follow()


def offer_import(bundle: Shipped) -> None:
    """A copy of a bundle among one's own recordings, to compare with them."""
    st.button(
        "Copy to my recordings",
        key="history-copy",
        help="To compare with your own, under a label that says where they come from",
        on_click=partial(_copy, bundle),
    )


def _copy(bundle: Shipped) -> None:
    label = f"{bundle.name}{SUFFIX}"
    copies = tuple(replace(one, id=0, bundle=label) for one in bundle.recordings)
    _begin(("shipped", bundle.name), lambda: copies)
    open_place()


def _begin(key: tuple[str, str], read: Callable[[], tuple[Recording, ...]]) -> None:
    tasks().drop(("import", *key))
    st.session_state.pop(_SAID, None)
    st.session_state[_PENDING] = tasks().start(("import", *key), partial(_import, read))


def _import(
    read: Callable[[], tuple[Recording, ...]],
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> Imported:
    """Add a bundle's recordings."""
    progress("reading", 0.0)
    recordings = read()
    before = records().count()
    identities: list[int] = []
    for recording in recordings:
        if cancelled():
            break
        progress("adding", len(identities) / len(recordings))
        identities.append(records().add(recording))
    name = recordings[0].bundle if recordings else ""
    return Imported(name, tuple(identities), records().count() - before)


def _follow() -> None:
    """How far the import is; when it is done, its recordings are listed, or the only one opened."""
    task: Task[Imported] | None = st.session_state.get(_PENDING)
    if task is None:
        st.caption(words(st.session_state.get(_SAID, "")))
        return
    if not task.wait(PATIENCE_S):
        follow(task, "Importing")
    elif task.error is not None:
        show_error(task.error, key="import")
    elif task.result is not None:
        del st.session_state[_PENDING]
        _show(task.result)


def _show(imported: Imported) -> None:
    if len(imported.identities) == 1:
        open_place(record=imported.identities[0])
    else:
        total = len(imported.identities)
        st.session_state[_SAID] = (
            f"{imported.bundle}: {imported.new} of {total} recordings are new."
        )
        if records().count(Filter(bundle=imported.bundle)):
            filter_by_bundle(imported.bundle)
    st.rerun()
