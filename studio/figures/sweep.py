"""Latency and throughput over the size of a dimension, a line a variant."""

from __future__ import annotations

from html import escape

import numpy as np
import plotly.graph_objects as go

from profiling.racing.sweep import Sweep, SweepPoint
from studio.figures.template import TEMPLATE, color_of, three_digits, titled


def latency_lines(found: Sweep, *, title: str) -> go.Figure:
    """Median latency over the size, quartiles as a band; both axes logarithmic.

    Args:
        found: under way or done.
        title: says the finding.
    """
    figure = go.Figure()
    for index, label in enumerate(found.labels):
        known = [(p.size, *_quartiles(p, label)) for p in _timed(found, label)]
        _band(figure, known, color_of(index))
        _line(figure, [(size, middle) for size, _, middle, _ in known], label, index, unit="ms")
    _layout(figure, found, title=title, axis="median latency, ms")
    return figure


def throughput_lines(found: Sweep) -> go.Figure:
    """Items a second over the size.

    Args:
        found: under way or done.
    """
    figure = go.Figure()
    best: list[tuple[float, int, str]] = []
    for index, label in enumerate(found.labels):
        known = [(p.size, p.throughput(label) or 0.0) for p in _timed(found, label)]
        best += [(rate, size, label) for size, rate in known]
        _line(figure, known, label, index, unit="a second")
    _layout(figure, found, title=_throughput_title(best, found), axis="items a second")
    return figure


def _throughput_title(best: list[tuple[float, int, str]], found: Sweep) -> str:
    if not best:
        return "No throughput yet"
    rate, size, label = max(best)
    return f"Most throughput: {three_digits(rate)} a second, {label} at {found.dimension} {size}"


def _timed(found: Sweep, label: str) -> list[SweepPoint]:
    timed = [point for point in found.points if point.latency_ms(label) is not None]
    return sorted(timed, key=lambda point: point.size)


def _quartiles(point: SweepPoint, label: str) -> tuple[float, float, float]:
    timings = point.race.timings if point.race is not None else ()
    latencies = next(timing.latencies_ms for timing in timings if timing.label == label)
    low, middle, high = np.percentile(latencies, [25, 50, 75]).tolist()
    return low, middle, high


def _band(figure: go.Figure, known: list[tuple[int, float, float, float]], color: str) -> None:
    sizes = [size for size, *_ in known]
    figure.add_trace(
        go.Scatter(
            x=sizes + sizes[::-1],
            y=[high for *_, high in known] + [low for _, low, _, _ in reversed(known)],
            fill="toself",
            fillcolor=color,
            opacity=0.18,
            mode="none",
            hoverinfo="skip",
        )
    )


def _line(
    figure: go.Figure, known: list[tuple[int, float]], label: str, index: int, *, unit: str
) -> None:
    figure.add_trace(
        go.Scatter(
            x=[size for size, _ in known],
            y=[value for _, value in known],
            mode="lines+markers",
            line={"color": color_of(index), "width": 2},
            marker={"size": 6},
            hovertemplate=f"{escape(label)}<br>%{{x}}: %{{y:.3g}} {unit}<extra></extra>",
        )
    )


def _layout(figure: go.Figure, found: Sweep, *, title: str, axis: str) -> None:
    sizes = sorted(point.size for point in found.points)
    colors = {escape(label): color_of(index) for index, label in enumerate(found.labels)}
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title), colors),
        height=320,
        margin={"t": 64},
        xaxis={
            "title": escape(found.dimension),
            "type": "log",
            "tickvals": sizes,
            "ticktext": [f"{size:,}" for size in sizes],
        },
        yaxis={"title": axis, "type": "log", "dtick": "D2"},
        uirevision="sweep",
    )
