"""Rates of Transposes beside a plain copy, and the tables of what there is and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import onnx_ir as ir
import plotly.graph_objects as go

from optimizer.layout.transposes import MovedTensor, PlacedTranspose
from optimizer.numbers import bytes_text, digits, three_digits
from profiling.transposes.measurement import TransposeTimes
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, rows_axis, titled
from studio.graphview.text import cut, dtype_name

COPY_COLOR = "#10857f"
_ROW_PX = 28
_ABSORBED = {
    (True, True): "both",
    (True, False): "the one before",
    (False, True): "the one after",
    (False, False): "none",
}


def rate_dots(times: Sequence[TransposeTimes], *, title: str) -> go.Figure:
    """GB/s of each as written, reduced, and of a plain copy; the largest tensor on top."""
    rows = list(range(len(times)))
    figure = go.Figure()
    ways = (
        ("plain copy", COPY_COLOR, "line-ns-open", [one.copy_us for one in times]),
        ("as written", BEFORE_COLOR, "circle-open", [one.written_us for one in times]),
        ("over fewer axes", AFTER_COLOR, "circle", [one.reduced_us for one in times]),
    )
    for name, color, symbol, us in ways:
        rates = [one.rate_gbps(each) for one, each in zip(times, us, strict=True)]
        hover = [f"{name}: {three_digits(rate)} GB/s" for rate in rates]
        figure.add_trace(
            go.Scatter(
                x=rates, y=rows, mode="markers", text=hover,
                hovertemplate="%{text}<extra></extra>",
                marker={"color": color, "size": 16 if symbol == "line-ns-open" else 10,
                        "symbol": symbol, "line": {"width": 2, "color": color}},
            )
        )  # fmt: skip
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title), {name: color for name, color, _, _ in ways}),
        height=120 + _ROW_PX * len(times),
        margin={"t": 64},
        xaxis={"title": "GB/s, read and written", "rangemode": "tozero"},
        yaxis=rows_axis(
            f"{shape_text(one.tensor)} · {bytes_text(one.tensor.size_bytes)}" for one in times
        ),
    )
    return figure


def shape_text(tensor: MovedTensor) -> str:
    """Axes as written and as needed: "1×64×12×64, 0 2 3 1 → 64×768, 1 0"."""
    reduced = tensor.reduced()
    fewer = len(reduced.perm) < len(tensor.perm)
    return f"{tensor.text} → {reduced.text}" if fewer else tensor.text


def transposes_table(placed: Sequence[PlacedTranspose]) -> dict[str, list[Any]]:
    """A row a Transpose."""
    tensors = [one.tensor for one in placed]
    reduced = [one.reduced() for one in tensors]
    return {
        "node": [cut(one.name) for one in placed],
        "shape, axes": [one.text for one in tensors],
        "as few as it needs": [one.text for one in reduced],
        "axes": [f"{len(a.perm)} → {len(b.perm)}" for a, b in zip(tensors, reduced, strict=True)],
        "type": [dtype_name(ir.DataType[one.dtype]) for one in tensors],
        "KiB": [_kib(one) for one in tensors],
        "Reshapes absorbed": [_ABSORBED[one.reshaped_before, one.reshaped_after] for one in placed],
    }


def times_table(times: Sequence[TransposeTimes]) -> dict[str, list[Any]]:
    """A row for each that was measured, or for what the runtime said."""
    timed = [None if one.error else one for one in times]
    return {
        "shape, axes": [one.tensor.text for one in times],
        "as few as it needs": [one.tensor.reduced().text for one in times],
        "KiB": [_kib(one.tensor) for one in times],
        "as written, GB/s": [one and digits(one.rate_gbps(one.written_us)) for one in timed],
        "reduced, GB/s": [one and digits(one.rate_gbps(one.reduced_us)) for one in timed],
        "plain copy, GB/s": [one and digits(one.rate_gbps(one.copy_us)) for one in timed],
        "of a copy, %": [one and digits(100 * one.share) for one in timed],
        "reduced is so many times as fast": [one and digits(one.gain) for one in timed],
        "95 % from": [one and digits(one.interval[0]) for one in timed],
        "to": [one and digits(one.interval[1]) for one in timed],
        "why not": [one.error for one in times],
    }


def _kib(tensor: MovedTensor) -> float:
    return digits(tensor.size_bytes / 2**10)
