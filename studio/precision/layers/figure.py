"""Errors of values in the order in which they are computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from optimizer.numbers import unit_of
from optimizer.verify.budget import decibels
from studio.figures.palette import TITLES, categories, category_color
from studio.figures.template import BEFORE_COLOR, TEMPLATE, rows_axis, short, titled
from studio.graphview.categories import category
from studio.precision.layers.job import Layer, LayersFound
from studio.precision.ranges.inventory import WeightedProduct

_HEIGHT = 380
_MOST_NAME = 44
_MOST_ROWS = 12
_ROW_PX = 27
_MOST_DB = 100.0
"""Beyond, only the rounding of float32 differs; a triangle says that a dot stands higher."""


def layer_dots(found: LayersFound, *, title: str, about: str, dark: bool) -> go.Figure:
    """A dot a value that differs; the lower, the more is lost.

    Args:
        found: errors.
        title: says the finding.
        about: what it was run on.
        dark: whether the page is.
    """
    figure = go.Figure()
    places = {layer.name: place for place, layer in enumerate(found.layers)}
    differing = [layer for layer in found.layers if math.isfinite(layer.sqnr_db)]
    kinds = categories(layer.op_type for layer in differing)
    for kind in kinds:
        layers = [layer for layer in differing if category(layer.op_type) == kind]
        figure.add_trace(
            go.Scatter(
                x=[places[layer.name] for layer in layers],
                y=[min(_MOST_DB, layer.sqnr_db) for layer in layers],
                customdata=[[layer.node] for layer in layers],
                mode="markers",
                name=TITLES[kind],
                marker={
                    "color": category_color(kind, dark=dark),
                    "size": [11 if layer.is_output else 7 for layer in layers],
                    "symbol": [_symbol(layer) for layer in layers],
                    "line": {"width": 0},
                },
                unselected={"marker": {"opacity": 0.6}},
                text=[_hover(layer) for layer in layers],
                hovertemplate="%{text}<extra></extra>",
            )
        )
    _mark(figure, found.start, places)
    colors = {TITLES[kind]: category_color(kind, dark=dark) for kind in kinds}
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title), colors, about=escape(about)),
        height=_HEIGHT,
        margin={"t": 78},
        xaxis={"title": "value, in the order of the float source", "range": _ends(len(places))},
        yaxis={"title": "signal over error, dB", "rangemode": "tozero"},
    )
    return figure


def weight_bars(products: Sequence[WeightedProduct]) -> go.Figure:
    """The products with most weights: where fewer bits save most."""
    shown = products[:_MOST_ROWS]
    total = sum(product.numbers for product in products) or 1
    together = sum(product.numbers for product in shown)
    unit = unit_of(4 * max((product.numbers for product in shown), default=0))
    figure = go.Figure(
        go.Bar(
            x=[4 * product.numbers / unit.size for product in shown],
            y=list(range(len(shown))),
            orientation="h",
            marker={"color": BEFORE_COLOR},
            text=[f"\u2002{100 * product.numbers / total:.3g} %" for product in shown],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    figure.update_layout(
        template=TEMPLATE,
        title=titled(
            f"{len(shown)} of {len(products)} products hold {100 * together / total:.3g} % of the"
            " weights of all"
        ),
        height=96 + _ROW_PX * len(shown),
        margin={"r": 70},
        xaxis={"title": f"{unit.name} in float32", "rangemode": "tozero"},
        yaxis=rows_axis(short(product.name, _MOST_NAME) for product in shown),
    )
    return figure


def finding(choice: str, found: LayersFound) -> str:
    """What the outputs keep, and where the error starts."""
    output, start = found.worst_output, found.start
    choice = choice.capitalize()
    if output is None:
        return f"{choice}: no output can be compared"
    kept = (
        decibels(output.sqnr_db) if math.isfinite(output.sqnr_db) else "the source's very numbers"
    )
    text = f"{choice}: the outputs keep {kept}"
    return text if start is None else f"{text}; the error starts at {start.op_type or 'an input'}"


def layers_table(found: LayersFound) -> dict[str, list[Any]]:
    """A row a value."""
    layers = found.layers
    return {
        "value": [layer.name for layer in layers],
        "made by": [layer.op_type for layer in layers],
        "dB": [layer.sqnr_db if math.isfinite(layer.sqnr_db) else None for layer in layers],
        "largest error, % of scale": [100 * layer.relative_max for layer in layers],
        "cosine": [layer.cosine for layer in layers],
        "output": [layer.is_output for layer in layers],
        "error starts here": [layer.name == found.first for layer in layers],
    }


def _symbol(layer: Layer) -> str:
    if layer.is_output:
        return "diamond"
    return "circle" if layer.sqnr_db <= _MOST_DB else "triangle-up"


def _mark(figure: go.Figure, start: Layer | None, places: dict[str, int]) -> None:
    """A line where the error starts, its words above all dots."""
    if start is not None and math.isfinite(start.sqnr_db):
        place = places[start.name]
        is_right = place > 0.75 * len(places)
        figure.add_vline(place, line={"color": BEFORE_COLOR, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=place, y=1, yref="paper", yanchor="bottom", text="the error starts here",
            showarrow=False, xanchor="right" if is_right else "left", font={"size": 11},
        )  # fmt: skip


def _hover(layer: Layer) -> str:
    share = f"{100 * layer.relative_max:.3g} % of its scale"
    return f"{escape(layer.name)}<br>{layer.op_type}: {decibels(layer.sqnr_db)}, {share}"


def _ends(count: int) -> list[float]:
    return [-0.02 * max(1, count), 1.02 * max(1, count)]
