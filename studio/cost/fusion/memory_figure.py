"""What goes through memory, drawn: kernels above, memory below, an arrow for every access.

Both versions stand on the same ground: where fusing keeps a result out of memory, its place stays
empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from optimizer.numbers import bytes_text, counted
from studio.cost.fusion.fusion import Access, FusedKernel, Fusion, Version
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, titled

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
        _Panel(figure, found, version, (len(panels) - 1 - index) * _PANEL, dark).draw()
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


@dataclass(frozen=True, slots=True)
class _Panel:
    """One version on its ground, `bottom` is the height at which that begins."""

    figure: go.Figure
    found: Fusion
    version: Version
    bottom: float
    dark: bool

    @property
    def columns(self) -> int:
        return len(self.found.before.kernels)

    @property
    def color(self) -> str:
        return BEFORE_COLOR if self.version is self.found.before else AFTER_COLOR

    def draw(self) -> None:
        self._ground()
        wide = self.columns / len(self.version.kernels)
        slots = _slots(self.version, wide)
        for index, kernel in enumerate(self.version.kernels):
            left, right = index * wide + _SIDE, (index + 1) * wide - _SIDE
            self._kernel(kernel, left, right)
            for accesses, color, shift in (
                (kernel.reads, READ_COLOR, 0.06),
                (kernel.writes, WRITE_COLOR, -0.06),
            ):
                for access in (one for one in accesses if one.tensor in slots):
                    x = slots[access.tensor][0] + shift
                    ends = ((x, _MEMORY[1]), (min(max(x, left + 0.08), right - 0.08), _KERNEL[0]))
                    self._arrow(ends, WEIGHT_COLOR if access.role == "weight" else color)
        for x, access in slots.values():
            self._tensor(x, access)
        if self.version is not self.found.before and wide > 1:
            self._empty_places([x for x, _ in slots.values()])

    def _ground(self) -> None:
        """The band of memory, and what the version comes to."""
        self._box((-0.5, self.columns + 0.5), _MEMORY, line={"width": 0}, layer="below",
                  fillcolor="rgba(139,147,163,0.13)")  # fmt: skip
        version = self.version
        launches = counted(len(version.kernels), "launch", "launches")
        text = (
            f"<b>{escape(version.name)}</b> · {launches} · "
            f"{counted(len(version.activations), 'activation')} through memory,"
            f" {bytes_text(version.activation_bytes)} · weights {bytes_text(version.weight_bytes)}"
        )
        self._text(-0.5, 3.3, text, font={"size": 12, "color": self.color}, xanchor="left")

    def _kernel(self, kernel: FusedKernel, left: float, right: float) -> None:
        fill = "rgba(139,147,163,0.16)" if self.color == BEFORE_COLOR else "rgba(91,104,238,0.16)"
        self._box((left, right), _KERNEL, line={"color": self.color, "width": 1.5}, fillcolor=fill)
        found, version = self.found, self.version
        name = f"<b>{escape(kernel.op_type)}</b>"
        inside = len(version.kernels) == 1 and version is not found.before
        if inside:
            parts = " → ".join(escape(one.op_type) for one in found.before.kernels)
            name = f"<b>{parts}</b>" if version is found.ideal else f"{name}: {parts}"
            name += "<br>results in between stay in registers"
        narrow = not inside and len(kernel.op_type) > _LONG
        self._text((left + right) / 2, sum(_KERNEL) / 2, name, font={"size": 11 if narrow else 12})

    def _arrow(self, ends: tuple[tuple[float, float], ...], color: str) -> None:
        """Out of memory, or into it where it is what a kernel writes."""
        (ax, ay), (x, y) = ends if color != WRITE_COLOR else ends[::-1]
        self.figure.add_annotation(
            x=x, y=self.bottom + y, ax=ax, ay=self.bottom + ay, axref="x", ayref="y", text="",
            showarrow=True, arrowhead=2, arrowsize=1.1, arrowwidth=2.2, arrowcolor=color,
        )  # fmt: skip

    def _tensor(self, x: float, access: Access) -> None:
        low, high = _MEMORY[0] + 0.06, _MEMORY[1]
        weight = access.role == "weight"
        color, half = (WEIGHT_COLOR, _WEIGHT_SLOT) if weight else (READ_COLOR, _SLOT)
        fill = "#1a1f2a" if self.dark else "#ffffff"
        self._box((x - half, x + half), (low, high), line={"color": color, "width": 1},
                  fillcolor=fill)  # fmt: skip
        name = "result" if access.role == "between" else access.label
        lines = [escape(name), escape(access.shape), bytes_text(access.size_bytes)]
        self._text(x, (low + high) / 2, "<br>".join(filter(None, lines)), font={"size": 10})

    def _empty_places(self, taken: Sequence[float]) -> None:
        """Places that were needed before and are not now."""
        for x in range(1, self.columns):
            if all(abs(x - other) > _SLOT + _WEIGHT_SLOT for other in taken):
                line = {"color": BEFORE_COLOR, "width": 1, "dash": "dot"}
                self._box((x - _SLOT, x + _SLOT), (0.06, _MEMORY[1]), line=line)
                self._text(x, 0.5, "not in<br>memory", font={"size": 10, "color": BEFORE_COLOR})

    def _box(self, across: tuple[float, float], up: tuple[float, float], **look: Any) -> None:
        low, high = (self.bottom + y for y in up)
        self.figure.add_shape(type="rect", x0=across[0], x1=across[1], y0=low, y1=high, **look)

    def _text(self, x: float, y: float, text: str, **look: Any) -> None:
        look = {"xanchor": "center", **look}
        self.figure.add_annotation(
            x=x, y=self.bottom + y, text=text, showarrow=False, yanchor="middle", **look
        )


Slots = dict[int, tuple[float, Access]]
"""Where each tensor lies in memory, by its number."""


def _slots(version: Version, wide: float) -> Slots:
    """A place for every tensor: results between kernels, other inputs under their reader."""
    slots: Slots = {}
    for index, kernel in enumerate(version.kernels):
        for access in kernel.writes[:1]:
            slots[access.tensor] = (index + 1) * wide, access
        fresh = [a for a in kernel.reads if a.tensor not in slots and a.role != "weight"]
        if index == 0 and fresh:
            first, *fresh = fresh
            slots[first.tensor] = 0.0, first
        weights = [a for a in kernel.reads if a.role == "weight" and a.tensor not in slots]
        _spread(slots, [*fresh, *_together(weights)], index * wide, wide)
    return slots


def _together(weights: Sequence[Access]) -> list[Access]:
    """All weights of a kernel in one place."""
    if len(weights) < 2:
        return list(weights)
    total = sum(access.size_bytes for access in weights)
    return [Access(weights[0].tensor, counted(len(weights), "weight"), "", total, "weight")]


def _spread(slots: Slots, found: Sequence[Access], start: float, wide: float) -> None:
    """Under their reader; under a wide one between the places that stay empty."""
    columns = round(wide)
    for place, access in enumerate(found):
        x = wide * (place + 1) / (len(found) + 1)
        if columns > len(found):
            x = min(columns - 1, math.floor(x)) + 0.5
        slots[access.tensor] = start + x, access
