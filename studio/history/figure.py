"""Medians of recordings: a row a variant, a dot a recording."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from optimizer.numbers import three_digits
from profiling.config.question import STARTS, Question, question_of_options
from profiling.records import Measurement, Recording
from studio.figures.template import TEMPLATE, color_of, short, titled

Timed = dict[str, list[tuple[int, float]]]
_DOT_PX = 20
_GAP_PX = 14
_MOST_LABEL = 44
_DEPLOYED: Question = "deployed"
_WIDE = 30.0
"""Slowest over fastest from which on the axis is logarithmic."""


def variants_of(recordings: Sequence[Recording]) -> Timed:
    """By variant, where it was timed: the recording's place and the median in ms.

    Variants are equal if their labels and options are; options are named where labels do not tell.
    """
    everything = [measured for recording in recordings for measured in recording.measurements]
    texts = dict(zip(map(id, everything), options_texts(everything), strict=True))
    named: dict[str, set[str]] = {}
    for measured in everything:
        named.setdefault(measured.label, set()).add(texts[id(measured)])
    rows: Timed = {}
    for place, recording in enumerate(recordings):
        for measured in recording.measurements:
            if measured.p50_ms is None:
                continue
            options = texts[id(measured)] if len(named[measured.label]) > 1 else ""
            label = f"{measured.label} · {options}" if options else measured.label
            rows.setdefault(label, []).append((place, measured.p50_ms))
    return rows


def median_dots(recordings: Sequence[Recording], names: Sequence[str], *, title: str) -> go.Figure:
    """A row a variant, in it a dot a recording at the median latency.

    Args:
        recordings: with at least one variant that was timed.
        names: of the recordings, beside their dots; empty for none.
        title: says the finding.
    """
    figure = go.Figure()
    y = 0.0
    ticks: list[tuple[float, str]] = []
    rows = variants_of(recordings)
    start, axis = _axis([ms for timed in rows.values() for _, ms in timed])
    alone = len(recordings) == 1
    for row, (label, timed) in enumerate(rows.items()):
        middle = y + (len(timed) - 1) * _DOT_PX / 2
        for place, ms in timed:
            _leader(figure, start, ms, y)
            _dot(figure, ms, y, name=names[place], color=color_of(row if alone else place))
            y += _DOT_PX
        ticks.append((middle, short(label, _MOST_LABEL)))
        y += _GAP_PX
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title)),
        height=int(120 + y),
        xaxis=axis,
        yaxis={
            "tickvals": [place for place, _ in ticks],
            "ticktext": [f"{text} " for _, text in ticks],
            "range": [y, -_DOT_PX],
            "showgrid": False,
        },
    )
    return figure


def _dot(figure: go.Figure, ms: float, y: float, *, name: str, color: str) -> None:
    text = f"{name}  {three_digits(ms)} ms".strip()
    figure.add_trace(
        go.Scatter(
            x=[ms],
            y=[y],
            mode="markers+text",
            text=[f"  {escape(text)}"],
            textposition="middle right",
            cliponaxis=False,
            marker={"color": color, "size": 9},
            hoverinfo="skip",
        )
    )


def _leader(figure: go.Figure, start: float, ms: float, y: float) -> None:
    """A faint line from the axis to the dot: labels stay free on its right."""
    figure.add_trace(
        go.Scatter(
            x=[start, ms],
            y=[y, y],
            mode="lines",
            line={"color": "rgba(128,136,150,0.28)", "width": 1},
            hoverinfo="skip",
        )
    )


def _axis(values: Sequence[float]) -> tuple[float, dict[str, object]]:
    """Where the axis begins, and the axis."""
    low, high = min(values), max(values)
    if low > 0 and high / low > _WIDE:
        ends = [math.log10(low) - 0.15, math.log10(high) + 0.4]
        title = "median latency, ms, logarithmic"
        return low / 1.4, {"type": "log", "title": title, "dtick": 1, "range": ends}
    return 0.0, {"title": "median latency, ms", "range": [0, high * 1.18 or 1]}


def options_texts(measured: Sequence[Measurement]) -> list[str]:
    """Options that are not at their default, a line each; where one is deployed, all say which."""
    found = [_options_text(one) for one in measured]
    if not any(text.startswith(_DEPLOYED) for text in found):
        return found
    bare = [question_of_options(one.options) == "bare" for one in measured]
    return [f"bare {text}".strip() if b else text for b, text in zip(bare, found, strict=True)]


def _options_text(measured: Measurement) -> str:
    options, start = dict(measured.options), STARTS[_DEPLOYED]
    deployed = all(options.get(name) == value for name, value in start.items())
    kept = {name: value for name, value in options.items() if not deployed or name not in start}
    texts = [f"{name}={value}" for name, value in sorted(kept.items())]
    return " ".join([_DEPLOYED, *texts] if deployed else texts)
