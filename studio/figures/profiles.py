"""Where the time goes, before and after; memory over a run."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from profiling.profile import Profile
from profiling.timeline import by_op_type
from studio.figures.template import LEGEND, TEMPLATE, color_of

SHOWN = 12


def operator_times(profiles: Mapping[str, Profile]) -> dict[str, list[float]]:
    """Operator -> microseconds in one steady run, one number a variant; the slowest first."""
    columns = list(profiles)
    table: dict[str, list[float]] = {}
    for column, name in enumerate(columns):
        for share in by_op_type(profiles[name].timeline):
            row = table.setdefault(share.key, [0.0] * len(columns))
            row[column] = share.steady_us if share.steady_us is not None else float(share.first_us)
    return dict(sorted(table.items(), key=lambda item: -max(item[1])))


def operator_bars(profiles: Mapping[str, Profile]) -> go.Figure:
    """Time by kind of operator, one bar a variant."""
    table = operator_times(profiles)
    shown = list(table.items())[:SHOWN]
    rest = list(table.values())[SHOWN:]
    if rest:
        shown.append((f"{len(rest)} more", [sum(column) for column in zip(*rest, strict=True)]))
    figure = go.Figure()
    for index, label in enumerate(profiles):
        figure.add_trace(
            go.Bar(
                x=[times[index] / 1000 for _, times in shown],
                y=[f"{operator} " for operator, _ in shown],
                orientation="h",
                name=label,
                marker={"color": color_of(index)},
                hovertemplate=f"{label}<br>%{{y}}: %{{x:.3g}} ms<extra></extra>",
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        title="Where the time of one run goes",
        barmode="group",
        height=110 + 26 * max(3, len(shown)),
        showlegend=True,
        legend=LEGEND,
        xaxis={"title": "ms in all nodes of this kind, steady run", "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "showgrid": False, "type": "category"},
        bargap=0.3,
    )
    return figure


def memory_lines(profiles: Mapping[str, Profile]) -> go.Figure:
    """Activation memory over the first run, as steps."""
    figure = go.Figure()
    peaks: list[str] = []
    for index, (label, profile) in enumerate(profiles.items()):
        if not profile.memory:
            continue
        curve = profile.memory[0]
        live = [size / 1e6 for size in curve.live_bytes]
        peaks.append(f"{label} {curve.peak_bytes / 1e6:.3g} MB")
        figure.add_trace(
            go.Scatter(
                x=[time / 1000 for time in curve.times_us],
                y=live,
                mode="lines",
                name=label,
                line={"shape": "hv", "width": 1.5, "color": color_of(index)},
                hovertemplate=f"{label}<br>%{{x:.3g}} ms: %{{y:.3g}} MB<extra></extra>",
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        title="Activations peak at " + ", ".join(peaks) if peaks else "No memory figures",
        height=300,
        showlegend=True,
        legend=LEGEND,
        xaxis={"title": "ms since the first run began"},
        yaxis={"title": "MB of activations", "rangemode": "tozero"},
    )
    return figure
