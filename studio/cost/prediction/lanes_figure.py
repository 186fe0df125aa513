"""Predicted time as lanes: the launch, then arithmetic above what is read and written.

Arithmetic and traffic run side by side; the longer lane is what a node takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from optimizer.cost.predict import Parts
from optimizer.numbers import Unit
from studio.figures.change_bars import time_unit
from studio.figures.template import TEMPLATE, rows_axis, titled

PART_COLORS: Mapping[str, str] = {
    "launch": "#7a4fc0",
    "compute": "#c9512b",
    "read": "#10857f",
    "write": "#58b9ae",
}
_PLACES = {
    "launch": (0.0, 0.76),
    "compute": (-0.2, 0.36),
    "read": (0.2, 0.36),
    "write": (0.2, 0.36),
}
"""Arithmetic above, traffic below, the launch over both: middle and height, in rows."""

_HALF = 0.38
_TEXT_ROOM = 1.34
"""Length of the axis, in longest rows: beside the longest there is room for its text."""

_ROW_LETTERS, _FEWEST_LETTERS = 115, 4
"""Letters that fit on the longest row of a narrow page; shorter pieces than these get no label."""


@dataclass(frozen=True, slots=True)
class LaneNode:
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
    pieces: tuple[LaneNode, ...]
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
    unit = time_unit(longest)
    figure = go.Figure()
    for part in PART_COLORS:
        figure.add_trace(_bars(rows, part, unit))
    for index, row in enumerate(rows):
        _texts(figure, row, index, unit=unit, longest=longest)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title, PART_COLORS),
        height=116 + row_px * max(2, len(rows)),
        barmode="overlay",
        dragmode=False,
        clickmode="event+select",
        xaxis={
            "title": f"{unit.name}, predicted",
            "range": [0, _TEXT_ROOM * longest / unit.size],
        },
        yaxis=rows_axis(row.label for row in rows),
    )
    return figure


def spans_us(parts: Parts) -> dict[str, tuple[float, float]]:
    """Of each part of `PART_COLORS` how long after its node it begins, and how long it takes."""
    emit_us, read_us = parts.emit_us, parts.read_us
    return {
        "launch": (0.0, emit_us),
        "compute": (emit_us, parts.compute_us),
        "read": (emit_us, read_us),
        "write": (emit_us + read_us, parts.write_us),
    }


def _bars(rows: Sequence[LaneRow], part: str, unit: Unit) -> go.Bar:
    """One part of all nodes as one trace."""
    middle, high = _PLACES[part]
    found: list[tuple[float, float, float, tuple[str, str]]] = []
    for index, row in enumerate(rows):
        start = 0.0
        for piece in row.pieces:
            offset, length = spans_us(piece.parts)[part]
            if length > 0:
                told = f"<br><b>{part}: {unit.text(length)}</b>"
                about = (piece.key, f"{piece.hover}{parts_text(piece.parts)}{told}")
                base = (start + offset) / unit.size
                found.append((length / unit.size, base, index + middle, about))
            start += piece.parts.total_us
    return go.Bar(
        x=[one[0] for one in found],
        base=[one[1] for one in found],
        y=[one[2] for one in found],
        customdata=[one[3] for one in found],
        orientation="h",
        width=high,
        name=part,
        marker={"color": PART_COLORS[part], "line": {"width": 0}},
        hovertemplate="%{customdata[1]}<extra></extra>",
    )


def _texts(figure: go.Figure, row: LaneRow, index: int, *, unit: Unit, longest: float) -> None:
    start, size = 0.0, unit.size
    for piece in row.pieces:
        label = _fitting(piece.label, piece.parts.total_us / longest)
        if label:
            middle = start + piece.parts.total_us / 2
            figure.add_annotation(
                x=middle / size, y=index - _HALF, text=escape(label), showarrow=False,
                yanchor="bottom", font={"size": 11},
            )  # fmt: skip
        start += piece.parts.total_us
        if piece is not row.pieces[-1]:
            figure.add_shape(
                type="line", x0=start / size, x1=start / size,
                y0=index - 0.46, y1=index + _HALF,
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
    unit = time_unit(parts.total_us)
    told = [f"{part} {unit.number(us)}" for part, (_, us) in spans_us(parts).items()]
    return f"{' · '.join(told)} {unit.name}<br>bound by {parts.limit}"
