"""The roofline of a device, and under it the nodes of a graph before and after."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, TypeVar

import plotly.graph_objects as go

from optimizer.cost.classes import OperatorClass
from optimizer.cost.device import DeviceProfile, Level
from optimizer.numbers import amount_text, bytes_text, three_digits
from studio.cost.prediction.groups import NodeGroup
from studio.cost.prediction.lanes_figure import parts_text
from studio.cost.roofline.labels import Dot, LogPlane, RoofLine, Spot, spots
from studio.figures.change_bars import time_unit
from studio.figures.palette import TITLES, categories, category_color
from studio.figures.template import BEFORE_COLOR, TEMPLATE, titled
from studio.graphview.categories import Category, category

Item = TypeVar("Item")
_HEIGHT = 500
_SMALLEST_PX, _LARGEST_PX = 5.0, 44.0
_MOST_ROOFS = 5
_SAME_ROOF = 1.3
"""Roofs nearer than this factor share a line and a label."""

_ABOVE = 0.3
"""Decades between the highest roof and the edge."""

_ROOF_COLOR = "#8b93a3"


def roofline(
    device: DeviceProfile,
    before: Sequence[NodeGroup],
    after: Sequence[NodeGroup],
    *,
    title: str,
    dark: bool,
) -> go.Figure:
    """Attainable FLOP/s over arithmetic intensity; dots are nodes, their area is predicted time.

    The custom data of a dot starts with `before:<node id>` or `after:<node id>`.

    Args:
        device: whose roofs are drawn.
        before: of the source, as grey rings; empty for none.
        after: of the step that is looked at, in the colours of their operators.
        title: says the finding; safe for Plotly's own markup.
        dark: whether the page is.
    """
    seen, drawn = _drawable(before), _drawable(after)
    window = _window(device, [*seen, *drawn])
    longest = max((group.total_us for group in (*seen, *drawn)), default=1.0)
    figure = go.Figure()
    slopes = _slopes(device, window)
    lines = [*_roofs(device, [*seen, *drawn], window), *(line for line, _ in slopes)]
    dotted = {line for line, near in slopes if near}
    for line in lines:
        _line(figure, line, dash="dot" if line in dotted else "solid")
    dots = [_dot(group, longest) for group in (*seen, *drawn)]
    for line, spot in zip(lines, spots(lines, dots, window), strict=True):
        _label(figure, line.text, spot, dark=dark)
    _dots(figure, seen, longest, color=None, dark=dark, key="before")
    for kind in categories(group.first.op_type for group in drawn):
        chosen = [group for group in drawn if category(group.first.op_type) == kind]
        color = category_color(kind, dark=dark)
        _dots(figure, chosen, longest, color=color, dark=dark, key="after")
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title, _key(drawn, rings=bool(seen), dark=dark)),
        height=_HEIGHT,
        dragmode=False,
        clickmode="event+select",
        xaxis={"title": "FLOP per byte read or written", **_axis(window.left, window.right, "")},
        yaxis={"title": "FLOP/s", **_axis(window.bottom, window.top, "FLOP/s")},
    )
    return figure


def without_arithmetic(groups: Iterable[NodeGroup]) -> tuple[int, float]:
    """Nodes that compute nothing and are not in the picture: how many, and their microseconds."""
    left = [group for group in groups if not group.flops_per_s]
    return sum(len(group.nodes) for group in left), sum(group.total_us for group in left)


def _drawable(groups: Iterable[NodeGroup]) -> list[NodeGroup]:
    return [group for group in groups if group.flops_per_s and group.first.intensity]


def _window(device: DeviceProfile, groups: Sequence[NodeGroup]) -> LogPlane:
    """Everything that is drawn, and the ridge where memory stops being the limit."""
    across = [math.log10(group.first.intensity) for group in groups] or [0.0]
    up = [math.log10(group.flops_per_s) for group in groups] or [9.0]
    peak = math.log10(max(device.peak_flops, *(group.first.rate for group in groups), 1.0))
    ridge = peak - math.log10(device.memory.bytes_per_s)
    return LogPlane(
        min(across) - 0.35,
        max(*across, ridge) + 0.5,
        max(min(up), peak - 10.0) - 0.75,
        peak + _ABOVE,
    )


def _near_rates(items: Iterable[tuple[float, Item]]) -> list[tuple[float, list[Item]]]:
    """Nearly the same rates together, each with the highest, from the highest down."""
    found: list[tuple[float, list[Item]]] = []
    for rate, item in sorted(items, key=lambda pair: -pair[0]):
        if found and found[-1][0] / rate < _SAME_ROOF:
            found[-1][1].append(item)
        else:
            found.append((rate, [item]))
    return found


def _slopes(device: DeviceProfile, window: LogPlane) -> list[tuple[RoofLine, bool]]:
    """What each level of memory can feed, from the left to the highest roof; whether it is one."""
    found: list[tuple[RoofLine, bool]] = []
    for bytes_per_s, levels in _near_rates((level.bytes_per_s, level) for level in device.levels):
        rate = math.log10(bytes_per_s)
        start = max(window.left, window.bottom - rate)
        end = min(window.right, window.top - _ABOVE - rate)
        if end > start:
            text = f"{_name_of(levels)} {amount_text(bytes_per_s, 'B/s')}"
            line = RoofLine(text, (start, start + rate), (end, end + rate))
            found.append((line, device.memory not in levels))
    return found


def _name_of(levels: Sequence[Level]) -> str:
    """`L2`; of several, without their sizes: `L3` for `L3, 16 MiB` and `L3, 48 MiB`."""
    if len(levels) == 1:
        return levels[0].name
    return " and ".join(dict.fromkeys(level.name.partition(",")[0] for level in levels))


def _roofs(device: DeviceProfile, groups: Iterable[NodeGroup], window: LogPlane) -> list[RoofLine]:
    """The highest rates of the classes that take most of the time."""
    fastest = max(math.log10(level.bytes_per_s) for level in device.levels)
    spent: dict[OperatorClass, float] = {}
    best: dict[OperatorClass, float] = {}
    for group in groups:
        kind, rate = group.first.kind, group.first.rate
        if rate:
            spent[kind] = spent.get(kind, 0.0) + group.total_us
            best[kind] = max(best.get(kind, 0.0), rate)
    found: list[RoofLine] = []
    shown = sorted(spent, key=lambda kind: -spent[kind])[:_MOST_ROOFS]
    for rate, kinds in _near_rates((best[kind], kind) for kind in shown):
        height = math.log10(rate)
        names = ", ".join(kind.value for kind in kinds[:2])
        more = f" and {len(kinds) - 2} more" if len(kinds) > 2 else ""
        start = max(window.left, height - fastest)
        text = f"{names}{more} {amount_text(rate, 'FLOP/s')}"
        found.append(RoofLine(text, (start, height), (window.right, height)))
    return found


def _label(figure: go.Figure, text: str, spot: Spot, *, dark: bool) -> None:
    figure.add_annotation(
        x=spot.place[0], y=spot.place[1], text=text, showarrow=False, xanchor=spot.xanchor,
        yanchor=spot.yanchor, yshift=2 if spot.yanchor == "bottom" else -2, font={"size": 11},
        bgcolor="rgba(17,20,27,0.7)" if dark else "rgba(252,252,254,0.7)", borderpad=1,
    )  # fmt: skip


def _line(figure: go.Figure, line: RoofLine, *, dash: str) -> None:
    figure.add_trace(
        go.Scatter(
            x=[10 ** line.start[0], 10 ** line.end[0]],
            y=[10 ** line.start[1], 10 ** line.end[1]],
            mode="lines",
            line={"color": _ROOF_COLOR, "width": 1.25, "dash": dash},
            hoverinfo="skip",
        )
    )


def _dot(group: NodeGroup, longest: float) -> Dot:
    center = (math.log10(group.first.intensity), math.log10(group.flops_per_s))
    return Dot(center, _diameter(group.total_us, longest) / 2)


def _dots(
    figure: go.Figure,
    groups: Sequence[NodeGroup],
    longest: float,
    *,
    color: str | None,
    dark: bool,
    key: str,
) -> None:
    if not groups:
        return
    rings, edge = color is None, "#11141b" if dark else "#fcfcfe"
    marker: dict[str, Any] = {
        "size": [_diameter(group.total_us, longest) for group in groups],
        "color": BEFORE_COLOR if rings else color,
        "opacity": 1.0 if rings else 0.72,
        "symbol": "circle-open" if rings else "circle",
        "line": {"width": 1.25, "color": BEFORE_COLOR if rings else edge},
    }
    figure.add_trace(
        go.Scatter(
            x=[group.first.intensity for group in groups],
            y=[group.flops_per_s for group in groups],
            mode="markers",
            marker=marker,
            customdata=[
                [f"{key}:{group.first.node}", _hover(group, rings=rings)] for group in groups
            ],
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
    )


def _diameter(us: float, longest: float) -> float:
    """Area is time."""
    return max(_SMALLEST_PX, _LARGEST_PX * math.sqrt(us / longest))


def _hover(group: NodeGroup, *, rings: bool) -> str:
    node, cost = group.first, group.first.cost
    time = time_unit(group.total_us).text(group.total_us)
    which = "Before: " if rings else ""
    together = f" · {len(group.nodes)} alike together" if len(group.nodes) > 1 else ""
    return (
        f"{which}<b>{escape(group.title)}</b><br>{escape(group.name)}<br>{node.kind.value}<br>"
        f"{amount_text(cost.flops, 'FLOP')} · {bytes_text(cost.bytes_moved)}"
        f" · {three_digits(node.intensity)} FLOP/B<br>"
        f"{time}{together}<br>{parts_text(group.parts)}"
    )


def _key(groups: Iterable[NodeGroup], *, rings: bool, dark: bool) -> Mapping[str, str]:
    kinds: dict[Category, float] = {}
    for group in groups:
        kind = category(group.first.op_type)
        kinds[kind] = kinds.get(kind, 0.0) + group.total_us
    order = sorted(kinds, key=lambda kind: -kinds[kind])
    found = {TITLES[kind]: category_color(kind, dark=dark) for kind in order}
    return {**found, "before": BEFORE_COLOR} if rings else found


def _axis(low: float, high: float, unit: str) -> dict[str, Any]:
    powers = range(math.ceil(low), math.floor(high) + 1)
    return {
        "type": "log",
        "range": [low, high],
        "tickvals": [10.0**power for power in powers],
        "ticktext": [amount_text(10.0**p, unit) if unit else f"{10.0**p:g}" for p in powers],
    }
