"""Where the time goes, by kind of operator, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from profiling.timeline.attribution import Kernel
from studio.figures.change_bars import time_bars, time_unit

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
    return time_bars(
        [escape(operator) for operator, _ in shown],
        {label: [times[index] for _, times in shown] for index, label in enumerate(kernels)},
        colors,
        title=_operators_title(table),
        row_px=max(36, 20 * len(kernels)),
        what=" in all operators of this kind,",
    )


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
    unit = time_unit(*times_us)
    return f"{' → '.join(map(unit.number, times_us))} {unit.name}"
