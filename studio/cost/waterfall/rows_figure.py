"""Rows of a waterfall that runs down the page, whatever they count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, rows_axis, titled

FAMILY_COLORS = {
    "node": "#5b8fc9",
    "block": "#d07f3e",
    "dataflow": "#3a9d8f",
    "layout": "#a06cc4",
    "precision": "#c25b7e",
    "structure": "#8a8f3c",
    "kernels": "#4f9e5b",
    "memory": "#9c7a5b",
    "imported": "#7d8894",
}
"""As on the Rewrite page's scrubber."""

MOST_ROWS = 24
_ROW_PX = 27
_ZOOM = 0.6
"""The axis starts at 0 unless everything happens above this share of it."""

_ROOM = 0.15
"""Share of the axis that a text beside a bar needs."""

_PLAIN = "rgba(0,0,0,0)"


_ON_A_BAR: dict[str, Any] = {
    "bgcolor": "rgba(255,255,255,0.88)",
    "font": {"color": "#1c2030"},
    "borderpad": 1,
}


@dataclass(frozen=True, slots=True)
class Row:
    """One floating bar.

    Attributes:
        label: of the bar; safe for Plotly's own markup.
        color: of what it is.
        saved: in the axis's unit, negative if it grew.
        text: beside the bar.
        hover: when pointed at.
        interval: of `saved`; None where nothing is uncertain.
        clear: False draws it hatched; what grew is drawn hollow.
    """

    label: str
    color: str
    saved: float
    text: str
    hover: str
    interval: tuple[float, float] | None = None
    clear: bool = True


@dataclass(frozen=True, slots=True)
class Ends:
    """Where the waterfall starts and what it is in.

    Attributes:
        before: in the axis's unit.
        texts: of the first and of the last row.
        unit: title of the axis.
    """

    before: float
    texts: tuple[str, str]
    unit: str


def waterfall_rows(
    rows: Sequence[Row], ends: Ends, *, title: str, key: dict[str, str] | None = None
) -> go.Figure:
    """The source on top, one floating bar a row, what is left at the bottom.

    Args:
        rows: in order; they add up to the last level.
        ends: of the axis.
        title: says the finding.
        key: colours by what they mean, under the title.
    """
    levels = [ends.before]
    for row in rows:
        levels.append(levels[-1] - row.saved)
    low, high = _range(levels, rows)
    figure = go.Figure()
    for index, row in enumerate(rows):
        _bar(figure, row, index, start=levels[index], axis=(low, high))
    _end(figure, 0, levels[0], ends.texts[0], BEFORE_COLOR, axis=(low, high))
    _end(figure, len(rows) + 1, levels[-1], ends.texts[1], AFTER_COLOR, axis=(low, high))
    _connect(figure, levels)
    names = ["source", *(row.label for row in rows), "optimized"]
    cut = " · the axis does not start at 0" if low > 0 else ""
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title, key or {}),
        height=104 + _ROW_PX * len(names),
        clickmode="event+select",
        dragmode=False,
        barmode="overlay",
        bargap=0.3,
        xaxis={"title": f"{ends.unit}{cut}", "range": [low, high], "showgrid": True},
        yaxis=rows_axis(names),
    )
    return figure


def _bar(
    figure: go.Figure, row: Row, index: int, *, start: float, axis: tuple[float, float]
) -> None:
    end = start - row.saved
    error = None
    if row.interval is not None:
        low, high = row.interval
        error = {
            "type": "data",
            "array": [max(0.0, row.saved - low)],
            "arrayminus": [max(0.0, high - row.saved)],
            "thickness": 1.25,
            "width": 4,
            "color": "#8b93a3",
        }
    fill = {"shape": "" if row.clear else "/", "fgcolor": row.color, "bgcolor": _PLAIN, "size": 5}
    figure.add_trace(
        go.Bar(
            x=[-row.saved],
            base=[start],
            y=[index + 1],
            orientation="h",
            width=0.7,
            marker={
                "color": row.color if row.clear and row.saved >= 0 else _PLAIN,
                "pattern": fill,
                "line": {"color": row.color, "width": 1},
            },
            error_x=error,
            customdata=[index],
            hovertemplate=f"{row.hover}<extra></extra>",
        )
    )
    reach = [start, end]
    if row.interval is not None:
        reach += [start - row.interval[0], start - row.interval[1]]
    _text(figure, index + 1, (min(reach), max(reach)), row.text, axis)


def _end(
    figure: go.Figure, y: int, x: float, text: str, color: str, *, axis: tuple[float, float]
) -> None:
    figure.add_trace(
        go.Scatter(
            x=[x],
            y=[y],
            mode="markers",
            marker={"symbol": "diamond", "size": 10, "color": color},
            hoverinfo="skip",
        )
    )
    _text(figure, y, (x, x), f"<b>{text}</b>", axis)


def _text(
    figure: go.Figure, y: int, reach: tuple[float, float], text: str, axis: tuple[float, float]
) -> None:
    """Accuracy the bar, on the side that has more room."""
    low, high = axis
    rooms = (reach[0] - low, high - reach[1])
    right = rooms[1] > rooms[0]
    if max(rooms) < _ROOM * (high - low):  # nowhere: on the bar
        middle = (reach[0] + reach[1]) / 2
        figure.add_annotation(x=middle, y=y, text=text, showarrow=False, **_ON_A_BAR)
        return
    figure.add_annotation(
        x=reach[1] if right else reach[0],
        y=y,
        text=text,
        showarrow=False,
        xanchor="left" if right else "right",
        xshift=9 if right else -9,
    )


def _connect(figure: go.Figure, levels: Sequence[float]) -> None:
    for index, level in enumerate(levels):
        figure.add_shape(
            type="line",
            x0=level,
            x1=level,
            y0=index,
            y1=index + 1,
            line={"color": BEFORE_COLOR, "width": 0.75, "dash": "dot"},
            layer="below",
        )


def _range(levels: Sequence[float], rows: Sequence[Row]) -> tuple[float, float]:
    starts = zip(levels, rows, strict=False)
    reach = [start - end for start, row in starts if row.interval for end in row.interval]
    finite = [x for x in (*levels, *reach) if abs(x) < 3 * max(levels)]
    low, high = min(finite), max(finite)
    if low < _ZOOM * high:
        return min(0.0, low), high + 0.04 * (high - min(0.0, low))
    margin = 0.08 * (high - low) or 0.05 * high
    return low - margin, high + margin
