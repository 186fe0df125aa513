"""A Transpose as the loops that carry it out: nested boxes, the outermost loop outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from optimizer.layout.transposes import MovedTensor
from optimizer.layout.transposition import Loop
from optimizer.numbers import bytes_text, counted
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, titled

STRIDED_COLOR, RUN_COLOR = "#c9512b", "#10857f"
_ROW_PX = 30
_INSET, _GAP = 0.014, 0.03
"""Of a box in the one around it, and between the two nests; in widths of the figure."""


def nest_figure(tensor: MovedTensor) -> go.Figure:
    """The nest as written on the left, over as few axes as it needs on the right."""
    reduced = tensor.reduced()
    sides = [("as written", BEFORE_COLOR, tensor.written.loops)]
    if len(reduced.perm) < len(tensor.perm):
        sides.append(("as few as it needs", AFTER_COLOR, reduced.written.loops))
    deepest = max(len(loops) for _, _, loops in sides)
    figure = go.Figure()
    wide = (1 - _GAP) / 2
    for number, (name, color, loops) in enumerate(sides):
        left = number * (wide + _GAP)
        text = f"<b>{counted(len(loops), 'loop')}</b>, {name}"
        _text(figure, left, -0.35, text, color=color)
        for depth, loop in enumerate(loops):
            innermost = depth == len(loops) - 1
            across = (left + depth * _INSET, left + wide - depth * _INSET)
            up = (depth + 0.06, deepest + 0.35 - 0.09 * depth)
            _box(figure, across, up, line=_line(loop, color, innermost=innermost))
            _text(figure, across[0] + 0.008, depth + 0.5, _said(loop, innermost=innermost))
    figure.update_layout(
        template=TEMPLATE,
        title=titled(
            nest_title(tensor), {"innermost, in one run": RUN_COLOR,
                                 "innermost, in strides": STRIDED_COLOR},
        ),
        height=100 + round(_ROW_PX * (deepest + 1.2)),
        dragmode=False,
        margin={"l": 8, "r": 8, "t": 56, "b": 8},
        xaxis={"visible": False, "range": [-0.002, 1.002], "fixedrange": True},
        yaxis={"visible": False, "range": [deepest + 0.5, -0.7], "fixedrange": True},
    )  # fmt: skip
    return figure


def nest_title(tensor: MovedTensor) -> str:
    """The finding in one line."""
    reduced = tensor.reduced()
    before, after = len(tensor.perm), len(reduced.perm)
    blocks = reduced.written.block != 1
    together = f"{bytes_text(reduced.block_bytes)} at a time" if blocks else "element by element"
    fewer = f"{after} of {before} loops needed" if after < before else f"All {before} loops needed"
    return f"{fewer}; moved {together}"


def _line(loop: Loop, color: str, *, innermost: bool) -> dict[str, Any]:
    if not innermost:
        return {"color": color, "width": 1}
    return {"color": RUN_COLOR if in_one_run(loop) else STRIDED_COLOR, "width": 2.5}


def in_one_run(loop: Loop) -> bool:
    """Whether it reads and writes what lies side by side."""
    return loop.read == 1 == loop.written


def _said(loop: Loop, *, innermost: bool) -> str:
    strides = f"reads every {loop.read:,}, writes every {loop.written:,}"
    if innermost and in_one_run(loop):
        strides = "reads and writes side by side"
    return f"<b>{loop.size:,}</b> × {strides}"


def _box(
    figure: go.Figure, across: Sequence[float], up: Sequence[float], *, line: dict[str, Any]
) -> None:
    figure.add_shape(
        type="rect", x0=across[0], x1=across[1], y0=up[0], y1=up[1], line=line,
        fillcolor="rgba(139,147,163,0.09)",
    )  # fmt: skip


def _text(figure: go.Figure, x: float, y: float, text: str, *, color: str | None = None) -> None:
    font = {"size": 12, **({"color": color} if color else {})}
    figure.add_annotation(
        x=x, y=y, text=text, showarrow=False, xanchor="left", yanchor="middle", font=font
    )
