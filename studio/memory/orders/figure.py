"""What is alive step by step in every order of the nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from optimizer.memory.order import Order
from optimizer.numbers import bytes_text, unit_of
from profiling.arena.measurement import ArenaMeasurement
from studio.figures.template import BEFORE_COLOR, TEMPLATE, color_of, titled
from studio.memory.orders.job import Orders

FLOOR = "#a37a2c"
_HEIGHT_PX = 360


def order_curves(orders: Orders) -> go.Figure:
    """A curve an order, each with its peak; equal curves lie on each other."""
    worked = orders.worked
    unit = unit_of(max(order.peak_bytes for order in worked))
    figure = go.Figure()
    for index, order in enumerate(worked):
        color = color_of(index)
        figure.add_trace(_curve(order, unit.size, unit.name, color=color, thick=index == 0))
    floor = orders.floor_bytes / unit.size
    figure.add_hline(
        floor,
        line={"color": FLOOR, "width": 1, "dash": "dash"},
    )
    key = {_key(order): color_of(index) for index, order in enumerate(worked)}
    key[f"largest single operator {unit.text(orders.floor_bytes)}"] = FLOOR
    figure.update_xaxes(title="step of the run", rangemode="tozero")
    figure.update_yaxes(title=f"alive, {unit.name}", rangemode="tozero")
    figure.update_layout(
        template=TEMPLATE,
        title=titled(orders_finding(orders), key),
        height=_HEIGHT_PX,
        margin={"t": 70},
        hovermode="x unified",
    )
    return figure


def _curve(order: Order, size: float, unit: str, *, color: str, thick: bool) -> go.Scatter:
    return go.Scatter(
        x=list(range(len(order.live_bytes))),
        y=[live / size for live in order.live_bytes],
        mode="lines",
        line={"shape": "hv", "width": 3 if thick else 1.5, "color": color},
        name=escape(order.title),
        hovertemplate=f"%{{y:.4g}} {unit}",
    )


def _key(order: Order) -> str:
    proven = ", proven" if order.proven else ""
    return f"{order.title} {bytes_text(order.peak_bytes)}{proven}"


def orders_finding(orders: Orders) -> str:
    """The title: what reordering gives, and whether that is all."""
    best, file = orders.best, orders.of("file")
    proof = "proven: no order needs less" if orders.proven else "not proven to be the least"
    if file is None or file.peak_bytes == best.peak_bytes:
        return f"The file's order needs {bytes_text(best.peak_bytes)} at once; {proof}"
    unit = unit_of(file.peak_bytes)
    change = f"{unit.number(file.peak_bytes)} → {unit.text(best.peak_bytes)}"
    return f"{best.title}: {change} alive at once; {proof}"


def measured_orders(found: Mapping[str, ArenaMeasurement], *, title: str) -> go.Figure:
    """For each way to run it, the live peak of the first run and the block of later ones.

    Args:
        found: measured, by what was run.
        title: says the finding.
    """
    names = [escape(name) for name in found]
    unit = unit_of(max(max(m.block_bytes, m.live_peak_bytes) for m in found.values()))
    figure = go.Figure()
    columns: Sequence[tuple[str, str, list[int]]] = (
        ("first run, live", BEFORE_COLOR, [m.live_peak_bytes for m in found.values()]),
        ("later runs, block", color_of(1), [m.block_bytes for m in found.values()]),
    )
    for name, color, sizes in columns:
        figure.add_trace(
            go.Bar(
                y=names,
                x=[size / unit.size for size in sizes],
                orientation="h",
                marker={"color": color},
                text=[unit.text(size) for size in sizes],
                textposition="outside",
                cliponaxis=False,
                name=name,
                hoverinfo="skip",
            )
        )
    figure.update_xaxes(title=unit.name, rangemode="tozero")
    figure.update_yaxes(autorange="reversed")
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title, {name: color for name, color, _ in columns}),
        height=120 + 56 * len(found),
        margin={"t": 64, "r": 80},
    )
    return figure
