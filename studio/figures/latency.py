"""Latencies of a race: every run as a dot beside its box, phases before the steady state."""

from __future__ import annotations

import math

import plotly.graph_objects as go

from profiling.race import Race, Timing
from studio.figures.template import LEGEND, TEMPLATE, color_of, three_digits

MOST_DOTS = 400


def latency_strips(race: Race, *, title: str) -> go.Figure:
    """One strip and box a variant, slowest 1 % of the axis cut off so that the boxes stay readable.

    Args:
        race: with at least one variant that has times.
        title: says the finding.
    """
    figure = go.Figure()
    timed = [timing for timing in race.timings if timing.blocks_ms]
    for index, timing in enumerate(timed):
        latencies = timing.latencies_ms
        step = max(1, len(latencies) // MOST_DOTS)
        color = color_of(index)
        figure.add_trace(
            go.Box(
                x=list(latencies),
                y=[timing.label] * len(latencies),
                orientation="h",
                name=timing.label,
                boxpoints=False,
                line={"color": color, "width": 1.5},
                fillcolor="rgba(0,0,0,0)",
                width=0.35,
                hoverinfo="skip",
            )
        )
        shown = latencies[::step]
        figure.add_trace(
            go.Scatter(
                x=list(shown),
                y=[timing.label] * len(shown),
                mode="markers",
                marker={"color": color, "size": 5, "opacity": 0.35},
                yaxis="y",
                hovertemplate="%{x:.3g} ms<extra></extra>",
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        title=title,
        height=110 + 70 * len(timed),
        xaxis={"title": "latency of one run, ms", "range": _range(timed), "hoverformat": ".3g"},
        yaxis={"autorange": "reversed", "showgrid": False},
    )
    return figure


def _range(timed: list[Timing]) -> list[float]:
    """From just below the fastest run to just above the slowest variant's 99th percentile."""
    summaries = [timing.summary for timing in timed if timing.summary is not None]
    low = min(summary.min_ms for summary in summaries)
    high = max(summary.p99_ms for summary in summaries)
    margin = 0.06 * (high - low) or 0.05 * high
    return [max(0.0, low - margin), high + margin]


PHASES = ("import", "create session", "first run", "steady run")


def phase_values(timing: Timing) -> list[float]:
    """Milliseconds of each of `PHASES`; the steady run is the median."""
    assert timing.phases is not None
    steady = timing.summary.p50_ms if timing.summary is not None else 0.0
    phases = timing.phases
    return [phases.import_ms, phases.create_ms, phases.first_ms, steady]


def _decades(timed: list[Timing]) -> list[float]:
    """The logarithmic axis: from below the shortest phase to well above the longest."""
    values = [value for timing in timed for value in phase_values(timing) if value > 0]
    return [math.log10(min(values)) - 0.3, math.log10(max(values)) + 0.35]


def phase_bars(race: Race) -> go.Figure:
    """What happens once, beside what happens every time, on a logarithmic axis."""
    figure = go.Figure()
    timed = [timing for timing in race.timings if timing.phases is not None]
    for index, timing in enumerate(timed):
        values = phase_values(timing)
        figure.add_trace(
            go.Bar(
                x=values,
                y=list(PHASES),
                orientation="h",
                name=timing.label,
                marker={"color": color_of(index)},
                text=[three_digits(value) for value in values],
                textposition="outside",
                cliponaxis=False,
                hovertemplate=f"{timing.label}<br>%{{y}}: %{{x:.3g}} ms<extra></extra>",
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        title="Once, and every time",
        barmode="group",
        height=280,
        showlegend=True,
        legend=LEGEND,
        xaxis={"type": "log", "title": "ms, logarithmic", "dtick": 1, "range": _decades(timed)},
        yaxis={"autorange": "reversed", "showgrid": False},
    )
    return figure
