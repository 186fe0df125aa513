"""What goes through memory, drawn: kernels above, memory below, an arrow for every access.

Both versions stand on the same ground: where fusing keeps a result out of memory, its place stays
empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from studio.cost.fusion.fusion import Access, FusedKernel, Fusion, Version
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, titled
from studio.numbers import bytes_text, counted

READ_COLOR, WRITE_COLOR = "#10857f", "#58b9ae"
WEIGHT_COLOR = "#a37a2c"
_PANEL_PX = 204
_PANEL = 3.6
"""Height of a panel in the figure's own units; a kernel is 1 high."""

_KERNEL = (2.15, 3.0)
_MEMORY = (0.0, 0.95)
_SLOT = 0.235
_WEIGHT_SLOT = 0.2
"""Half the width of a tensor's place, in columns."""

_SIDE = 0.12
_LONG = 14
"""Letters of an operator's name that is written smaller, to stay in its box."""

_MOST_COLUMNS = 8
"""Of kernels; longer chains are not drawn."""


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a tensor lies in memory."""

    x: float
    access: Access


def memory_picture(found: Fusion, *, dark: bool) -> go.Figure | None:
    """Before above, after below; None for a chain too long to be drawn.

    Args:
        found: the chain before and after.
        dark: whether the page is.
    """
    columns = len(found.before.kernels)
    if columns > _MOST_COLUMNS:
        return None
    figure = go.Figure()
    panels = (found.before, found.best)
    for index, version in enumerate(panels):
        bottom = (len(panels) - 1 - index) * _PANEL
        _panel(figure, found, version, bottom=bottom, dark=dark)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(_title(found), {"read": READ_COLOR, "write": WRITE_COLOR,
                                     "weights": WEIGHT_COLOR}),
        height=80 + _PANEL_PX * len(panels),
        dragmode=False,
        margin={"l": 8, "r": 8, "t": 56, "b": 8},
        xaxis={"visible": False, "range": [-0.55, columns + 0.55], "fixedrange": True},
        yaxis={"visible": False, "range": [-0.1, _PANEL * len(panels) - 0.1], "fixedrange": True},
    )  # fmt: skip
    return figure


def _title(found: Fusion) -> str:
    before, best = found.before, found.best
    kept = len(before.activations) - len(best.activations)
    saved = before.activation_bytes - best.activation_bytes
    if kept <= 0:
        return "Nothing is kept out of memory"
    return f"{counted(kept, 'trip')} to memory fewer: {bytes_text(saved)} are never moved"


def _panel(
    figure: go.Figure, found: Fusion, version: Version, *, bottom: float, dark: bool
) -> None:
    columns = len(found.before.kernels)
    wide = columns / len(version.kernels)
    color = BEFORE_COLOR if version is found.before else AFTER_COLOR
    _ground(figure, version, columns, bottom=bottom, color=color)
    slots = _slots(version, wide)
    for index, kernel in enumerate(version.kernels):
        box = (index * wide + _SIDE, (index + 1) * wide - _SIDE)
        _kernel(figure, found, version, kernel, box, bottom=bottom, color=color)
        _arrows(figure, kernel, slots, box, bottom=bottom)
    for slot in slots.values():
        _tensor(figure, slot, bottom=bottom, dark=dark)
    if version is not found.before and wide > 1:
        taken = [slot.x for slot in slots.values()]
        _ghosts(figure, columns, taken, bottom=bottom)


def _ground(
    figure: go.Figure, version: Version, columns: int, *, bottom: float, color: str
) -> None:
    """The band of memory, and what the version comes to."""
    figure.add_shape(
        type="rect", x0=-0.5, x1=columns + 0.5, y0=bottom + _MEMORY[0], y1=bottom + _MEMORY[1],
        fillcolor="rgba(139,147,163,0.13)", line={"width": 0}, layer="below",
    )  # fmt: skip
    launches = counted(len(version.kernels), "launch", "launches")
    moved = bytes_text(version.activation_bytes)
    text = (
        f"<b>{escape(version.name)}</b> · {launches} · "
        f"{counted(len(version.activations), 'activation')} through memory, {moved}"
        f" · weights {bytes_text(version.weight_bytes)}"
    )
    _text(figure, -0.5, bottom + 3.3, text, anchor="left", color=color, size=12)


def _slots(version: Version, wide: float) -> dict[int, _Slot]:
    """A place for every tensor: results between kernels, other inputs under their reader."""
    slots: dict[int, _Slot] = {}
    for index, kernel in enumerate(version.kernels):
        for access in kernel.writes[:1]:
            slots[access.tensor] = _Slot((index + 1) * wide, access)
        fresh = [a for a in kernel.reads if a.tensor not in slots and a.role != "weight"]
        if index == 0 and fresh:
            slots[fresh[0].tensor] = _Slot(0.0, fresh[0])
            fresh = fresh[1:]
        weights = [a for a in kernel.reads if a.role == "weight" and a.tensor not in slots]
        _spread(slots, [*fresh, *_together(weights)], index * wide, wide)
    return slots


def _together(weights: Sequence[Access]) -> list[Access]:
    """All weights of a kernel in one place."""
    if len(weights) < 2:
        return list(weights)
    total = sum(access.size_bytes for access in weights)
    return [Access(weights[0].tensor, counted(len(weights), "weight"), "", total, "weight")]


def _spread(slots: dict[int, _Slot], found: Sequence[Access], start: float, wide: float) -> None:
    """Under their reader; under a wide one between the places that stay empty."""
    columns = round(wide)
    for place, access in enumerate(found):
        x = wide * (place + 1) / (len(found) + 1)
        if columns > len(found):
            x = min(columns - 1, math.floor(x)) + 0.5
        slots[access.tensor] = _Slot(start + x, access)


def _kernel(
    figure: go.Figure,
    found: Fusion,
    version: Version,
    kernel: FusedKernel,
    box: tuple[float, float],
    *,
    bottom: float,
    color: str,
) -> None:
    low, high = bottom + _KERNEL[0], bottom + _KERNEL[1]
    figure.add_shape(
        type="rect", x0=box[0], x1=box[1], y0=low, y1=high, line={"color": color, "width": 1.5},
        fillcolor="rgba(91,104,238,0.16)" if color == AFTER_COLOR else "rgba(139,147,163,0.16)",
    )  # fmt: skip
    middle = (box[0] + box[1]) / 2
    name = f"<b>{escape(kernel.op_type)}</b>"
    inside = len(version.kernels) == 1 and version is not found.before
    if inside:
        parts = " → ".join(escape(one.op_type) for one in found.before.kernels)
        name = f"<b>{parts}</b>" if version is found.ideal else f"{name}: {parts}"
        name += "<br>results in between stay in registers"
    narrow = not inside and len(kernel.op_type) > _LONG
    _text(figure, middle, (low + high) / 2, name, size=11 if narrow else 12)


def _arrows(
    figure: go.Figure,
    kernel: FusedKernel,
    slots: dict[int, _Slot],
    box: tuple[float, float],
    *,
    bottom: float,
) -> None:
    for access in kernel.reads:
        slot = slots.get(access.tensor)
        if slot is not None:
            color = WEIGHT_COLOR if access.role == "weight" else READ_COLOR
            x = min(max(slot.x + 0.06, box[0] + 0.08), box[1] - 0.08)
            _arrow(figure, (slot.x + 0.06, bottom + _MEMORY[1]), (x, bottom + _KERNEL[0]), color)
    for access in kernel.writes:
        slot = slots.get(access.tensor)
        if slot is not None:
            x = min(max(slot.x - 0.06, box[0] + 0.08), box[1] - 0.08)
            end = (slot.x - 0.06, bottom + _MEMORY[1])
            _arrow(figure, (x, bottom + _KERNEL[0]), end, WRITE_COLOR)


def _arrow(
    figure: go.Figure, start: tuple[float, float], end: tuple[float, float], color: str
) -> None:
    figure.add_annotation(
        x=end[0], y=end[1], ax=start[0], ay=start[1], axref="x", ayref="y", text="",
        showarrow=True, arrowhead=2, arrowsize=1.1, arrowwidth=2.2, arrowcolor=color,
    )  # fmt: skip


def _tensor(figure: go.Figure, slot: _Slot, *, bottom: float, dark: bool) -> None:
    low, high = bottom + _MEMORY[0] + 0.06, bottom + _MEMORY[1]
    weight = slot.access.role == "weight"
    color, half = (WEIGHT_COLOR, _WEIGHT_SLOT) if weight else (READ_COLOR, _SLOT)
    figure.add_shape(
        type="rect", x0=slot.x - half, x1=slot.x + half, y0=low, y1=high,
        line={"color": color, "width": 1}, fillcolor="#1a1f2a" if dark else "#ffffff",
    )  # fmt: skip
    name = "result" if slot.access.role == "between" else slot.access.label
    lines = [escape(name), escape(slot.access.shape), bytes_text(slot.access.size_bytes)]
    _text(figure, slot.x, (low + high) / 2, "<br>".join(filter(None, lines)), size=10)


def _ghosts(figure: go.Figure, columns: int, taken: Sequence[float], *, bottom: float) -> None:
    """Places that were needed before and are not now."""
    for x in range(1, columns):
        if all(abs(x - other) > _SLOT + _WEIGHT_SLOT for other in taken):
            figure.add_shape(
                type="rect", x0=x - _SLOT, x1=x + _SLOT, y0=bottom + 0.06,
                y1=bottom + _MEMORY[1], line={"color": BEFORE_COLOR, "width": 1, "dash": "dot"},
            )  # fmt: skip
            _text(figure, x, bottom + 0.5, "not in<br>memory", size=10, color=BEFORE_COLOR)


def _text(
    figure: go.Figure,
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "center",
    color: str = "",
    size: int = 11,
) -> None:
    font = {"size": size, "color": color} if color else {"size": size}
    figure.add_annotation(
        x=x, y=y, text=text, showarrow=False, xanchor=anchor, yanchor="middle", font=font
    )
