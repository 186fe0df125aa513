"""Where the time goes, by kind of operator, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import plotly.graph_objects as go

from profiling.timeline.balance import own_times
from profiling.timeline.profile import Phase, Profile
from studio.figures.template import TEMPLATE, three_digits, titled

SHOWN = 12
_WHICH = {"first": "first run", "steady": "mean of steady runs"}


def operator_times(profiles: Mapping[str, Profile], phase: Phase) -> dict[str, list[float]]:
    """Operator -> microseconds in one run, one number a variant; the slowest first."""
    table: dict[str, list[float]] = {}
    for column, profile in enumerate(profiles.values()):
        runs = profile.timeline.runs
        chosen = runs[:1] if phase == "first" or len(runs) < 2 else runs[1:]
        for run in chosen:
            for event, own_us in zip(run.events, own_times(run), strict=True):
                row = table.setdefault(event.op_type, [0.0] * len(profiles))
                row[column] += own_us / len(chosen)
    return dict(sorted(table.items(), key=lambda item: -max(item[1])))


def operator_bars(
    profiles: Mapping[str, Profile], colors: Mapping[str, str], phase: Phase
) -> go.Figure:
    """Time by kind of operator, one bar a variant.

    Args:
        profiles: by label.
        colors: by label.
        phase: first run, or the steady ones on average.
    """
    table = operator_times(profiles, phase)
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
        xaxis={
            "title": "ms in all operators of this kind, " + _WHICH[phase],
            "rangemode": "tozero",
        },
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
