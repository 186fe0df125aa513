"""Peak memory over the arithmetic spent on computing values again."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from optimizer.memory.rematerialization import Rematerialized
from optimizer.numbers import bytes_text, three_digits, unit_of
from studio.figures.template import AFTER_COLOR, TEMPLATE, titled

FLOOR = "#a37a2c"
_HEIGHT_PX = 320
_ROOM = 1.25
"""Length of the axis, in the last point: right of that, above the curve, is room for its text."""


def recompute_curve(
    points: Sequence[Rematerialized], chosen: Rematerialized, floor_bytes: int
) -> go.Figure:
    """A step down wherever more arithmetic buys a smaller peak.

    Args:
        points: rising in arithmetic, falling in memory.
        chosen: the one that is looked at.
        floor_bytes: the largest single operator.
    """
    unit = unit_of(points[0].peak_bytes)
    end = max(1.0, 100 * points[-1].part * _ROOM)
    label = unit.text(chosen.peak_bytes)
    if chosen.part:
        label += f", +{three_digits(100 * chosen.part)} %"
    peaks = [point.peak_bytes / unit.size for point in points]
    figure = go.Figure(
        go.Scatter(
            x=[*(100 * point.part for point in points), end],
            y=[
                *(point.peak_bytes / unit.size for point in points),
                points[-1].peak_bytes / unit.size,
            ],
            mode="lines+markers",
            line={"shape": "hv", "width": 2, "color": AFTER_COLOR},
            marker={"size": [6] * len(points) + [0]},
            hovertemplate=f"%{{x:.3g}} % more FLOP: %{{y:.4g}} {unit.name}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[100 * chosen.part],
            y=[chosen.peak_bytes / unit.size],
            mode="markers+text",
            marker={"size": 12, "color": AFTER_COLOR},
            text=[label],
            textposition="top right",
            hoverinfo="skip",
        )
    )
    figure.add_hline(
        floor_bytes / unit.size,
        line={"color": FLOOR, "width": 1, "dash": "dash"},
    )
    figure.update_xaxes(title="extra FLOP, % of all", range=[-0.02 * end, end])
    figure.update_yaxes(title=f"most alive at once, {unit.name}", range=[0, peaks[0] * 1.15])
    figure.update_layout(
        template=TEMPLATE,
        title=titled(
            recompute_finding(points, floor_bytes),
            {f"largest single operator {unit.text(floor_bytes)}": FLOOR},
        ),
        height=_HEIGHT_PX,
    )
    return figure


def recompute_finding(points: Sequence[Rematerialized], floor_bytes: int) -> str:
    """The title: what can be gained for how much, or why nothing."""
    first, last = points[0], points[-1]
    if first.peak_bytes == last.peak_bytes:
        if first.peak_bytes <= floor_bytes:
            return (
                f"Nothing to gain: the peak of {bytes_text(first.peak_bytes)} is one operator's own"
                " inputs and outputs"
            )
        return f"Nothing to gain: no copy lowers the peak of {bytes_text(first.peak_bytes)}"
    unit = unit_of(first.peak_bytes)
    change = f"{unit.number(first.peak_bytes)} → {unit.text(last.peak_bytes)}"
    return f"{change} alive at once for {three_digits(100 * last.part)} % more FLOP"
