"""Buffers as rectangles: colour by the operator that makes them, their text under the pointer."""

from __future__ import annotations

from html import escape
from typing import cast

import plotly.graph_objects as go

from optimizer.memory.arena import Lifetime
from optimizer.numbers import Unit, bytes_text
from studio.figures.palette import category_color
from studio.graphview.categories import Category
from studio.memory.arena_map import ArenaMap

MOST_DRAWN = 3000
"""Rectangles of a figure that a browser moves smoothly; of more, the largest areas are drawn."""

_SHADES = (0.62, 0.74, 0.86)
"""Neighbours of one category are told apart."""


def drawn_lifetimes(drawn: ArenaMap, most: int = MOST_DRAWN) -> list[int]:
    """Positions of the activations that are drawn, in their order; the largest areas of many."""
    lifetimes = drawn.activations
    if len(lifetimes) <= most:
        return list(range(len(lifetimes)))
    areas = [one.size_bytes * (one.end - one.start) for one in lifetimes]
    return sorted(sorted(range(len(lifetimes)), key=lambda index: -areas[index])[:most])


def rectangles(drawn: ArenaMap, unit: Unit, *, most: int, dark: bool) -> go.Bar:
    """One bar a buffer: from its first step to its last, from its offset up by its size."""
    plan = drawn.best
    assert plan is not None
    shown = drawn_lifetimes(drawn, most)
    lifetimes = [drawn.activations[index] for index in shown]
    return go.Bar(
        x=[one.start for one in lifetimes],
        y=[one.size_bytes / unit.size for one in lifetimes],
        base=[plan.offsets[index] / unit.size for index in shown],
        width=[one.end - one.start for one in lifetimes],
        offset=0,
        marker={
            "color": [category_color(category_of(drawn, one), dark=dark) for one in lifetimes],
            "opacity": [_SHADES[index % len(_SHADES)] for index in range(len(lifetimes))],
            "line": {"width": 0.5, "color": "rgba(24,28,40,0.55)"},
        },
        customdata=[one.node for one in lifetimes],
        hovertext=[hover_text(drawn, one) for one in lifetimes],
        hovertemplate="%{hovertext}<extra></extra>",
        name="buffers",
    )


def covered(drawn: ArenaMap, steps: tuple[float, float], sizes: tuple[float, float]) -> float:
    """How much of a rectangle of steps and addresses buffers lie in, in step bytes."""
    plan = drawn.best
    assert plan is not None
    found = 0.0
    for one, offset in zip(drawn.activations, plan.offsets, strict=True):
        wide = min(one.end, steps[1]) - max(one.start, steps[0])
        high = min(offset + one.size_bytes, sizes[1]) - max(offset, sizes[0])
        found += max(0.0, wide) * max(0.0, high)
    return found


def category_of(drawn: ArenaMap, one: Lifetime) -> Category:
    """The category of the operator that makes it."""
    label = drawn.labels.get(one.node)
    return cast("Category", label.category) if label is not None else "io"


def categories_of(drawn: ArenaMap) -> list[Category]:
    """The categories that are drawn."""
    return [category_of(drawn, drawn.activations[index]) for index in drawn_lifetimes(drawn)]


_MOST_SHARERS = 4
_DTYPES = {"float": "float32", "double": "float64"}


def dtype_text(one: Lifetime) -> str:
    """Its element type in numpy's words, as everywhere else."""
    name = one.dtype.lower()
    return _DTYPES.get(name, name)


def hover_text(drawn: ArenaMap, one: Lifetime) -> str:
    """Tensor, shape, bytes, node, lifetime, and who is in the same memory."""
    label = drawn.labels.get(one.node)
    shape = "×".join(map(str, one.shape)) or "scalar"
    made = f"made by {label.op}" + (f" {label.name}" if label.name else "") if label else "given"
    parts = [
        f"<b>{escape(one.name)}</b>",
        f"{dtype_text(one)} {shape} · {bytes_text(one.size_bytes)}".strip(),
        escape(made),
        f"steps {one.start}–{one.end - 1}, read {len(one.readers)}×",
    ]
    others = one.values[1:]
    if others:
        names = [escape(drawn.names.get(value, value)) for value in others[:_MOST_SHARERS]]
        more = f" and {len(others) - _MOST_SHARERS} more" if len(others) > _MOST_SHARERS else ""
        parts.append(f"shared with {', '.join(names)}{more}")
    return "<br>".join(parts)
