"""Memory over a run: requested, in use, held and the peak, a panel a variant on common axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, cast

import plotly.graph_objects as go
from plotly import subplots

from optimizer.numbers import Unit, unit_of
from profiling.timeline.memory import MemoryCurve
from studio.figures.template import TEMPLATE, titled

REQUESTED, IN_USE, HELD = "#5b68ee", "#10857f", "#8b93a3"
BASE, BLOCK, DEVICE = "#a37a2c", "#7a4fc0", "#c9512b"
_PANEL_PX = 190

Curves = Mapping[str, Sequence[MemoryCurve]]
"""For each variant its curves: the runtime's, and more of other sources."""


def memory_panels(curves: Curves, *, title: str, weights: Mapping[str, int]) -> go.Figure:
    """Steps over the time of one run.

    Args:
        curves: by label, at least one each; times from the beginning of the run.
        title: says the finding.
        weights: for each variant the bytes of its repacked weights; what more was requested before
            the first operator is the block planned for activations.
    """
    unit, most = unit_of(most_drawn(curves)), most_drawn(curves)
    figure: go.Figure = cast("Any", subplots).make_subplots(
        rows=len(curves), cols=1, shared_xaxes=True, vertical_spacing=0.04
    )
    kinds: dict[str, str] = {}
    for row, (label, several) in enumerate(curves.items(), start=1):
        for curve in several:
            for name, color, numbers in _lines(curve, weights[label]):
                kinds[name] = color
                figure.add_trace(_steps(curve, numbers, f"{label}, {name}", color, unit), row, 1)
        if several[0].source != "device" and several[0].base_bytes <= weights[label]:
            _mark_peak(figure, several[0], row, unit)
        figure.update_yaxes(
            title=f"{escape(label)}, {unit.name}",
            range=[0, most / unit.size * 1.12],
            row=row,
            col=1,
        )
    longest = max(
        (curve.times_us[-1] for each in curves.values() for curve in each if curve.times_us),
        default=0,
    )
    figure.update_xaxes(range=[0, longest / 1000 * 1.04])
    figure.update_xaxes(title="ms since the run began", row=len(curves), col=1)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title, kinds),
        height=120 + _PANEL_PX * len(curves),
        margin={"t": 64},
        hovermode="x unified" if len(curves) == 1 else "closest",
    )
    return figure


def most_drawn(curves: Curves) -> int:
    """The largest number that is drawn."""
    every = [curve for each in curves.values() for curve in each]
    most = [max((*curve.held_bytes, *curve.used_bytes, 0)) for curve in every]
    return max((*most, *(curve.peak_bytes + curve.base_bytes for curve in every), 1))


def _lines(curve: MemoryCurve, weights: int) -> list[tuple[str, str, Sequence[int]]]:
    """Name, colour and bytes of what one curve draws; the base is split off at the bottom."""
    if curve.source == "device":
        return [("device memory", DEVICE, curve.live_bytes)]
    if curve.source == "output sizes":
        return [("outputs still needed", REQUESTED, curve.live_bytes)]
    requested = [live + curve.base_bytes for live in curve.live_bytes]
    lines: list[tuple[str, str, Sequence[int]]] = [
        ("held by the arena", HELD, curve.held_bytes),
        ("in use", IN_USE, curve.used_bytes),
        ("requested", REQUESTED, requested),
    ]
    count = len(curve.times_us)
    if curve.base_bytes > weights:
        lines.append(("planned block", BLOCK, [curve.base_bytes] * count))
    if weights:
        lines.append(("repacked weights", BASE, [min(weights, curve.base_bytes)] * count))
    return lines


def _steps(
    curve: MemoryCurve, numbers: Sequence[int], name: str, color: str, unit: Unit
) -> go.Scatter:
    filled = color in (REQUESTED, BASE, BLOCK)
    return go.Scatter(
        x=[0.0, *(time / 1000 for time in curve.times_us)],
        y=[number / unit.size for number in (*numbers[:1], *numbers)],
        mode="lines",
        line={
            "shape": "hv",
            "width": 1.5,
            "color": color,
            "dash": "dot" if color == HELD else "solid",
        },
        fill="tozeroy" if filled else None,
        fillcolor=f"rgba({_rgb(color)}, {0.14 if color == REQUESTED else 0.4})" if filled else None,
        hovertemplate=f"{escape(name)}<br>%{{x:.3g}} ms: %{{y:.4g}} {unit.name}<extra></extra>",
    )


def _rgb(color: str) -> str:
    return ", ".join(str(int(color[i : i + 2], 16)) for i in (1, 3, 5))


def _mark_peak(figure: go.Figure, curve: MemoryCurve, row: int, unit: Unit) -> None:
    if not curve.live_bytes:
        return
    at = max(range(len(curve.live_bytes)), key=curve.live_bytes.__getitem__)
    figure.add_annotation(
        x=curve.times_us[at] / 1000,
        y=(curve.live_bytes[at] + curve.base_bytes) / unit.size,
        text=f"peak of activations {unit.text(curve.peak_bytes)}",
        showarrow=False, xshift=6, yshift=14, row=row, col=1, xanchor="left",
    )  # fmt: skip
