"""Lanes: every buffer a rectangle of addresses over the steps of a run, arenas side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, cast

import plotly.graph_objects as go
from plotly import subplots

from optimizer.numbers import Unit, unit_of
from studio.figures.palette import TITLES, category_color
from studio.figures.template import BEFORE_COLOR, TEMPLATE, titled
from studio.memory.arena_map import ArenaMap
from studio.memory.buffers_figure import (
    MOST_DRAWN,
    categories_of,
    covered,
    rectangles,
)

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
class PanelLine:
    """A height, or bytes over the steps.

    Attributes:
        text: what it is.
        size_bytes: how high; step by step.
    """

    text: str
    size_bytes: int | tuple[int, ...]
    color: str

    @property
    def peak_bytes(self) -> int:
        """How high it goes."""
        return self.size_bytes if isinstance(self.size_bytes, int) else max(self.size_bytes)


@dataclass(frozen=True, slots=True)
class _Where:
    """A panel among others, on a page that is light or dark."""

    drawn: ArenaMap
    column: int
    columns: int
    scale: Scale
    dark: bool


def lanes(
    panels: Mapping[str, ArenaMap],
    *,
    title: str,
    scale: Scale,
    measured: Sequence[PanelLine] = (),
    moment: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """Rectangles of address over time, side by side on the same axes.

    Args:
        panels: arenas with a plan, by what they are: "Source", "Step 38".
        title: says the finding.
        scale: of the axes.
        measured: drawn in the last panel.
        moment: a step that is marked in the last panel.
        dark: whether the page is.
    """
    unit = unit_of(scale.size_bytes)
    figure: go.Figure = cast("Any", subplots).make_subplots(
        rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.02
    )
    heights = [line for line in measured if isinstance(line.size_bytes, int)]
    for column, (name, drawn) in enumerate(panels.items(), start=1):
        bars = rectangles(drawn, unit, most=MOST_DRAWN // len(panels), dark=dark)
        figure.add_trace(bars, row=1, col=column)
        figure.add_trace(_live(drawn, unit), row=1, col=column)
        if len(panels) > 1:
            _heading(figure, name, column)
        where = _Where(drawn, column, len(panels), scale, dark=dark)
        lines = [*lines_of(drawn), *(heights if column == len(panels) else ())]
        _draw_lines(figure, lines, where, unit)
    for line in measured:
        if not isinstance(line.size_bytes, int):
            curve = _curve(line, line.size_bytes, unit, hover=f"{escape(line.text)}, node %{{x}}:")
            figure.add_trace(curve.update(line_dash="dot"), row=1, col=len(panels))
    if moment is not None:
        _mark(figure, moment, len(panels))
    figure.update_xaxes(range=[0, scale.steps], title="step of the run")
    figure.update_yaxes(range=[0, scale.size_bytes / unit.size * _HEADROOM])
    figure.update_yaxes(title=f"address, {unit.name}", row=1, col=1)
    shown = {category for drawn in panels.values() for category in categories_of(drawn)}
    key = {TITLES[c]: category_color(c, dark=dark) for c in TITLES if c in shown}
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
        x=0, xref="x domain", y=1, yref="y domain", row=1, col=column,
        text=f"<b>{escape(text)}</b>", showarrow=False, xanchor="left", yanchor="bottom", yshift=2,
        font={"size": 12},
    )  # fmt: skip


def lines_of(drawn: ArenaMap) -> list[PanelLine]:
    """Peak, bound and floor; one line where they are one height."""
    assert drawn.best is not None
    heights: dict[int, list[str]] = {}
    for text, size in (
        ("peak", drawn.best.peak_bytes),
        ("most alive at once", drawn.bound_bytes),
        ("largest single operator", drawn.floor_bytes),
    ):
        heights.setdefault(size, []).append(text)
    colors = {"peak": BEFORE_COLOR, "most alive at once": BOUND, "largest single operator": FLOOR}
    return [PanelLine(" = ".join(texts), size, colors[texts[0]]) for size, texts in heights.items()]


def _live(drawn: ArenaMap, unit: Unit) -> go.Scatter:
    """What is alive: at the rectangles' tops wherever the plan leaves no gap below them."""
    live = drawn.live_bytes
    line = PanelLine("alive", live, LIVE)
    return _curve(line, (*live, *live[-1:]), unit, hover="step %{x}:", after=" alive")


def _curve(
    line: PanelLine, sizes: Sequence[int], unit: Unit, *, hover: str, after: str = ""
) -> go.Scatter:
    return go.Scatter(
        x=list(range(len(sizes))),
        y=[size / unit.size for size in sizes],
        mode="lines",
        line={"shape": "hv", "width": 1.5, "color": line.color},
        hovertemplate=f"{hover} %{{y:.4g}} {unit.name}{after}<extra></extra>",
        name=escape(line.text),
    )


def _draw_lines(figure: go.Figure, lines: Sequence[PanelLine], where: _Where, unit: Unit) -> None:
    """Lines with their texts; of two that are close, the lower one's text stands below it."""
    above: int | None = None
    for line in sorted(lines, key=lambda line: -line.peak_bytes):
        room = _CROWDED * where.scale.size_bytes
        crowded = above is not None and above - line.peak_bytes < room
        above = None if crowded else line.peak_bytes
        height = line.peak_bytes / unit.size
        figure.add_shape(
            type="line", x0=0, x1=1, xref="x domain", y0=height, y1=height, yref="y",
            row=1, col=where.column, line={"color": line.color, "width": 1, "dash": "dash"},
        )  # fmt: skip
        text = f"{line.text} {unit.text(line.peak_bytes)}"
        right = _right_is_freer(where, len(text), line.peak_bytes - (room if crowded else 0))
        figure.add_annotation(
            x=1 if right else 0, xref="x domain", y=height, yref="y", row=1, col=where.column,
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
    figure.add_shape(
        type="rect", x0=moment, x1=moment + 1, xref="x", y0=0, y1=1, yref="y domain",
        row=1, col=column, line={"width": 0}, fillcolor=LIVE, opacity=0.18,
    )  # fmt: skip
