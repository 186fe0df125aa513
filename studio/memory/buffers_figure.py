"""Buffers as rectangles: colour by the operator that makes them, their text under the pointer."""

from __future__ import annotations

from html import escape

import plotly.graph_objects as go

from optimizer.memory.arena import Lifetime
from studio.memory.arena_map import ArenaMap
from studio.numbers import Unit, bytes_text

MOST_DRAWN = 3000
"""Rectangles of a figure that a browser moves smoothly; of more, the largest areas are drawn."""

CATEGORY_COLORS = {
    "conv": "#5b8bdc",
    "norm": "#2a9d93",
    "act": "#d9714e",
    "pool": "#8f9a35",
    "shape": "#8590a0",
    "elem": "#bd964c",
    "attn": "#9474cf",
    "control": "#cf66a0",
    "quant": "#a07454",
    "io": "#8b93a3",
    "unknown": "#777777",
}
"""The viewer's categories, of one lightness, readable on light and dark."""

CATEGORY_NAMES = {
    "conv": "matmul, conv",
    "norm": "norm",
    "act": "activation",
    "pool": "pool, reduce",
    "shape": "shape",
    "elem": "elementwise",
    "attn": "attention",
    "control": "control",
    "quant": "quantization",
    "io": "input",
    "unknown": "other",
}
"""In the order in which a figure lists them."""


_SHADES = (0.62, 0.74, 0.86)
"""Neighbours of one category are told apart."""


def drawn_lifetimes(drawn: ArenaMap, most: int = MOST_DRAWN) -> list[int]:
    """Positions of the activations that are drawn, in their order; the largest areas of many."""
    lives = drawn.activations
    if len(lives) <= most:
        return list(range(len(lives)))
    areas = [one.size_bytes * (one.end - one.start) for one in lives]
    return sorted(sorted(range(len(lives)), key=lambda index: -areas[index])[:most])


def rectangles(drawn: ArenaMap, unit: Unit, *, most: int = MOST_DRAWN) -> go.Bar:
    """One bar a buffer: from its first step to its last, from its offset up by its size."""
    plan = drawn.plan
    assert plan is not None
    shown = drawn_lifetimes(drawn, most)
    lives = [drawn.activations[index] for index in shown]
    return go.Bar(
        x=[one.start for one in lives],
        y=[one.size_bytes / unit.size for one in lives],
        base=[plan.offsets[index] / unit.size for index in shown],
        width=[one.end - one.start for one in lives],
        offset=0,
        marker={
            "color": [CATEGORY_COLORS[category_of(drawn, one)] for one in lives],
            "opacity": [_SHADES[index % len(_SHADES)] for index in range(len(lives))],
            "line": {"width": 0.5, "color": "rgba(24,28,40,0.55)"},
        },
        customdata=[one.node for one in lives],
        hovertext=[hover_text(drawn, one) for one in lives],
        hovertemplate="%{hovertext}<extra></extra>",
        name="buffers",
    )


def covered(drawn: ArenaMap, steps: tuple[float, float], sizes: tuple[float, float]) -> float:
    """How much of a rectangle of steps and addresses buffers lie in, in step bytes."""
    plan = drawn.plan
    assert plan is not None
    found = 0.0
    for one, offset in zip(drawn.activations, plan.offsets, strict=True):
        wide = min(one.end, steps[1]) - max(one.start, steps[0])
        high = min(offset + one.size_bytes, sizes[1]) - max(offset, sizes[0])
        found += max(0.0, wide) * max(0.0, high)
    return found


def category_of(drawn: ArenaMap, one: Lifetime) -> str:
    """The category of the operator that makes it."""
    label = drawn.labels.get(one.node)
    return label.category if label is not None else "io"


def categories_of(drawn: ArenaMap) -> list[str]:
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
