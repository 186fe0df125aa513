"""Colours of operator categories in figures: those of the viewer, for light and for dark pages."""

from __future__ import annotations

from collections.abc import Iterable

from studio.graphview.categories import Category, category

_COLORS: dict[Category, tuple[str, str]] = {
    "conv": ("#3168c9", "#7aa5f2"),
    "norm": ("#10857f", "#4dbdb5"),
    "act": ("#c9512b", "#ee8862"),
    "pool": ("#717d1a", "#b1bd4f"),
    "shape": ("#6c7686", "#98a2b3"),
    "elem": ("#a37a2c", "#d4b16a"),
    "attn": ("#7a4fc0", "#b393ec"),
    "control": ("#bd4585", "#ea87bb"),
    "quant": ("#875638", "#c1906c"),
    "io": ("#6c7686", "#98a2b3"),
    "unknown": ("#4a5060", "#c3c9d4"),
}
TITLES: dict[Category, str] = {
    "conv": "convolution, product",
    "norm": "normalization",
    "act": "activation",
    "pool": "pooling, reduction",
    "shape": "shape, layout",
    "elem": "elementwise",
    "attn": "attention",
    "control": "control flow",
    "quant": "quantization",
    "io": "input, output",
    "unknown": "other",
}


def category_color(kind: Category, *, dark: bool) -> str:
    """The colour of a category."""
    return _COLORS[kind][dark]


def categories(op_types: Iterable[str]) -> list[Category]:
    """The categories that occur, each once, in that order."""
    found: dict[Category, None] = {}
    for op_type in op_types:
        found[category(op_type)] = None
    return list(found)
