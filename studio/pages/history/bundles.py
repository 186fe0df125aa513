"""Recorded runs: bundles that come with Passlens, and bundles of the visitor's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st

from profiling.records import Filter, Recording
from profiling.records.bundle import MOST_FILE_BYTES, SUFFIX, open_bundle, read_bundle
from studio.keeping import is_shared
from studio.pages.history.filters import filter_by_bundle
from studio.pages.parts import PATIENCE_S, follow, show_error, words
from studio.services import records, tasks
from studio.tasks import Task
from studio.workspace import current, remember

COMMITTED = Path(__file__).parents[3] / "benchmarks" / "results"
_PENDING = "history-import"
_DONE = "history-imported"
Report = Callable[[str, float], None]


def recorded_runs() -> list[Path]:
    """Bundles that come with Passlens."""
    return sorted(COMMITTED.glob(f"*{SUFFIX}"))


def offer_bundles() -> None:
    """Recorded runs to open, and a place to drop a bundle."""
    offered = recorded_runs()
    if offered:
        st.subheader("Recorded runs", anchor=False)
        for path in offered:
            key = f"history-recorded-{path.stem}"
            if st.button(path.stem, key=key, width="stretch", help="Measured elsewhere"):
                _begin(("recorded", path.name), partial(open_bundle, path))
    if not is_shared():
        st.subheader("Import", anchor=False)
        with st.container(key="bundle-upload"):
            file = st.file_uploader(
                f"Bundle ({SUFFIX})",
                type=[SUFFIX.removeprefix(".")],
                key="history-upload",
                max_upload_size=MOST_FILE_BYTES >> 20,
                label_visibility="collapsed",
            )
        if file is not None and st.session_state.get(_DONE) != file.file_id:
            st.session_state[_DONE] = file.file_id
            read = partial(read_bundle, file.getvalue(), name=file.name)
            _begin(("upload", file.file_id), read)
    _follow()


def _begin(key: tuple[str, str], read: Callable[[], tuple[Recording, ...]]) -> None:
    tasks().drop(("import", *key))
    st.session_state[_PENDING] = tasks().start(("import", *key), partial(_import, read))


def _import(
    read: Callable[[], tuple[Recording, ...]],
    *,
    progress: Report,
    cancelled: Callable[[], bool],
) -> tuple[str, tuple[int, ...]]:
    """Add a bundle's recordings; the bundle's name and their ids."""
    progress("reading", 0.0)
    recordings = read()
    identities: list[int] = []
    for recording in recordings:
        if cancelled():
            break
        progress("adding", len(identities) / len(recordings))
        identities.append(records().add(recording))
    return recordings[0].bundle if recordings else "", tuple(identities)


def _follow() -> None:
    """How far the import is; when it is done, its recordings are listed, or the only one opened."""
    task: Task[tuple[str, tuple[int, ...]]] | None = st.session_state.get(_PENDING)
    if task is None:
        return
    if not task.wait(PATIENCE_S):
        follow(task, "Importing")
    elif task.error is not None:
        show_error(task.error, key="import")
    elif task.result is not None:
        del st.session_state[_PENDING]
        name, identities = task.result
        if len(identities) == 1:
            remember(replace(current(), record=identities[0]))
            st.rerun()
        if records().count(Filter(bundle=name)):
            filter_by_bundle(name)
        st.caption(f"{len(identities)} recordings of {words(name)} are here.")
