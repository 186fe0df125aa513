"""Where the time goes, by kind of operator, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from profiling.timeline.attribution import Kernel
from studio.figures.change_bars import time_unit
from studio.figures.template import TEMPLATE, titled
from studio.numbers import three_digits

SHOWN = 12


Kernels = Mapping[str, Sequence[Kernel]]
"""What ran, by the variant's label."""


def operator_times(kernels: Kernels) -> dict[str, list[float]]:
    """Operator -> microseconds in one run, one number a variant; the slowest first."""
    table: dict[str, list[float]] = {}
    for column, each in enumerate(kernels.values()):
        for kernel in each:
            row = table.setdefault(kernel.op_type, [0.0] * len(kernels))
            row[column] += kernel.time_us
    return dict(sorted(table.items(), key=lambda item: -max(item[1])))


def operator_bars(kernels: Kernels, colors: Mapping[str, str]) -> go.Figure:
    """Time by kind of operator, one bar a variant.

    Args:
        kernels: with their times in one run.
        colors: by label.
    """
    table = operator_times(kernels)
    shown = list(table.items())[:SHOWN]
    rest = list(table.values())[SHOWN:]
    if rest:
        shown.append((f"{len(rest)} more", [sum(column) for column in zip(*rest, strict=True)]))
    unit, size = time_unit([time for _, times in shown for time in times])
    figure = go.Figure()
    for index, label in enumerate(kernels):
        figure.add_trace(
            go.Bar(
                x=[times[index] / size for _, times in shown],
                y=[f"{escape(operator)} " for operator, _ in shown],
                orientation="h",
                name=label,
                marker={"color": colors[label]},
                text=[three_digits(t[index] / size) if t[index] else "none" for _, t in shown],
                textposition="outside",
                textfont={"size": 11},
                constraintext="none",
                cliponaxis=False,
                hovertemplate=f"{label}<br>%{{y}}: %{{x:.3g}} {unit}<extra></extra>",
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        title=titled(_operators_title(table), {label: colors[label] for label in kernels}),
        barmode="group",
        height=120 + max(36, 20 * len(kernels)) * max(3, len(shown)),
        margin={"r": 56, "t": 56},
        xaxis={
            "title": f"{unit} in all operators of this kind, in one run",
            "rangemode": "tozero",
        },
        yaxis={"autorange": "reversed", "showgrid": False, "type": "category"},
        bargap=0.3,
    )
    return figure


def _operators_title(table: Mapping[str, list[float]]) -> str:
    """What the variants' operators take together, and where the largest difference is."""
    if not table:
        return "The profiler saw no operators"
    totals = [sum(column) for column in zip(*table.values(), strict=True)]
    title = f"All operators together {_change(totals)}"
    if len(totals) < 2:
        return title
    operator, times = max(table.items(), key=lambda item: abs(item[1][0] - item[1][-1]))
    return f"{title}; most changed: {escape(operator)} {_change([times[0], times[-1]])}"


def _change(times_us: Sequence[float]) -> str:
    """Times one after the other, and their unit."""
    unit, size = time_unit(times_us)
    return f"{' → '.join(three_digits(time / size) for time in times_us)} {unit}"
