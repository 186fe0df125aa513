"""How often each operator occurs."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from studio.figures.template import TEMPLATE

SHOWN = 14
ROW_PX = 19


def operator_bars(counts: Mapping[str, int]) -> go.Figure:
    """Bars, most frequent operator on top; the rare ones together in the last bar.

    Args:
        counts: operator type -> number of nodes, most frequent first.
    """
    items = list(counts.items())
    shown, rest = items[:SHOWN], items[SHOWN:]
    if rest:
        shown.append((f"{len(rest)} more", sum(count for _, count in rest)))
    names = [name.rpartition("::")[2] for name, _ in shown]
    figure = go.Figure(
        go.Bar(
            x=[count for _, count in shown],
            y=[f"{name} " for name in names],
            orientation="h",
            text=[f"{count:,}" for _, count in shown],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x}<extra></extra>",
        )
    )
    figure.update_layout(
        template=TEMPLATE,
        title=f"{sum(counts.values()):,} nodes of {len(counts)} operators",
        height=60 + ROW_PX * len(shown),
        xaxis={"visible": False},
        yaxis={"autorange": "reversed", "showgrid": False, "type": "category"},
        margin={"l": 0, "r": 40, "t": 36, "b": 0},
    )
    return figure
