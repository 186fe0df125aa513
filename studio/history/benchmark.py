"""A recorded GPU benchmark: networks, ways of running them, and the roofline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from studio.history.benchmark_figure import benchmark_dots
from studio.page.parts import show_message


def show_benchmark(payload: Mapping[str, Any]) -> None:
    """The figure and its table."""
    rows: list[dict[str, Any]] = list(payload["rows"])
    measured = [row for row in rows if row["p50_ms"] is not None]
    title = f"{len(measured)} of {len(rows)} rows measured; median of one inference"
    if measured:
        st.plotly_chart(benchmark_dots(rows, payload["ideals"], title=title), width="stretch")
        st.caption(
            "From device memory to device memory. Dotted: the roofline in float32 and float16, from"
            " the copy bandwidth and the rate of matrix products measured on the device."
        )
    else:
        reason = next((str(row["error"]) for row in rows if row["error"]), "nothing was run")
        show_message(f"No row was measured: {reason}", key="benchmark")
    with st.expander("As a table", expanded=not measured):
        st.dataframe(_table(rows), hide_index=True, width="stretch")


def _table(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {
        "network": [row["title"] for row in rows],
        "variant": [row["column"] for row in rows],
        "median, ms": [row["p50_ms"] for row in rows],
        "p95, ms": [row["p95_ms"] for row in rows],
        "create or compile, ms": [row["compile_ms"] for row in rows],
        "runs": [row["runs"] for row in rows],
        "remark": [row["error"] or row["verdict"] or row["note"] for row in rows],
    }
