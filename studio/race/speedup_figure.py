"""Who is faster for sure: an interval a variant, and what may be said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from profiling.racing.race import Race
from profiling.racing.samples import Contrast
from studio.figures.template import TEMPLATE, color_of, interval, rows_axis, titled
from studio.race.latency_figure import rounded_out

_ROW_PX = 34
_PAIR_PX = 56
_PAIR = 0.4
"""Between the two intervals of a row, in rows."""

_WIDEST = 20.0
"""Speedups beyond this many times are not drawn to their end."""


def speedup_forest(*races: Race, over: bool = False) -> go.Figure:
    """Each variant's speedup against the baseline with its 95 % interval, around 1.

    Races of the same variants share their rows.

    Args:
        races: under way or done, one for each question.
        over: nothing more will be measured.
    """
    figure = go.Figure()
    ends = [0.9, 1.1]
    baseline = races[0].baseline.label
    labels = [timing.label for timing in races[0].timings if timing.label != baseline]
    for number, race in enumerate(races):
        shift = _PAIR * (number - (len(races) - 1) / 2)
        for row, label in enumerate(labels):
            mark = _Mark(row + shift, color_of(_place(race, label)), filled=number == 0)
            name = f"{race.question}: " if len(races) > 1 else ""
            ends += _speedup(figure, race, label, mark)
            _say(figure, f"{name}{_claim(race, label, over=over)}", mark)
    low, high = rounded_out(min(ends), max(ends))
    low = max(low, min(ends) / 1.1)
    figure.add_vline(1.0, line={"width": 1, "dash": "dot", "color": color_of(0)})
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(f"Speedup against {baseline}, with its 95 % interval")),
        height=118 + (_ROW_PX if len(races) == 1 else _PAIR_PX) * len(labels),
        margin={"r": 280 if len(races) == 1 else 330},
        xaxis={
            "type": "log",
            "range": [math.log10(low), math.log10(high)],
            "tickvals": _ticks(low, high),
            "title": f"← slower    times as fast as {escape(baseline)}    faster →",
        },
        yaxis=rows_axis(map(escape, labels)),
        uirevision="forest",
    )
    return figure


@dataclass(frozen=True, slots=True)
class _Mark:
    """How an interval is drawn, and at which height."""

    y: float
    color: str
    filled: bool


def _place(race: Race, label: str) -> int:
    return [timing.label for timing in race.timings].index(label)


def _contrast(race: Race, label: str) -> Contrast | None:
    return race.contrast(label) if race.timings[_place(race, label)].believable else None


def _speedup(figure: go.Figure, race: Race, label: str, mark: _Mark) -> list[float]:
    """Draw one interval; its ends, where it has some."""
    found = _contrast(race, label)
    if found is None or found.low <= 0:
        return []
    ends = (found.low, found.speedup, found.high)
    hover = f"{escape(label)}<br>{found.speedup:.3f}×, {found.low:.3f} to {found.high:.3f}"
    interval(figure, mark.y, ends, color=mark.color, hover=hover, filled=mark.filled)
    return [max(found.low, 1 / _WIDEST), min(found.high, _WIDEST)]


def _claim(race: Race, label: str, *, over: bool) -> str:
    """What an interval says, or why there is none."""
    found = _contrast(race, label)
    if found is not None:
        return found.brief
    timing = race.timings[_place(race, label)]
    return "not measured" if over or timing.error else "no times yet"


def _say(figure: go.Figure, text: str, mark: _Mark) -> None:
    figure.add_annotation(
        x=1.02, xref="paper", y=mark.y, text=escape(text), showarrow=False, xanchor="left"
    )


def _ticks(low: float, high: float) -> list[float]:
    """About six round numbers, 1 among them."""
    power = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * 7 >= high - low)
    first = math.ceil((low - 1) / step)
    return [round(1 + step * k, 6) for k in range(first, int((high - 1) / step) + 1)]
