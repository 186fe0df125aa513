"""Taking recordings along: CSV, JSON, a bundle."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from profiling.records import Recording
from profiling.records.bundle import SUFFIX, bundle_bytes
from profiling.records.tabular import recordings_csv, recordings_json

Load = Callable[[], list[Recording]]


def offer_exports(load: Load, count: int) -> None:
    """Buttons that make their file when they are clicked.

    Args:
        load: gives the recordings.
        count: how many there will be.
    """
    name = f"passlens-{count}-recordings" if count > 1 else "passlens-recording"
    with st.popover("Export", key="history-export"):
        _download("Measurements (.csv)", f"{name}.csv", lambda: recordings_csv(load()).encode())
        _download("Everything (.json)", f"{name}.json", lambda: recordings_json(load()).encode())
        _download(f"Bundle ({SUFFIX})", f"{name}{SUFFIX}", lambda: bundle_bytes(load()))
        st.caption("A bundle opens in any Passlens like a recording of its own.")


def _download(label: str, file_name: str, make: Callable[[], bytes]) -> None:
    st.download_button(
        label,
        data=make,
        file_name=file_name,
        mime="application/octet-stream",
        on_click="ignore",
        width="stretch",
        key=f"history-download-{file_name}",
    )
