"""Lanes: every buffer a rectangle of addresses over the steps of a run, arenas side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, cast

import plotly.graph_objects as go
from plotly import subplots

from studio.figures.palette import TITLES, category_color
from studio.figures.template import BEFORE_COLOR, TEMPLATE, titled
from studio.memory.arena_map import ArenaMap
from studio.memory.buffers_figure import (
    MOST_DRAWN,
    categories_of,
    covered,
    rectangles,
)
from studio.numbers import Unit, unit_of

LIVE, BOUND, FLOOR = "#c9512b", "#10857f", "#a37a2c"
_PANEL_PX = 400
_HEADROOM = 1.08
_CROWDED = 0.065
"""Lines closer than this part of the axis do not both have room for a text above them."""

_LETTERS = 160
"""How many letters stand side by side in a narrow page's figure."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The axes that all panels share, whatever step is looked at.

    Attributes:
        steps: of the longest run.
        size_bytes: of the largest arena.
    """

    steps: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Line:
    """A height in the last panel: what the runtime measured.

    Attributes:
        text: what it is.
        size_bytes: how high.
    """

    text: str
    size_bytes: int
    color: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Bytes over steps in the last panel."""

    text: str
    size_bytes: Sequence[int]
    color: str


@dataclass(frozen=True, slots=True)
class Panel:
    """An arena with its plan.

    Attributes:
        title: what it is: "Source", "Step 38".
        drawn: a map with a plan.
    """

    title: str
    drawn: ArenaMap


@dataclass(frozen=True, slots=True)
class _Where:
    """A panel among others, on a page that is light or dark."""

    drawn: ArenaMap
    column: int
    columns: int
    scale: Scale
    dark: bool


def lanes(
    panels: Sequence[Panel],
    *,
    title: str,
    scale: Scale,
    lines: Sequence[Line] = (),
    curves: Sequence[Curve] = (),
    moment: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """Rectangles of address over time, side by side on the same axes.

    Args:
        panels: arenas with known sizes.
        title: says the finding.
        scale: of the axes.
        lines: measured heights, drawn in the last panel.
        curves: measured curves, drawn there.
        moment: a step that is marked in the last panel.
        dark: whether the page is.
    """
    unit = unit_of(scale.size_bytes)
    figure: go.Figure = cast("Any", subplots).make_subplots(
        rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.02
    )
    for column, panel in enumerate(panels, start=1):
        bars = rectangles(panel.drawn, unit, most=MOST_DRAWN // len(panels), dark=dark)
        figure.add_trace(bars, row=1, col=column)
        figure.add_trace(_live(panel.drawn, unit), row=1, col=column)
        if len(panels) > 1:
            _heading(figure, panel.title, column)
        measured = lines if column == len(panels) else ()
        where = _Where(panel.drawn, column, len(panels), scale, dark=dark)
        _draw_lines(figure, [*lines_of(panel.drawn), *measured], where, unit)
    for curve in curves:
        figure.add_trace(_measured(curve, unit), row=1, col=len(panels))
    if moment is not None:
        _mark(figure, moment, len(panels))
    figure.update_xaxes(range=[0, scale.steps], title="step of the run")
    figure.update_yaxes(range=[0, scale.size_bytes / unit.size * _HEADROOM])
    figure.update_yaxes(title=f"address, {unit.name}", row=1, col=1)
    drawn = {category for panel in panels for category in categories_of(panel.drawn)}
    key = {TITLES[c]: category_color(c, dark=dark) for c in TITLES if c in drawn}
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title, {"alive": LIVE, **key}),
        height=_PANEL_PX,
        margin={"t": 76 if len(panels) > 1 else 64},
        barmode="overlay",
        bargap=0,
        clickmode="event+select",
        dragmode="pan",
        uirevision="lanes",
    )
    return figure


def _heading(figure: go.Figure, text: str, column: int) -> None:
    """What a panel shows, at its top left."""
    figure.add_annotation(
        x=0, xref=f"x{_number(column)} domain", y=1, yref=f"y{_number(column)} domain",
        text=f"<b>{escape(text)}</b>", showarrow=False, xanchor="left", yanchor="bottom", yshift=2,
        font={"size": 12},
    )  # fmt: skip


