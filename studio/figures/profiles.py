"""Where the time goes, before and after; memory over a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

import plotly.graph_objects as go

from profiling.timeline.events import Share, Timeline, by_node, by_op_type
from profiling.timeline.profile import Profile
from studio.figures.template import TEMPLATE, three_digits, titled

SHOWN = 12
_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def operator_times(profiles: Mapping[str, Profile]) -> dict[str, list[float]]:
    """Operator -> microseconds in one steady run, one number a variant; the slowest first."""
    return _times(profiles, by_op_type)


def node_times(profiles: Mapping[str, Profile]) -> dict[str, list[float | None]]:
    """Node -> microseconds in one steady run; None where a variant has no node of that name."""
    named = _times(profiles, by_node)
    there = [{share.key for share in by_node(p.timeline)} for p in profiles.values()]
    return {
        node: [time if node in nodes else None for time, nodes in zip(times, there, strict=True)]
        for node, times in named.items()
    }


def node_kinds(profiles: Mapping[str, Profile]) -> dict[str, str]:
    """Node -> its operator."""
    return {
        event.node: event.op_type
        for profile in profiles.values()
        for run in profile.timeline.runs[:1]
        for event in run.events
    }


def _times(
    profiles: Mapping[str, Profile], shares: Callable[[Timeline], tuple[Share, ...]]
) -> dict[str, list[float]]:
    columns = list(profiles)
    table: dict[str, list[float]] = {}
    for column, name in enumerate(columns):
        for share in shares(profiles[name].timeline):
            row = table.setdefault(share.key, [0.0] * len(columns))
            row[column] = share.steady_us if share.steady_us is not None else float(share.first_us)
    return dict(sorted(table.items(), key=lambda item: -max(item[1])))


def operator_bars(profiles: Mapping[str, Profile], colors: Mapping[str, str]) -> go.Figure:
    """Time by kind of operator, one bar a variant.

    Args:
        profiles: by label.
        colors: by label.
    """
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
                y=[f"{escape(operator)} " for operator, _ in shown],
                orientation="h",
                name=label,
                marker={"color": colors[label]},
                text=[_time_label(times[index]) for _, times in shown],
                textposition="outside",
                textfont={"size": 11},
                constraintext="none",
                cliponaxis=False,
                hovertemplate=f"{label}<br>%{{y}}: %{{x:.3g}} ms<extra></extra>",
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        title=titled(_operators_title(table), {label: colors[label] for label in profiles}),
        barmode="group",
        height=120 + 36 * max(3, len(shown)),
        margin={"r": 56, "t": 56},
        xaxis={"title": "ms in all nodes of this kind, steady run", "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "showgrid": False, "type": "category"},
        bargap=0.3,
    )
    return figure


def _time_label(time_us: float) -> str:
    return three_digits(time_us / 1000) if time_us else "none"


def _operators_title(table: Mapping[str, list[float]]) -> str:
    """What the variants' operators take together, and where the largest difference is."""
    if not table:
        return "The profiler saw no operators"
    totals = [sum(column) / 1000 for column in zip(*table.values(), strict=True)]
    title = f"All operators together {' → '.join(map(three_digits, totals))} ms"
    if len(totals) < 2:
        return title
    operator, times = max(table.items(), key=lambda item: abs(item[1][0] - item[1][-1]))
    ends = " → ".join(three_digits(time / 1000) for time in (times[0], times[-1]))
    return f"{title}; most changed: {escape(operator)} {ends} ms"


def memory_lines(profiles: Mapping[str, Profile], colors: Mapping[str, str]) -> go.Figure:
    """Activation memory over the first run, as steps.

    Args:
        profiles: by label.
        colors: by label.
    """
    figure = go.Figure()
    curves = [(label, p.memory[0]) for label, p in profiles.items() if p.memory]
    most = max((curve.peak_bytes for _, curve in curves), default=0)
    unit, size = next((u for u in _UNITS if most >= u[1]), ("B", 1.0))
    for label, curve in curves:
        figure.add_trace(
            go.Scatter(
                x=[time / 1000 for time in curve.times_us],
                y=[live / size for live in curve.live_bytes],
                mode="lines",
                name=label,
                line={"shape": "hv", "width": 1.75, "color": colors[label]},
                hovertemplate=f"{label}<br>%{{x:.3g}} ms: %{{y:.3g}} {unit}<extra></extra>",
            )
        )
    peaks = " → ".join(three_digits(curve.peak_bytes / size) for _, curve in curves)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(
            f"Activations peak at {peaks} {unit}" if curves else "The profiler saw no memory",
            {label: colors[label] for label, _ in curves},
        ),
        height=300,
        xaxis={"title": "ms since the first run began"},
        yaxis={"title": f"{unit} of activations", "rangemode": "tozero"},
    )
    return figure
