"""Predicted time as lanes: the launch, then arithmetic above what is read and written.

Arithmetic and traffic run side by side; the longer lane is what a node takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from optimizer.cost.predict import Parts
from studio.figures.change_bars import time_unit
from studio.figures.template import TEMPLATE, rows_axis, titled
from studio.numbers import three_digits

PART_COLORS: Mapping[str, str] = {
    "launch": "#7a4fc0",
    "compute": "#c9512b",
    "read": "#10857f",
    "write": "#58b9ae",
}
_LANE = 0.36
_FULL = 0.76
_TEXT_ROOM = 1.34
"""Length of the axis, in longest rows: beside the longest there is room for its text."""

_ROW_LETTERS, _FEWEST_LETTERS = 115, 4
"""Letters that fit on the longest row of a narrow page; shorter pieces than these get no label."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One node in a row.

    Attributes:
        parts: of its time.
        label: written on it where there is room; empty for none.
        hover: when pointed at; safe for Plotly's own markup.
        key: given back when it is clicked.
    """

    parts: Parts
    label: str = ""
    hover: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class LaneRow:
    """Nodes that run one after the other.

    Attributes:
        label: of the row; safe for Plotly's own markup.
        pieces: in order.
        text: beside the row.
        color: of the row's text; empty for the page's own.
    """

    label: str
    pieces: tuple[Piece, ...]
    text: str = ""
    color: str = ""

    @property
    def total_us(self) -> float:
        """All nodes, one after the other."""
        return sum(piece.parts.total_us for piece in self.pieces)


def lanes(rows: Sequence[LaneRow], *, title: str, row_px: int = 30) -> go.Figure:
    """Rows of nodes on one scale.

    Args:
        rows: from the top.
        title: says the finding; safe for Plotly's own markup.
        row_px: height of a row.
    """
    longest = max((row.total_us for row in rows), default=0.0) or 1.0
    unit, size = time_unit([longest])
    figure = go.Figure()
    for part in PART_COLORS:
        _part(figure, rows, part, unit=unit, size=size)
    for index, row in enumerate(rows):
        _texts(figure, row, index, size=size, longest=longest)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title, PART_COLORS),
        height=116 + row_px * max(2, len(rows)),
        barmode="overlay",
        dragmode=False,
        clickmode="event+select",
        xaxis={"title": f"{unit}, predicted", "range": [0, _TEXT_ROOM * longest / size]},
        yaxis=rows_axis(row.label for row in rows),
    )
    return figure


def part_us(parts: Parts, part: str) -> float:
    """How long a part of `PART_COLORS` takes."""
    match part:
        case "launch":
            return parts.emit_us
        case "compute":
            return parts.compute_us
        case "read":
            return parts.read_us
        case _:
            return parts.write_us


def _part(figure: go.Figure, rows: Sequence[LaneRow], part: str, *, unit: str, size: float) -> None:
    """One part of all nodes as one trace."""
    found: dict[str, list[Any]] = {name: [] for name in ("x", "base", "y", "hover", "key")}
    for index, row in enumerate(rows):
        start = 0.0
        for piece in row.pieces:
            offset, length = _offset_us(piece.parts, part), part_us(piece.parts, part)
            if length > 0:
                found["x"].append(length / size)
                found["base"].append((start + offset) / size)
                found["y"].append(index + _shift(part))
                told = f"<br><b>{part}: {three_digits(length / size)} {unit}</b>"
                found["hover"].append(f"{piece.hover}{parts_text(piece.parts)}{told}")
                found["key"].append(piece.key)
            start += piece.parts.total_us
    figure.add_trace(
        go.Bar(
            x=found["x"],
            base=found["base"],
            y=found["y"],
            orientation="h",
            width=_FULL if part == "launch" else _LANE,
            name=part,
            marker={"color": PART_COLORS[part], "line": {"width": 0}},
            customdata=list(zip(found["key"], found["hover"], strict=True)),
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
    )


def _offset_us(parts: Parts, part: str) -> float:
    """How long after its node a part begins."""
    match part:
        case "launch":
            return 0.0
        case "write":
            return parts.emit_us + parts.read_us
        case _:
            return parts.emit_us


def _shift(part: str) -> float:
    """Arithmetic above, traffic below, the launch over both."""
    if part == "launch":
        return 0.0
    return -0.2 if part == "compute" else 0.2


def _texts(figure: go.Figure, row: LaneRow, index: int, *, size: float, longest: float) -> None:
    start = 0.0
    for piece in row.pieces:
        label = _fitting(piece.label, piece.parts.total_us / longest)
        if label:
            middle = start + piece.parts.total_us / 2
            figure.add_annotation(
                x=middle / size, y=index - _FULL / 2, text=escape(label), showarrow=False,
                yanchor="bottom", font={"size": 11},
            )  # fmt: skip
        start += piece.parts.total_us
        if piece is not row.pieces[-1]:
            figure.add_shape(
                type="line", x0=start / size, x1=start / size,
                y0=index - 0.46, y1=index + _FULL / 2,
                line={"width": 1, "color": "rgba(139,147,163,0.9)", "dash": "dot"},
            )  # fmt: skip
    font = {"size": 12, "color": row.color} if row.color else {"size": 12}
    figure.add_annotation(
        x=start / size, y=index, text=row.text, showarrow=False, xanchor="left", xshift=6, font=font
    )


def _fitting(label: str, share: float) -> str:
    """What of a label there is room for on a piece that takes this share of the longest row."""
    room = int(share * _ROW_LETTERS)
    if len(label) <= room:
        return label
    return f"{label[: room - 1]}…" if room >= _FEWEST_LETTERS else ""


def parts_text(parts: Parts) -> str:
    """The parts in words, for hovering: lines of Plotly's own markup."""
    unit, size = time_unit([parts.total_us or 1.0])
    told = [f"{part} {three_digits(part_us(parts, part) / size)}" for part in PART_COLORS]
    return f"{' · '.join(told)} {unit}<br>bound by {parts.limit}"
