"""Operators of a run on a time axis, variants above each other, gaps left open.

All boxes of a category are one path, so that ten thousand operators cost the browser no more than
a dozen shapes; what the pointer reads are points along the boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from optimizer.numbers import counted, three_digits
from optimizer.operators.generated import region_title
from profiling.timeline.events import Event, Lane, Run, lanes_of
from profiling.timeline.finding import finding
from profiling.timeline.profile import Phase, Profile
from studio.figures.palette import TITLES, category_color
from studio.figures.template import TEMPLATE, rows_axis, titled
from studio.graphview.categories import Category, category

LANE_PX = 46
_HALF = 0.36
_SPOTS = 300
"""A box gets another point for the pointer every so many parts of the axis."""

_BACK = "rgba(128,136,152,0.16)"


@dataclass(frozen=True, slots=True)
class _Row:
    """A lane of a variant, and its place on the axis."""

    y: int
    label: str
    lane: Lane
    run: Run


def gantt(profiles: Mapping[str, Profile], phase: Phase, *, dark: bool) -> go.Figure:
    """The run that stands for the phase, of each variant.

    Args:
        profiles: by label, the baseline first.
        phase: first run, or the steady one in the middle.
        dark: whether the page is.
    """
    rows = list(_rows(profiles, phase))
    longest = max((row.run.duration_us for row in rows), default=1)
    figure = go.Figure()
    present = list(dict.fromkeys(category(e.op_type) for row in rows for e in row.run.events))
    colors: dict[Category, str] = {k: category_color(k, dark=dark) for k in TITLES if k in present}
    named = {TITLES[kind]: color for kind, color in colors.items()}
    shapes = [_back(row) for row in rows]
    shapes += [
        {"type": "path", "path": path, "fillcolor": colors[kind], "line": {"width": 0}}
        for kind, path in _paths(rows).items()
    ]
    figure.add_trace(_spots(rows, longest, profiles))
    figure.update_layout(
        template=TEMPLATE,
        title=titled(finding(profiles, phase), named),
        shapes=shapes,
        annotations=_ends(rows),
        height=130 + LANE_PX * len(rows),
        margin={"r": 24, "t": 64},
        hovermode="closest",
        hoverdistance=30,
        xaxis={"title": "ms since the run began", "range": [0, longest / 1000 * 1.09]},
        yaxis=rows_axis(escape(row.label) for row in rows),
    )
    return figure


def _rows(profiles: Mapping[str, Profile], phase: Phase) -> Iterator[_Row]:
    y = 0
    for label, profile in profiles.items():
        run = profile.run(phase)
        if run is None:
            continue
        lanes = lanes_of(run)
        for lane in lanes:
            yield _Row(y, label if len(lanes) == 1 else f"{label}, {lane.name}", lane, run)
            y += 1


def _back(row: _Row) -> dict[str, object]:
    """The whole run, so that gaps show."""
    return {
        "type": "rect", "layer": "below", "fillcolor": _BACK, "line": {"width": 0},
        "x0": 0, "x1": row.run.duration_us / 1000, "y0": row.y - _HALF, "y1": row.y + _HALF,
    }  # fmt: skip


def _paths(rows: list[_Row]) -> dict[Category, str]:
    """For each category one path of all its boxes, in ms and lanes."""
    parts: dict[Category, list[str]] = {}
    for row in rows:
        low, high = f"{row.y - _HALF:.4g}", f"{row.y + _HALF:.4g}"
        for event in (row.run.events[index] for index in row.lane.events):
            left, right = _span_ms(event, row.run)
            box = f"M{left:g},{low}L{right:g},{low}L{right:g},{high}L{left:g},{high}Z"
            parts.setdefault(category(event.op_type), []).append(box)
    return {kind: "".join(boxes) for kind, boxes in parts.items()}


def _span_ms(event: Event, run: Run) -> tuple[float, float]:
    """When the operator ran, since the run began."""
    return (event.start_us - run.start_us) / 1000, (event.end_us - run.start_us) / 1000


def _spots(rows: list[_Row], longest: float, profiles: Mapping[str, Profile]) -> go.Scatter:
    """What the pointer finds: points along each box, with what it is."""
    x: list[float] = []
    y: list[int] = []
    texts: list[str] = []
    sources = {
        name: nodes for profile in profiles.values() for name, nodes in profile.kernels.items()
    }
    for row in rows:
        for event in (row.run.events[index] for index in row.lane.events):
            left, right = _span_ms(event, row.run)
            count = 1 + int((right - left) * 1000 / longest * _SPOTS)
            text = _about(event, sources.get(event.node, ()))
            for spot in range(count):
                x.append(round(left + (right - left) * (spot + 0.5) / count, 4))
                y.append(row.y)
                texts.append(text)
    return go.Scatter(
        x=x, y=y, text=texts, mode="none", hovertemplate="%{text}<extra></extra>"
    )  # fmt: skip


def _about(event: Event, nodes: tuple[str, ...]) -> str:
    lines = [
        f"<b>{escape(region_title(event.op_type)[:60])}</b> {three_digits(event.duration_us)} µs",
        escape(event.node[-90:]),
    ]
    if len(nodes) > 1:
        lines.append(f"computes {counted(len(nodes), 'node')} of the file")
    if len(event.workers) > 1:
        cores = ", ".join(str(core) for _, core in event.workers)
        lines.append(f"{counted(len(event.workers), 'thread')}, on cores {cores}")
    return "<br>".join(lines)


def _ends(rows: list[_Row]) -> list[dict[str, object]]:
    """The duration, at the end of each variant's first lane."""
    seen: set[int] = set()
    found: list[dict[str, object]] = []
    for row in rows:
        if id(row.run) not in seen:
            seen.add(id(row.run))
            found.append({
                "x": row.run.duration_us / 1000, "y": row.y, "showarrow": False,
                "xanchor": "left", "xshift": 4,
                "text": f"{three_digits(row.run.duration_us / 1000)} ms",
            })  # fmt: skip
    return found
