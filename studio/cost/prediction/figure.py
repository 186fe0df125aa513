"""Which nodes the predicted time goes to, and how it stands beside measured time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from optimizer.cost.device import DeviceProfile
from optimizer.numbers import three_digits, times_text
from studio.cost.prediction.accuracy import Accuracy
from studio.cost.prediction.groups import NodeGroup, shares
from studio.cost.prediction.job import PredictedGraph
from studio.cost.prediction.lanes_figure import LaneNode, LaneRow, lanes
from studio.figures.change_bars import time_unit
from studio.figures.palette import TITLES, categories, category_color
from studio.figures.template import TEMPLATE, log_axis, titled
from studio.graphview.categories import category

_LIMITS = {
    "launch": "is launches",
    "memory": "is bound by memory",
    "compute": "is bound by arithmetic",
}


def change_title(device: DeviceProfile, before: PredictedGraph, after: PredictedGraph) -> str:
    """The finding: total before and after, and what bounds most of it."""
    name = escape(device.title)
    bound, share = next(iter(shares(after.nodes).items()))
    what = f"{100 * share:.0f} % of it {_LIMITS[bound]}"
    unit = time_unit(before.total_us, after.total_us)
    total = unit.text(after.total_us)
    if before.step == after.step:
        return f"{name}: predicted {total}; {what}"
    first = unit.number(before.total_us)
    percent = 100 * (after.total_us / before.total_us - 1) if before.total_us else 0.0
    sign = "−" if percent < 0 else "+"
    return f"{name}: predicted {first} → {total}, {sign}{three_digits(abs(percent))} %; {what}"


def slowest(groups: Sequence[NodeGroup], total_us: float, *, top: int) -> go.Figure:
    """The nodes that take longest, each with its parts.

    Args:
        groups: what takes longest first.
        total_us: of the whole graph.
        top: rows at most.
    """
    rows = [_row(group, total_us) for group in groups[:top]]
    part = sum(group.total_us for group in groups[:top]) / (total_us or 1.0)
    several = len(rows) < len(groups)
    what = f"The slowest {len(rows)} kinds of work" if several else "All kinds of work"
    return lanes(rows, title=f"{what} are {100 * part:.0f} % of the predicted time", row_px=27)


def _row(group: NodeGroup, total_us: float) -> LaneRow:
    title = escape(group.title)
    hover = f"<b>{title}</b><br>{escape(group.name)}<br>"
    piece = LaneNode(group.parts, hover=hover, key=f"after:{group.first.node}")
    return LaneRow(title, (piece,), text=_beside(group, total_us))


def _beside(group: NodeGroup, total_us: float) -> str:
    share = 100 * group.total_us / (total_us or 1.0)
    time = time_unit(group.total_us).text(group.total_us)
    return f"{time} · {share:.2g} % · {group.parts.limit}"


def predicted_against_measured(found: Accuracy, *, dark: bool) -> go.Figure:
    """A dot an operator that ran; on the diagonal it takes what was predicted.

    Args:
        found: at least one pair.
        dark: whether the page is.
    """
    times = [us for pair in found.pairs for us in (pair.predicted_us, pair.measured_us)]
    axis = log_axis(times)
    ends = [10**power for power in axis["range"]]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=ends, y=ends, mode="lines", line={"color": "#8b93a3", "width": 1, "dash": "dot"},
            hoverinfo="skip",
        )
    )  # fmt: skip
    kinds = categories(pair.op_type for pair in found.pairs)
    for kind in kinds:
        pairs = [pair for pair in found.pairs if category(pair.op_type) == kind]
        figure.add_trace(
            go.Scatter(
                x=[pair.predicted_us for pair in pairs],
                y=[pair.measured_us for pair in pairs],
                mode="markers",
                marker={"color": category_color(kind, dark=dark), "size": 8, "opacity": 0.75},
                cliponaxis=False,
                customdata=[
                    [f"after:{pair.node}", escape(f"{pair.op_type} {pair.name}")] for pair in pairs
                ],
                hovertemplate=(
                    "%{customdata[1]}<br>predicted %{x:.3g} µs, measured %{y:.3g} µs<extra></extra>"
                ),
            )
        )
    colors = {TITLES[kind]: category_color(kind, dark=dark) for kind in kinds}
    figure.update_layout(
        template=TEMPLATE,
        title=titled(_title(found), colors),
        height=460,
        dragmode=False,
        clickmode="event+select",
        xaxis={**axis, "title": "µs, predicted"},
        yaxis={**axis, "title": "µs, measured"},
    )
    return figure


def _title(found: Accuracy) -> str:
    unit = time_unit(found.predicted_us, found.measured_us)
    totals = f"Predicted {unit.text(found.predicted_us)}, measured {unit.text(found.measured_us)}"
    rank = found.spearman
    order = "too few operators to rank" if math.isnan(rank) else f"Spearman {rank:.2f}"
    return f"{totals} ({times_text(found.ratio)}); {order}"
