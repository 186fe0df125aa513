"""Latencies of a race: every run as a dot under its box, and who is faster for sure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from profiling.racing.race import Race, Timing
from studio.figures.template import TEMPLATE, color_of, titled
from studio.numbers import three_digits

MOST_DOTS = 400
_TAIL = 3.0
"""The axis ends this many times the distance from median to 90th percentile above the median."""

_GOLDEN = 0.618033988749895
_STRIP_PX = 72
_FOREST_PX = 34
_UNKNOWN_MS = (0.0, 1.0)
_WIDEST = 20.0
"""Speedups beyond this many times are not drawn to their end."""


def latency_strips(race: Race, *, title: str) -> go.Figure:
    """A box and a strip of dots a variant; the axis ends where only stray runs would follow.

    The height and the rows depend on the variants alone and the axis ends at round numbers, so
    that a figure of a race under way changes little.

    Args:
        race: under way or done.
        title: says the finding.
    """
    figure = go.Figure()
    low, high = axis_range(race.timings)
    for row, timing in enumerate(race.timings):
        _strip(figure, timing, row, high=high)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title)),
        height=96 + _STRIP_PX * len(race.timings),
        xaxis={"title": "latency of one run, ms", "range": [low, high], "hoverformat": ".3g"},
        yaxis=_rows([timing.label for timing in race.timings]),
        uirevision="latency",
    )
    return figure


def _rows(labels: Sequence[str]) -> dict[str, object]:
    """An axis with a variant a row, the first on top."""
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": [f"{escape(label)} " for label in labels],
        "range": [len(labels) - 0.4, -0.6],
        "showgrid": False,
        "fixedrange": True,
    }


def _strip(figure: go.Figure, timing: Timing, row: int, *, high: float) -> None:
    color, latencies = color_of(row), timing.latencies_ms
    summary = timing.summary
    if summary is None:
        text = "not measured" if timing.error else "waiting for its turn"
        figure.add_annotation(
            x=0, xref="paper", y=row, text=text, showarrow=False, xanchor="left", opacity=0.7
        )
        return
    _box(figure, latencies, row, color)
    shown = _shown(len(latencies))
    figure.add_trace(
        go.Scatter(
            x=[latencies[index] for index in shown],
            y=[row + 0.24 + 0.2 * (index * _GOLDEN % 1) for index in shown],
            mode="markers",
            marker={"color": color, "size": 4, "opacity": 0.45},
            hovertemplate=f"{escape(timing.label)}<br>%{{x:.3g}} ms<extra></extra>",
        )
    )
    _label(figure, summary.p50_ms, row, f"median {three_digits(summary.p50_ms)} ms")
    beyond = sum(latency > high for latency in latencies) / len(latencies)
    if beyond:
        _label(figure, 1.0, row, f"{100 * beyond:.2g} % beyond →", anchor="right", xref="paper")


def _box(figure: go.Figure, latencies: Sequence[float], row: int, color: str) -> None:
    """From the quartiles: the runs themselves need not travel to the browser."""
    ends = np.percentile(latencies, [5, 25, 50, 75, 95]).tolist()
    figure.add_trace(
        go.Box(
            y=[row],
            lowerfence=[ends[0]],
            q1=[ends[1]],
            median=[ends[2]],
            q3=[ends[3]],
            upperfence=[ends[4]],
            orientation="h",
            whiskerwidth=0.4,
            line={"color": color, "width": 1.75},
            fillcolor="rgba(0,0,0,0)",
            width=0.3,
            hoverinfo="skip",
        )
    )


def _shown(count: int) -> range:
    """Which runs become dots; more runs keep the dots that were there, or every other of them."""
    stride = 1 if count <= MOST_DOTS else 1 << math.ceil(math.log2(count / MOST_DOTS))
    return range(0, count, stride)


def _label(
    figure: go.Figure, x: float, row: int, text: str, *, anchor: str = "center", xref: str = "x"
) -> None:
    figure.add_annotation(
        x=x, y=row - 0.2, text=text, showarrow=False, xanchor=anchor, yanchor="bottom", xref=xref
    )


def axis_range(timings: Sequence[Timing]) -> tuple[float, float]:
    """From below the fastest run to where the tail of the slowest variant thins out, rounded."""
    summaries = [timing.summary for timing in timings if timing.summary is not None]
    if not summaries:
        return _UNKNOWN_MS
    low = min(summary.min_ms for summary in summaries)
    high = max(
        min(s.p99_ms, s.p50_ms + _TAIL * max(s.p90_ms - s.p50_ms, 0.03 * s.p50_ms))
        for s in summaries
    )
    return rounded_out(low, max(high, 1.02 * low))


def rounded_out(low: float, high: float) -> tuple[float, float]:
    """The range widened to multiples of a round step, a few steps long.

    Args:
        low: at least 0.
        high: more than `low`.
    """
    power = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * 8 >= high - low)
    return max(0.0, math.floor(low / step) * step), math.ceil(high / step) * step


def speedup_forest(race: Race) -> go.Figure:
    """Each variant's speedup against the baseline with its 95 % interval, around 1.

    Args:
        race: under way or done.
    """
    baseline = race.baseline
    rows = [timing for timing in race.timings if timing is not baseline]
    figure = go.Figure()
    ends = [0.9, 1.1]
    for row, timing in enumerate(rows):
        color = color_of(race.timings.index(timing))
        found = race.contrast(timing.label) if timing.believable else None
        if found is not None and found.low > 0 and math.isfinite(found.high):
            ends += [max(found.low, 1 / _WIDEST), min(found.high, _WIDEST)]
            _interval(figure, row, (found.low, found.speedup, found.high), color, timing.label)
        figure.add_annotation(
            x=1.02,
            xref="paper",
            y=row,
            text=_cut(race.verdict(timing.label) if found is not None else "no times"),
            showarrow=False,
            xanchor="left",
        )
    low, high = rounded_out(min(ends), max(ends))
    low = max(low, min(ends) / 1.1)
    figure.add_vline(1.0, line={"width": 1, "dash": "dot", "color": color_of(0)})
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(f"Speedup against {baseline.label}, with its 95 % interval")),
        height=118 + _FOREST_PX * len(rows),
        margin={"r": 330},
        xaxis={
            "type": "log",
            "range": [math.log10(low), math.log10(high)],
            "tickvals": _ticks(low, high),
            "title": f"← slower    times as fast as {escape(baseline.label)}    faster →",
        },
        yaxis=_rows([timing.label for timing in rows]),
        uirevision="forest",
    )
    return figure


def _interval(
    figure: go.Figure, row: int, found: tuple[float, float, float], color: str, label: str
) -> None:
    low, middle, high = found
    figure.add_trace(
        go.Scatter(
            x=[low, high], y=[row, row], mode="lines", line={"color": color, "width": 3},
            hoverinfo="skip",
        )
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=[middle],
            y=[row],
            mode="markers",
            marker={"color": color, "size": 10, "symbol": "diamond"},
            hovertemplate=f"{escape(label)}<br>{middle:.3f}×, {low:.3f} to {high:.3f}"
            "<extra></extra>",
        )
    )


def _ticks(low: float, high: float) -> list[float]:
    """About six round numbers, 1 among them."""
    power = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * 7 >= high - low)
    first = math.ceil((low - 1) / step)
    return [round(1 + step * k, 6) for k in range(first, int((high - 1) / step) + 1)]


def _cut(text: str, most: int = 60) -> str:
    return escape(text if len(text) <= most else f"{text[: most - 1]}…")
