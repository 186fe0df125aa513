"""Latency and throughput over the size of a dimension, a line a variant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from optimizer.numbers import three_digits
from profiling.racing.sweep import Sweep, SweepPoint
from studio.figures.template import TEMPLATE, color_of, log_axis, titled

_DASHES = ("solid", "dot")


def latency_lines(*sweeps: Sweep, title: str, sizes: Sequence[int]) -> go.Figure:
    """Median latency over the size, quartiles as a band; both axes logarithmic.

    Args:
        sweeps: under way or done, one for each question, the second one dotted.
        title: says the finding.
        sizes: all of the axis, also those that have not been raced yet.
    """
    figure = go.Figure()
    values: list[float] = []
    for found, dash in zip(sweeps, _DASHES, strict=False):
        for index, label in enumerate(found.labels):
            known = [(p.size, *_quartiles(p, label)) for p in _timed(found, label)]
            values += [time for _, low, _, high in known for time in (low, high)]
            _band(figure, known, color_of(index))
            line = {"color": color_of(index), "dash": dash}
            _line(figure, [(size, middle) for size, _, middle, _ in known], label, line, unit="ms")
    _layout(figure, sweeps[0], title=title, sizes=sizes)
    figure.update_yaxes(title="median latency, ms", **log_axis(values))
    return figure


def throughput_lines(*sweeps: Sweep, sizes: Sequence[int]) -> go.Figure:
    """Items a second over the size.

    Args:
        sweeps: under way or done, one for each question, the second one dotted.
        sizes: all of the axis, also those that have not been raced yet.
    """
    figure = go.Figure()
    best: list[tuple[float, int, str]] = []
    for found, dash in zip(sweeps, _DASHES, strict=False):
        for index, label in enumerate(found.labels):
            known = [(p.size, p.throughput(label) or 0.0) for p in _timed(found, label)]
            best += [(rate, size, label) for size, rate in known]
            line = {"color": color_of(index), "dash": dash}
            _line(figure, known, label, line, unit="a second")
    _layout(figure, sweeps[0], title=_throughput_title(best, sweeps[0]), sizes=sizes)
    figure.update_yaxes(title="items a second", **log_axis([rate for rate, *_ in best]))
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
    figure: go.Figure,
    known: list[tuple[int, float]],
    label: str,
    line: dict[str, str],
    *,
    unit: str,
) -> None:
    figure.add_trace(
        go.Scatter(
            x=[size for size, _ in known],
            y=[value for _, value in known],
            mode="lines+markers",
            line={**line, "width": 2},
            marker={"size": 6},
            hovertemplate=f"{escape(label)}<br>%{{x}}: %{{y:.3g}} {unit}<extra></extra>",
        )
    )


def _layout(figure: go.Figure, found: Sweep, *, title: str, sizes: Sequence[int]) -> None:
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
            "range": [math.log10(min(sizes)) - 0.04, math.log10(max(sizes)) + 0.04],
        },
        uirevision="sweep",
    )
