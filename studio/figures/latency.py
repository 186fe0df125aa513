"""Latencies of a race: every run as a dot under its box, phases before the steady state."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from profiling.racing.race import Race, Timing
from studio.figures.template import TEMPLATE, color_of, three_digits, titled

MOST_DOTS = 400
_TAIL = 3.0
"""The axis ends this many times the distance from median to 90th percentile above the median."""

_GOLDEN = 0.618033988749895
_ROW_PX = 84


def latency_strips(race: Race, *, title: str) -> go.Figure:
    """A box and a strip of dots a variant; the axis ends where only stray runs would follow.

    Args:
        race: with at least one variant that has times.
        title: says the finding.
    """
    figure = go.Figure()
    timed = [timing for timing in race.timings if timing.blocks_ms]
    low, high = axis_range(timed)
    for row, timing in enumerate(timed):
        _strip(figure, timing, row, high=high, color=color_of(race.timings.index(timing)))
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title),
        height=100 + _ROW_PX * len(timed),
        xaxis={"title": "latency of one run, ms", "range": [low, high], "hoverformat": ".3g"},
        yaxis={
            "tickvals": list(range(len(timed))),
            "ticktext": [f"{timing.label} " for timing in timed],
            "range": [len(timed) - 0.4, -0.55],
            "showgrid": False,
        },
    )
    return figure


def _strip(figure: go.Figure, timing: Timing, row: int, *, high: float, color: str) -> None:
    latencies = timing.latencies_ms
    shown = latencies[:: max(1, len(latencies) // MOST_DOTS)]
    figure.add_trace(
        go.Box(
            x=list(latencies),
            y=[row] * len(latencies),
            orientation="h",
            boxpoints=False,
            whiskerwidth=0.4,
            line={"color": color, "width": 1.75},
            fillcolor="rgba(0,0,0,0)",
            width=0.3,
            hoverinfo="skip",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=list(shown),
            y=[row + 0.24 + 0.2 * (number * _GOLDEN % 1) for number in range(len(shown))],
            mode="markers",
            marker={"color": color, "size": 4, "opacity": 0.45},
            hovertemplate=f"{timing.label}<br>%{{x:.3g}} ms<extra></extra>",
        )
    )
    summary = timing.summary
    if summary is None:
        return
    _label(figure, summary.p50_ms, row, f"median {three_digits(summary.p50_ms)} ms", "center")
    beyond = sum(latency > high for latency in latencies) / len(latencies)
    if beyond:
        _label(figure, high, row, f"{100 * beyond:.2g} % beyond →", "right")


def _label(figure: go.Figure, x: float, row: int, text: str, anchor: str) -> None:
    figure.add_annotation(
        x=x, y=row - 0.22, text=text, showarrow=False, xanchor=anchor, yanchor="bottom"
    )


def axis_range(timed: Sequence[Timing]) -> tuple[float, float]:
    """From just below the fastest run to where the tail of the slowest variant thins out."""
    summaries = [timing.summary for timing in timed if timing.summary is not None]
    low = min(summary.min_ms for summary in summaries)
    high = max(
        min(s.p99_ms, s.p50_ms + _TAIL * max(s.p90_ms - s.p50_ms, 0.03 * s.p50_ms))
        for s in summaries
    )
    margin = 0.06 * (high - low) or 0.05 * high
    return max(0.0, low - margin), high + margin


PHASES = ("import", "create session", "first run", "steady run")


def phase_values(timing: Timing) -> list[float]:
    """Milliseconds of each of `PHASES`; the steady run is the median."""
    assert timing.phases is not None
    steady = timing.summary.p50_ms if timing.summary is not None else 0.0
    phases = timing.phases
    return [phases.import_ms, phases.create_ms, phases.first_ms, steady]


def phase_bars(race: Race) -> go.Figure:
    """What happens once, beside what happens every time, on a logarithmic axis.

    Args:
        race: with at least one variant that has phases.
    """
    figure = go.Figure()
    timed = [timing for timing in race.timings if timing.phases is not None]
    colors = [color_of(race.timings.index(timing)) for timing in timed]
    for timing, color in zip(timed, colors, strict=True):
        values = phase_values(timing)
        figure.add_trace(
            go.Bar(
                x=values,
                y=list(PHASES),
                orientation="h",
                name=timing.label,
                marker={"color": color},
                text=[three_digits(value) for value in values],
                textposition="outside",
                cliponaxis=False,
                hovertemplate=f"{timing.label}<br>%{{y}}: %{{x:.3g}} ms<extra></extra>",
            )
        )
    labels = {timing.label: color for timing, color in zip(timed, colors, strict=True)}
    figure.update_layout(
        template=TEMPLATE,
        title=titled(_phases_title(timed), labels),
        barmode="group",
        height=300,
        xaxis={"type": "log", "title": "ms, logarithmic", "dtick": 1, "range": _decades(timed)},
        yaxis={"autorange": "reversed", "showgrid": False},
    )
    return figure


def _phases_title(timed: Sequence[Timing]) -> str:
    creations = " → ".join(three_digits(phase_values(timing)[1]) for timing in timed)
    return f"Once and every time: creating the session takes {creations} ms"


def _decades(timed: Sequence[Timing]) -> list[float]:
    """The logarithmic axis: from below the shortest phase to well above the longest."""
    values = [value for timing in timed for value in phase_values(timing) if value > 0]
    return [math.log10(min(values)) - 0.3, math.log10(max(values)) + 0.35]
