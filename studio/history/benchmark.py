"""A recorded GPU benchmark: one small plot a network, one row a way of running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from plotly import subplots

from optimizer.numbers import three_digits
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, log_axis, titled
from studio.page.parts import show_message

COLUMNS = 2
_ROW_PX = 24
_TORCH = "#10857f"
_DOTTED = {"width": 1, "dash": "dot", "color": BEFORE_COLOR}


def benchmark_dots(
    rows: Sequence[Mapping[str, Any]], ideals: Mapping[str, Mapping[str, float]], *, title: str
) -> go.Figure:
    """Median latencies by network, with the roofline of either precision as a line.

    Args:
        rows: with `network`, `title`, `column` and `p50_ms`, which may be None.
        ideals: by network, `float32_ms` and `float16_ms`.
        title: says the finding.
    """
    networks = list(dict.fromkeys(str(row["network"]) for row in rows))
    names = {str(row["network"]): escape(str(row["title"])) for row in rows}
    columns = list(dict.fromkeys(escape(str(row["column"])) for row in rows))
    lines = -(-len(networks) // COLUMNS)
    figure = subplots.make_subplots(
        lines,
        COLUMNS,
        shared_yaxes=True,
        subplot_titles=[names[network] for network in networks],
        horizontal_spacing=0.04,
        vertical_spacing=0.26 / max(lines, 2),
    )
    for number, network in enumerate(networks):
        line, column = 1 + number // COLUMNS, 1 + number % COLUMNS
        found = [row for row in rows if row["network"] == network and row["p50_ms"] is not None]
        figure.add_trace(_dots(found), row=line, col=column)
        limits = list(ideals.get(network, {}).values())
        axis = log_axis([*limits, *(float(row["p50_ms"]) for row in found)])
        figure.update_xaxes(row=line, col=column, ticksuffix=" ms", **axis)
        for limit in limits:
            figure.add_trace(_limit(limit, columns), row=line, col=column)
    figure.update_yaxes(
        categoryorder="array", categoryarray=columns[::-1], range=[-0.6, len(columns) - 0.4]
    )
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title),
        height=90 + lines * (48 + _ROW_PX * len(columns)),
    )
    return figure


def _dots(rows: Sequence[Mapping[str, Any]]) -> go.Scatter:
    latencies = [float(row["p50_ms"]) for row in rows]
    return go.Scatter(
        x=latencies,
        y=[escape(str(row["column"])) for row in rows],
        mode="markers+text",
        text=[three_digits(latency) for latency in latencies],
        textposition="middle right",
        marker={"size": 9, "color": [_color(str(row["column"])) for row in rows]},
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.3g} ms<extra></extra>",
    )


def _limit(milliseconds: float, columns: Sequence[str]) -> go.Scatter:
    return go.Scatter(
        x=[milliseconds] * 2,
        y=[columns[0], columns[-1]],
        mode="lines",
        line=_DOTTED,
        hovertemplate="roofline %{x:.3g} ms<extra></extra>",
    )


def _color(column: str) -> str:
    if column.startswith("torch"):
        return _TORCH
    return AFTER_COLOR if column.startswith("+") else BEFORE_COLOR


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
