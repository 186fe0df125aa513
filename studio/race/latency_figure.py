"""Latencies of races: every run as a dot under its box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go

from optimizer.numbers import three_digits
from profiling.config.question import Question, meaning_of
from profiling.racing.race import Race, Timing
from studio.figures.template import TEMPLATE, color_of, rows_axis, titled

MOST_DOTS = 400
_TAIL = 3.0
"""The axis ends this many times the distance from median to 90th percentile above the median."""

_GOLDEN = 0.618033988749895
_TITLE_PX = 44
_HEAD_PX = 22
_AXIS_PX = 52
_STRIP_PX = 72
_UNKNOWN_MS = (0.0, 1.0)


def latency_strips(*races: Race, title: str, over: bool = False) -> go.Figure:
    """A box and a strip of dots a variant; the axis ends where only stray runs would follow.

    Races of the same variants stand below each other, each on an axis of its own. The height and
    the rows depend on the variants alone and an axis ends at round numbers, so that a figure of a
    race under way changes little.

    Args:
        races: under way or done, one for each question.
        title: says the finding.
        over: nothing more will be measured.
    """
    figure = go.Figure()
    tall = [_height_px(race) for race in races]
    top = whole = sum(tall)
    for number, (race, panel_px) in enumerate(zip(races, tall, strict=True)):
        panel = _Panel("" if number == 0 else str(number + 1), *axis_range(race.timings), over=over)
        for row, timing in enumerate(race.timings):
            _strip(figure, timing, row, panel)
        head = 0 if race.question is None else _HEAD_PX
        domain = ((top - panel_px + _AXIS_PX) / whole, (top - head) / whole)
        figure.update_layout(_axes(race, panel, domain))
        if race.question is not None:
            _head(figure, race, race.question, panel)
        top -= panel_px
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title)),
        height=_TITLE_PX + whole,
        margin={"t": _TITLE_PX, "b": 0},
        uirevision="latency",
    )
    return figure


@dataclass(frozen=True, slots=True)
class _Panel:
    """One race's part of the figure.

    Attributes:
        name: of its axes, as Plotly counts them.
        low: where its axis begins, in milliseconds.
        high: where it ends.
        over: nothing more will be measured.
    """

    name: str
    low: float
    high: float
    over: bool

    @property
    def axes(self) -> dict[str, str]:
        """Of a trace that belongs to it."""
        return {"xaxis": f"x{self.name}", "yaxis": f"y{self.name}"}


def _axes(race: Race, panel: _Panel, domain: tuple[float, ...]) -> dict[str, object]:
    return {
        f"xaxis{panel.name}": {
            "title": {"text": "latency of one run, ms", "standoff": 4},
            "range": [panel.low, panel.high],
            "hoverformat": ".3g",
            "anchor": f"y{panel.name}",
        },
        f"yaxis{panel.name}": {
            **rows_axis(escape(timing.label) for timing in race.timings),
            "domain": list(domain),
            "anchor": f"x{panel.name}",
        },
    }


def _height_px(race: Race) -> int:
    head = 0 if race.question is None else _HEAD_PX
    return head + _STRIP_PX * len(race.timings) + _AXIS_PX


def _head(figure: go.Figure, race: Race, question: Question, panel: _Panel) -> None:
    """What the panel is about, above its rows."""
    figure.add_annotation(
        x=0, xref="paper", y=1, yref=f"y{panel.name} domain", yanchor="bottom", xanchor="left",
        text=f"<b>{question.capitalize()}</b>: {meaning_of(race.configs)}", showarrow=False,
    )  # fmt: skip


def _strip(figure: go.Figure, timing: Timing, row: int, panel: _Panel) -> None:
    color, latencies = color_of(row), timing.latencies_ms
    summary = timing.summary
    if summary is None:
        text = "not measured" if timing.error or panel.over else "waiting for its turn"
        figure.add_annotation(
            x=0, xref="paper", y=row, yref=f"y{panel.name}", text=text, showarrow=False,
            xanchor="left", opacity=0.7,
        )  # fmt: skip
        return
    _box(figure, latencies, row, color, panel)
    shown = _shown(len(latencies))
    figure.add_trace(
        go.Scatter(
            x=[latencies[index] for index in shown],
            y=[row + 0.24 + 0.2 * (index * _GOLDEN % 1) for index in shown],
            mode="markers",
            marker={"color": color, "size": 4, "opacity": 0.45},
            hovertemplate=f"{escape(timing.label)}<br>%{{x:.3g}} ms<extra></extra>",
            **panel.axes,
        )
    )
    _label(figure, summary.p50_ms, row, f"median {three_digits(summary.p50_ms)} ms", panel)
    beyond = sum(latency > panel.high for latency in latencies) / len(latencies)
    if beyond:
        _beyond(figure, row, f"{100 * beyond:.2g} % beyond →", panel)


def _box(
    figure: go.Figure, latencies: Sequence[float], row: int, color: str, panel: _Panel
) -> None:
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
            **panel.axes,
        )
    )


def _shown(count: int) -> range:
    """Which runs become dots; more runs keep the dots that were there, or every other of them."""
    stride = 1 if count <= MOST_DOTS else 1 << math.ceil(math.log2(count / MOST_DOTS))
    return range(0, count, stride)


def _label(figure: go.Figure, x: float, row: int, text: str, panel: _Panel) -> None:
    figure.add_annotation(
        x=x, xref=f"x{panel.name}", y=row - 0.2, yref=f"y{panel.name}", text=text,
        showarrow=False, xanchor="center", yanchor="bottom",
    )  # fmt: skip


def _beyond(figure: go.Figure, row: int, text: str, panel: _Panel) -> None:
    """What lies beyond the end of the axis."""
    figure.add_annotation(
        x=1.0, xref="paper", y=row - 0.2, yref=f"y{panel.name}", text=text,
        showarrow=False, xanchor="right", yanchor="bottom",
    )  # fmt: skip


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
