"""Why fusion pays: time before and after on one scale."""

from __future__ import annotations

from html import escape

import plotly.graph_objects as go

from optimizer.numbers import bytes_text, counted, times_text
from studio.cost.fusion.fusion import Fusion, Version
from studio.cost.prediction.lanes_figure import LaneNode, LaneRow, lanes
from studio.figures.change_bars import time_unit
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR

_ROW_PX = 76


def fusion_bars(found: Fusion) -> go.Figure:
    """Each version as a row of its kernels, one after the other.

    Args:
        found: the chain before and after.
    """
    rows = [_row(version, found) for version in versions(found)]
    return lanes(rows, title=fusion_title(found), row_px=_ROW_PX)


def versions(found: Fusion) -> tuple[Version, ...]:
    """Those that differ, as it is first."""
    changed = (found.after,) if found.fired else ()
    return (found.before, *changed, *((found.ideal,) if found.ideal is not None else ()))


def fusion_title(found: Fusion) -> str:
    """The finding: predicted gain, launches, trips of activations to memory."""
    before, best = found.before, found.best
    gain = before.total_us / best.total_us if best.total_us else 1.0
    whose = "One kernel would be" if found.ideal is not None else "Predicted"
    faster = f"{times_text(gain)} faster" if gain >= 1 else f"{times_text(1 / gain)} slower"
    launches = f"{len(before.kernels)} launches → {len(best.kernels)}"
    moved = (
        f"{len(before.activations)} trips to memory → {len(best.activations)}"
        f" ({bytes_text(before.activation_bytes)} → {bytes_text(best.activation_bytes)})"
    )
    return f"{whose} {faster}: {launches}, {moved}"


def _row(version: Version, found: Fusion) -> LaneRow:
    pieces = tuple(
        LaneNode(
            kernel.parts,
            label=kernel.op_type,
            hover=f"<b>{escape(kernel.op_type)} {escape(kernel.detail)}</b><br>",
        )
        for kernel in version.kernels
    )
    first = version is found.before
    launches = counted(len(version.kernels), "launch", "launches")
    text = f"<b>{time_unit(version.total_us).text(version.total_us)}</b>"
    if not first and version.total_us:
        text += f" · {times_text(found.before.total_us / version.total_us)}"
    color = BEFORE_COLOR if first else AFTER_COLOR
    label = "one kernel" if version is found.ideal else version.name
    return LaneRow(f"<b>{escape(label)}</b><br>{launches}", pieces, text, color)
