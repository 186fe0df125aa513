"""Times of variants beside each other: by groups of source nodes, by operator, as a tree map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from optimizer.numbers import Unit
from profiling.timeline.attribution import Attribution, AttributionGroup, Kernel
from profiling.timeline.origins import SourceNode
from studio.figures.palette import category_color
from studio.figures.template import TEMPLATE, rows_axis, titled
from studio.graphview.categories import category

SHOWN = 10
_OPERATORS_SHOWN = 12
_NODES_SHOWN = 60
"""Nodes of a tree map; the rest of each kind is one box."""

_LEAST_WIDTH = 0.12

Kernels = Mapping[str, Sequence[Kernel]]
"""What ran, by the variant's label."""


def time_unit(*times_us: float) -> Unit:
    """The unit in which the largest of some microseconds is easy to read."""
    return Unit("ms", 1000.0) if max(times_us, default=0.0) >= 1000 else Unit("µs", 1.0)


def row_title(row: AttributionGroup, source: Mapping[str, SourceNode]) -> str:
    """What a row is: "Conv + BatchNormalization", and the name it stands under."""
    if not row.sources:
        return "not attributed"
    ops: dict[str, int] = {}
    for node in row.sources:
        ops[source[node].op_type] = ops.get(source[node].op_type, 0) + 1
    parts = [f"{count}\u2009{op}" if count > 1 else op for op, count in ops.items()]
    return " + ".join(parts[:4]) + (f" + {len(parts) - 4} more" if len(parts) > 4 else "")


def row_name(row: AttributionGroup, source: Mapping[str, SourceNode]) -> str:
    """The name of the row's first node that has one."""
    return next((source[node].name for node in row.sources if source[node].name), "")


def row_became(row: AttributionGroup, source: Mapping[str, SourceNode]) -> str:
    """What the nodes are computed by after."""
    if row.after:
        return " + ".join(dict.fromkeys(kernel.op_type for kernel in row.after))
    fates = {source[node].fate for node in row.sources}
    return "computed ahead" if fates == {"folded"} else "gone"


def change_bars(
    found: Attribution,
    source: Mapping[str, SourceNode],
    *,
    labels: tuple[str, str],
    colors: tuple[str, str],
) -> go.Figure:
    """The groups whose time changed most, and what could not be attributed.

    Args:
        found: of two variants.
        source: its nodes by id.
        labels: of the variants.
        colors: of the variants.
    """
    rows = list(found.rows[:SHOWN])
    if found.unattributed.before or found.unattributed.after:
        rows.append(found.unattributed)
    times = ([row.before_us for row in rows], [row.after_us for row in rows])
    return time_bars(
        [_tick(row, source) for row in rows],
        dict(zip(labels, times, strict=True)),
        dict(zip(labels, colors, strict=True)),
        title=_changes_title(found, source),
        row_px=40,
    )


def time_bars(
    names: Sequence[str],
    times_us: Mapping[str, Sequence[float]],
    colors: Mapping[str, str],
    *,
    title: str,
    row_px: int,
    what: str = "",
) -> go.Figure:
    """Times as bars beside each other: a row for each name, in it a bar for each label.

    Args:
        names: of the rows; safe for Plotly's own markup, hovering shows the first line.
        times_us: in one run, by label.
        colors: by label.
        title: says the finding.
        row_px: height of a row.
        what: takes that time; told at the axis.
    """
    unit = time_unit(*(us for each in times_us.values() for us in each))
    figure = go.Figure()
    for label, each in times_us.items():
        figure.add_trace(
            go.Bar(
                x=[us / unit.size for us in each],
                y=list(range(len(names))),
                orientation="h",
                marker={"color": colors[label]},
                text=[unit.number(us) if us else "none" for us in each],
                textposition="outside",
                cliponaxis=False,
                constraintext="none",
                customdata=[name.partition("<br>")[0].strip() for name in names],
                hovertemplate=(
                    f"{escape(label)}<br>%{{customdata}}: %{{x:.3g}} {unit.name}<extra></extra>"
                ),
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title, {escape(label): colors[label] for label in times_us}),
        barmode="group",
        height=120 + row_px * max(3, len(names)),
        margin={"r": 56, "t": 60},
        xaxis={"title": f"{unit.name}{what} in one run", "rangemode": "tozero"},
        yaxis=rows_axis(names),
        bargap=0.3,
    )
    return figure


def _tick(row: AttributionGroup, source: Mapping[str, SourceNode]) -> str:
    name = row_name(row, source)
    short = f"…{name[-34:]}" if len(name) > 36 else name
    title = escape(row_title(row, source)[:44])
    return f"{title} <br><span style='opacity:0.65'>{escape(short)} </span>"


