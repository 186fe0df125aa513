"""Where the time goes, by kind of operator, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from profiling.timeline.attribution import Kernel
from studio.figures.template import TEMPLATE, three_digits, titled

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
    figure = go.Figure()
    for index, label in enumerate(kernels):
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
        title=titled(_operators_title(table), {label: colors[label] for label in kernels}),
        barmode="group",
        height=120 + 36 * max(3, len(shown)),
        margin={"r": 56, "t": 56},
        xaxis={
            "title": "ms in all operators of this kind, in one run",
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
