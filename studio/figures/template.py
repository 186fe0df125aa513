"""One look for all figures: no box, light grid, direct labels; colours come from the theme."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

import plotly.graph_objects as go

BEFORE_COLOR = "#8b93a3"
AFTER_COLOR = "#5b68ee"
"""Both are told apart from a light and from a dark page."""

NO_COLORS: Mapping[str, str] = MappingProxyType({})

TEMPLATE = go.layout.Template(
    layout={
        "font": {"size": 12},
        "title": {"font": {"size": 14}, "x": 0, "xanchor": "left", "yref": "container"},
        "margin": {"l": 8, "r": 16, "t": 56, "b": 8},
        "hoverlabel": {"align": "left"},
        "xaxis": {"zeroline": False, "gridwidth": 0.5, "automargin": True},
        "yaxis": {"zeroline": False, "gridwidth": 0.5, "automargin": True},
        "bargap": 0.35,
        "showlegend": False,
        "separators": ".,",
    }
)


def color_of(index: int) -> str:
    """The colour of a variant: the baseline grey, the first challenger in the accent colour."""
    return (BEFORE_COLOR, AFTER_COLOR, "#10857f", "#c9512b", "#7a4fc0", "#a37a2c")[index % 6]


def titled(
    title: str, colors: Mapping[str, str] = NO_COLORS, *, about: str = ""
) -> dict[str, object]:
    """A title and, under it, the variants in their colours: nobody has to look for a legend.

    Args:
        title: says the finding.
        colors: of the variants by name.
        about: on what it was found; stands before the variants.
    """
    marks = [f'<span style="color:{color}">■</span> {label}' for label, color in colors.items()]
    key = "   ".join([*([about] if about else []), *marks])
    # Plotly places a title by its middle; from the top, and the first line always at one height
    return {"text": title, "y": 1, "yanchor": "top", "pad": {"t": 6}, "subtitle": {"text": key}}


def rows_axis(labels: Iterable[str]) -> dict[str, Any]:
    """A vertical axis with a row for each label, the first on top.

    Args:
        labels: safe for Plotly's own markup.
    """
    texts = [f"{label} " for label in labels]
    return {
        "tickvals": list(range(len(texts))),
        "ticktext": texts,
        "range": [len(texts) - 0.4, -0.6],
        "showgrid": False,
        "fixedrange": True,
    }


def short(label: str, most: int) -> str:
    """A label cut to so many letters, made safe for Plotly's own markup."""
    return escape(label if len(label) <= most else f"{label[: most - 1]}…")


def interval(
    figure: go.Figure,
    y: float,
    found: tuple[float, float, float],
    *,
    color: str,
    hover: str,
    filled: bool = True,
    symbol: str = "diamond",
) -> None:
    """A line from the lower to the upper end of an interval, a mark at the estimate.

    Args:
        figure: to draw on.
        y: of its row.
        found: lower end, estimate, upper end.
        color: of both.
        hover: what the mark says, in Plotly's own markup.
        filled: else the line is dotted and the mark hollow.
        symbol: of the mark.
    """
    low, middle, high = found
    figure.add_trace(
        go.Scatter(
            x=[low, high], y=[y, y], mode="lines", hoverinfo="skip",
            line={"color": color, **({"width": 3} if filled else {"width": 2, "dash": "dot"})},
        )
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=[middle],
            y=[y],
            mode="markers",
            marker={"color": color, "size": 10, "symbol": symbol if filled else f"{symbol}-open"},
            hovertemplate=f"{hover}<extra></extra>",
        )
    )


def log_axis(values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis around positive values, ended and marked at 1, 2 and 5 of each decade.

    It changes only when values leave it: a figure that grows stays where it is.
    """
    known = [value for value in values if value > 0] or [1.0]
    marks = [
        factor * 10.0**power
        for power in range(math.floor(math.log10(min(known))) - 1, _decade_above(known) + 1)
        for factor in (1, 2, 5)
    ]
    below = [mark for mark in marks if mark <= min(known)]
    above = [mark for mark in marks if mark >= max(known)]
    shown = [mark for mark in marks if below[-1] <= mark <= above[0]]
    if len(shown) < 3:
        shown = marks[max(0, marks.index(shown[0]) - 1) : marks.index(shown[-1]) + 2]
    decades_only = len(shown) > _MOST_MARKS
    return {
        "type": "log",
        "range": [math.log10(shown[0]), math.log10(shown[-1])],
        "tickvals": [m for m in shown if not decades_only or round(math.log10(m), 6).is_integer()],
        "tickformat": "~g",
    }


_MOST_MARKS = 10


def _decade_above(values: Sequence[float]) -> int:
    return math.ceil(math.log10(max(values))) + 1