def _changes_title(found: Attribution, source: Mapping[str, SourceNode]) -> str:
    if not found.rows:
        return "No operator could be attributed"
    row = found.rows[0]
    unit = time_unit(row.before_us, row.after_us)
    times = f"{unit.number(row.before_us)} → {unit.text(row.after_us)}"
    share = f"{100 * min(found.before_share, found.after_share):.3g} %"
    what = escape(row_title(row, source)[:50])
    became = escape(row_became(row, source)[:40])
    change = what if what == became else f"{what} → {became}"
    return f"Most changed: {change}, {times}; {share} of the time is attributed"


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
    shown = list(table.items())[:_OPERATORS_SHOWN]
    rest = list(table.values())[_OPERATORS_SHOWN:]
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


def tree_map(kernels: Kernels, *, dark: bool) -> go.Figure:
    """Time by kind of operator, then by node; areas of all variants are on one scale.

    Args:
        kernels: by the variant's label.
        dark: whether the page is.
    """
    totals = {label: sum(k.time_us for k in each) for label, each in kernels.items()}
    largest = max(totals.values(), default=0.0) or 1.0
    wide = {label: max(_LEAST_WIDTH, total / largest) for label, total in totals.items()}
    scale = (1 - 0.02 * (len(wide) - 1)) / (sum(wide.values()) or 1.0)
    figure = go.Figure()
    left = 0.0
    for label, each in kernels.items():
        right = left + wide[label] * scale
        figure.add_trace(_tree(label, each, (left, min(1.0, right)), dark=dark))
        left = right + 0.02
    figure.update_layout(
        template=TEMPLATE,
        title=titled(_tree_title(kernels)),
        height=420,
        uniformtext={"minsize": 9, "mode": "hide"},
        margin={"l": 4, "r": 4, "t": 40, "b": 4},
    )
    return figure


def _tree(
    label: str, kernels: Sequence[Kernel], domain: tuple[float, float], *, dark: bool
) -> go.Treemap:
    total = sum(kernel.time_us for kernel in kernels)
    ids, names, parents, values, colors = ["/"], [label], [""], [total], ["rgba(0,0,0,0)"]
    by_op: dict[str, list[Kernel]] = {}
    shown = set(
        id(k) for k in sorted(kernels, key=lambda k: -k.time_us)[:_NODES_SHOWN] if k.time_us
    )
    for kernel in kernels:
        by_op.setdefault(kernel.op_type, []).append(kernel)

    def box(identity: str, name: str, parent: str, value: float, color: str) -> None:
        ids.append(identity)
        names.append(escape(name))
        parents.append(parent)
        values.append(value)
        colors.append(color)

    for op, each in by_op.items():
        color = category_color(category(op), dark=dark)
        together = sum(kernel.time_us for kernel in each)
        if not together:
            continue
        box(f"op/{op}", op, "/", together, color)
        rest = [kernel for kernel in each if id(kernel) not in shown]
        for kernel in each:
            if id(kernel) in shown:
                name = "/".join(kernel.name.rstrip("/").split("/")[-3:])
                box(f"node/{kernel.name}", name[-60:], f"op/{op}", kernel.time_us, color)
        if rest and len(rest) < len(each):
            left = sum(kernel.time_us for kernel in rest)
            box(f"rest/{op}", f"{len(rest)} more", f"op/{op}", left, color)
    return go.Treemap(
        ids=ids,
        labels=names,
        parents=parents,
        values=values,
        branchvalues="total",
        marker={"colors": colors, "line": {"width": 1}},
        domain={"x": list(domain)},
        tiling={"pad": 1},
        texttemplate="%{label}",
        hovertemplate="%{label}<br>%{value:,.0f} µs, %{percentRoot:.1%}<extra></extra>",
        sort=True,
    )


def _tree_title(kernels: Kernels) -> str:
    """The kind that takes most of the last variant."""
    if not kernels:
        return "No operators"
    label, last = list(kernels.items())[-1]
    by_op: dict[str, float] = {}
    for kernel in last:
        by_op[kernel.op_type] = by_op.get(kernel.op_type, 0.0) + kernel.time_us
    if not by_op:
        return "No operators"
    op, time = max(by_op.items(), key=lambda item: item[1])
    share = time / (sum(by_op.values()) or 1.0)
    return f"{escape(op)} takes {100 * share:.3g} % of the operators' time of {escape(label)}"