def _number(column: int) -> int | str:
    """Of an axis, as Plotly counts them."""
    return column if column > 1 else ""


def lines_of(drawn: ArenaMap) -> list[Line]:
    """Peak, bound and floor; one line where they are one height."""
    assert drawn.plan is not None
    heights: dict[int, list[str]] = {}
    for text, size in (
        ("peak", drawn.plan.peak_bytes),
        ("most alive at once", drawn.bound_bytes),
        ("largest single operator", drawn.floor_bytes),
    ):
        heights.setdefault(size, []).append(text)
    colors = {"peak": BEFORE_COLOR, "most alive at once": BOUND, "largest single operator": FLOOR}
    return [Line(" = ".join(texts), size, colors[texts[0]]) for size, texts in heights.items()]


def _live(drawn: ArenaMap, unit: Unit) -> go.Scatter:
    """What is alive: at the rectangles' tops wherever the plan leaves no gap below them."""
    live = drawn.live_bytes
    return go.Scatter(
        x=list(range(len(live) + 1)),
        y=[size / unit.size for size in (*live, *live[-1:])],
        mode="lines",
        line={"shape": "hv", "width": 1.5, "color": LIVE},
        hovertemplate=f"step %{{x}}: %{{y:.4g}} {unit.name} alive<extra></extra>",
        name="alive",
    )


def _measured(curve: Curve, unit: Unit) -> go.Scatter:
    name = escape(curve.text)
    return go.Scatter(
        x=list(range(len(curve.size_bytes))),
        y=[size / unit.size for size in curve.size_bytes],
        mode="lines",
        line={"shape": "hv", "width": 1.5, "color": curve.color, "dash": "dot"},
        hovertemplate=f"{name}, node %{{x}}: %{{y:.4g}} {unit.name}<extra></extra>",
        name=name,
    )


def _draw_lines(figure: go.Figure, lines: Sequence[Line], where: _Where, unit: Unit) -> None:
    """Lines with their texts; of two that are close, the lower one's text stands below it."""
    number = _number(where.column)
    above: int | None = None
    for line in sorted(lines, key=lambda line: -line.size_bytes):
        room = _CROWDED * where.scale.size_bytes
        crowded = above is not None and above - line.size_bytes < room
        above = None if crowded else line.size_bytes
        height = line.size_bytes / unit.size
        figure.add_shape(
            type="line", x0=0, x1=1, xref=f"x{number} domain", y0=height, y1=height,
            yref=f"y{number}", line={"color": line.color, "width": 1, "dash": "dash"},
        )  # fmt: skip
        text = f"{line.text} {unit.text(line.size_bytes)}"
        right = _right_is_freer(where, len(text), line.size_bytes - (room if crowded else 0))
        figure.add_annotation(
            x=1 if right else 0, xref=f"x{number} domain", y=height, yref=f"y{number}",
            showarrow=False, text=escape(text), xanchor="right" if right else "left",
            yanchor="top" if crowded else "bottom", font={"size": 11, "color": line.color},
            bgcolor="rgba(17,20,27,0.8)" if where.dark else "rgba(252,252,254,0.8)", borderpad=0,
        )  # fmt: skip


def _right_is_freer(where: _Where, letters: int, low: float) -> bool:
    """On which side a text that begins at this height hides less of the buffers."""
    steps = where.scale.steps
    wide = min(1.0, letters * where.columns / _LETTERS) * steps
    high = low + _CROWDED * where.scale.size_bytes
    left, right = (
        covered(where.drawn, (start, start + wide), (low, high)) for start in (0.0, steps - wide)
    )
    return right <= left


def _mark(figure: go.Figure, moment: int, column: int) -> None:
    """The step whose contributors are listed."""
    number = _number(column)
    figure.add_shape(
        type="rect", x0=moment, x1=moment + 1, xref=f"x{number}", y0=0, y1=1,
        yref=f"y{number} domain", line={"width": 0}, fillcolor=LIVE, opacity=0.18,
    )  # fmt: skip
