"""Predicted times of layouts, what fills up blocks, and what a device lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from optimizer.layout.formats import Waste
from optimizer.layout_assignment import NOTHING_TO_ASSIGN
from optimizer.numbers import Unit, bytes_text, counted, digits, three_digits, times_text, unit_of
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, rows_axis, short, titled
from studio.layout.job import Assigned, Legal

WASTE_COLOR = "#c9512b"
NOTHING_MOVED = "No node over images can move; why each stays is below."
_ROW_PX = 28
_MOST_ROWS = 14
_MOST_NAME = 46
_MOST_OPERATORS = 5


def assigned_bars(found: Assigned, *, title: str) -> go.Figure:
    """Predicted time in NCHW, as written and as assigned, with what of it is conversions."""
    converting = sum(one.us for one in found.conversions)
    rows: dict[str, tuple[float, float]] = {}
    for name, us in (("all in NCHW", found.first_us), ("as written", found.written_us)):
        if us is not None:
            rows[name] = (us, 0.0)
    rows[f"in {found.layout}"] = (max(0.0, found.assigned_us - converting), converting)
    unit = _time_unit(max(map(sum, rows.values())))
    labels = list(rows)
    colors = [*[BEFORE_COLOR] * (len(rows) - 1), AFTER_COLOR]
    figure = go.Figure()
    for number, color in enumerate((colors, [WASTE_COLOR] * len(rows))):
        figure.add_trace(
            go.Bar(
                x=[parts[number] / unit.size for parts in rows.values()],
                y=list(range(len(rows))),
                orientation="h",
                marker={"color": color},
                text=[
                    f"\u2002{unit.text(sum(parts))}" if number else "" for parts in rows.values()
                ],
                textposition="outside",
                cliponaxis=False,
                hoverinfo="skip",
            )
        )
    key = {"kernels": AFTER_COLOR, "conversions": WASTE_COLOR}
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title), key),
        barmode="stack",
        height=130 + _ROW_PX * len(rows),
        margin={"r": 90, "t": 64},
        xaxis={"title": f"{unit.name} of kernels over images, predicted", "rangemode": "tozero"},
        yaxis=rows_axis(labels),
    )
    return figure


def waste_bars(wastes: Sequence[Waste]) -> go.Figure:
    """Bytes of the tensors in blocks, and beside them what only fills blocks up."""
    shown = [one for one in wastes if one.bytes][:_MOST_ROWS]
    unit = unit_of(max((one.plain + one.bytes for one in shown), default=0))
    figure = go.Figure()
    for name, color, sizes in (
        ("data", BEFORE_COLOR, [one.plain for one in shown]),
        ("padding", WASTE_COLOR, [one.bytes for one in shown]),
    ):
        figure.add_trace(
            go.Bar(
                name=name,
                x=[size / unit.size for size in sizes],
                y=list(range(len(shown))),
                orientation="h",
                marker={"color": color},
                text=[f"\u2002+{bytes_text(one.bytes)}, {100 * one.share:.3g} %" for one in shown]
                if name == "padding"
                else None,
                textposition="outside",
                cliponaxis=False,
                hoverinfo="skip",
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        title=titled(waste_title(wastes), {"data": BEFORE_COLOR, "padding": WASTE_COLOR}),
        barmode="stack",
        height=120 + _ROW_PX * len(shown),
        margin={"r": 130, "t": 64},
        xaxis={"title": unit.name, "rangemode": "tozero"},
        yaxis=rows_axis(short(one.name, _MOST_NAME) for one in shown),
    )
    return figure


def waste_title(wastes: Sequence[Waste]) -> str:
    """What blocks fill up in all."""
    lost, used = sum(one.bytes for one in wastes), sum(one.plain for one in wastes)
    many = counted(len(wastes), "tensor")
    return f"Padding: {bytes_text(lost)} beside {bytes_text(used)} of {many}, {_share(lost, used)}"


def assigned_title(found: Assigned) -> str:
    """The finding in one line."""
    if found.written_us is None:
        assigned = _time_unit(found.assigned_us).text(found.assigned_us)
        moved = counted(sum(found.moved.values()), "node")
        return f"{moved} in {found.layout}: predicted {assigned}, no kernels as written"
    gained = times_text(found.written_us / found.assigned_us)
    unit = _time_unit(found.written_us)
    times = f"{unit.text(found.written_us)} → {unit.text(found.assigned_us)}"
    return f"Predicted {gained} faster in {found.layout}: {times}"


def unmoved_text(found: Assigned) -> str:
    """Why there is nothing to draw."""
    if not found.written_us:
        return NOTHING_MOVED if found.unmoved else NOTHING_TO_ASSIGN
    stays = _time_unit(found.written_us).text(found.written_us)
    return f"Stays as it is written: {stays} predicted, and no use of {found.layout} takes less."


def moved_text(found: Assigned) -> str:
    """What moves, by operator, and what that takes."""
    every = list(found.moved.items())
    named = [f"{count} {operator}" for operator, count in every[:_MOST_OPERATORS]]
    rest = sum(count for _, count in every[_MOST_OPERATORS:])
    size = sum(one.size_bytes for one in found.conversions)
    told = ", ".join([*named, *([f"{rest} others"] if rest else [])])
    conversions = counted(len(found.conversions), "conversion")
    return (
        f"{counted(sum(found.moved.values()), 'node')} in {found.layout} ({told}) for"
        f" {conversions} of {bytes_text(size)}."
    )


def lacking_bars(found: Legal) -> go.Figure:
    """Nodes that the device lacks by operator: those lowered, and those that remain."""
    before = _by_operator(found.lacking)
    after = {name: count for name, count in _by_operator(found.remaining).items() if name in before}
    names = list(before)[:_MOST_ROWS]
    lowered = [before[name] - min(before[name], after.get(name, 0)) for name in names]
    remaining = [min(before[name], after.get(name, 0)) for name in names]
    figure = go.Figure()
    for color, counts in ((AFTER_COLOR, lowered), (WASTE_COLOR, remaining)):
        figure.add_trace(
            go.Bar(
                x=counts,
                y=list(range(len(names))),
                orientation="h",
                marker={"color": color},
                text=[str(count) if count else "" for count in counts],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                hoverinfo="skip",
            )
        )
    key = {"lowered": AFTER_COLOR, "no lowering": WASTE_COLOR}
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(legal_title(found)), key),
        barmode="stack",
        height=120 + _ROW_PX * len(names),
        margin={"t": 64},
        xaxis={"title": "nodes of the model that the device lacks", "rangemode": "tozero"},
        yaxis=rows_axis(map(escape, names)),
    )
    return figure


def legal_title(found: Legal) -> str:
    """The finding in one line."""
    lacking = sum(len(one.nodes) for one in found.lacking)
    if not lacking:
        return f"{found.title} has every operator of this model"
    before, after = found.nodes
    left = sum(len(one.nodes) for one in found.remaining)
    rest = f"{left:,} without a lowering" if left else f"all lowered to {counted(after, 'node')}"
    return f"{found.title} lacks {lacking:,} of {counted(before, 'node')}: {rest}"


def conversions_table(found: Assigned) -> dict[str, list[Any]]:
    """A row a conversion."""
    every = found.conversions
    return {
        "value": [one.value for one in every],
        "from": [one.made for one in every],
        "to": [one.wanted for one in every],
        "MiB moved": [digits(one.size_bytes / 2**20) for one in every],
        "predicted, µs": [digits(one.us) for one in every],
        "step": [one.step or None for one in every],
        "for": [one.reader for one in every],
    }


def wastes_table(wastes: Sequence[Waste]) -> dict[str, list[Any]]:
    """A row a tensor in blocks."""
    return {
        "tensor": [one.name for one in wastes],
        "data, MiB": [digits(one.plain / 2**20) for one in wastes],
        "padding, MiB": [digits(one.bytes / 2**20) for one in wastes],
        "padding, %": [digits(100 * one.share) for one in wastes],
    }


def _by_operator(groups: Sequence[Any]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for group in groups:
        counts[group.operator] = counts.get(group.operator, 0) + len(group.nodes)
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _share(lost: int, used: int) -> str:
    return f"{three_digits(100 * lost / max(1, used))} %"


def _time_unit(us: float) -> Unit:
    return Unit("µs", 1) if us < 1000 else Unit("ms", 1000)
