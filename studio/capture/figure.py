"""A captured graph: its three stages, and its kernels beside those launched one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from optimizer.numbers import three_digits
from profiling.cuda.device_trace import DeviceEvent, DeviceTrace
from profiling.cuda.launches import Stage, idle_ns, lanes, short_name, span_ns
from studio.figures.template import TEMPLATE, color_of, titled

_STAGE_NAMES = {"define": "define", "instantiate": "instantiate", "execute": "execute once"}
_MOST_EVENTS = 4000
_LANE_PX = 34


def stage_bars(rows: Mapping[str, Sequence[Stage]], *, title: str) -> go.Figure:
    """The stages side by side, one row a graph.

    Args:
        rows: by label of the row.
        title: the finding.
    """
    figure = go.Figure()
    names = list(dict.fromkeys(stage.name for stages in rows.values() for stage in stages))
    for index, name in enumerate(names):
        figure.add_trace(
            go.Bar(
                x=[_time_of(stages, name) for stages in rows.values()],
                y=list(map(escape, rows)),
                orientation="h",
                name=_STAGE_NAMES[name],
                marker={"color": color_of(index + 1)},
                text=[_stage_label(stages, name) for stages in rows.values()],
                textposition="auto",
                hovertemplate="%{y}: %{text}<extra></extra>",
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        barmode="stack",
        title=titled(title, {_STAGE_NAMES[n]: color_of(i + 1) for i, n in enumerate(names)}),
        height=120 + 44 * len(rows),
        xaxis={"title": "ms on the host; a replay until the GPU is done"},
        yaxis={"autorange": "reversed", "showgrid": False},
    )
    return figure


def _time_of(stages: Sequence[Stage], name: str) -> float:
    return sum(stage.time_ms for stage in stages if stage.name == name)


def _stage_label(stages: Sequence[Stage], name: str) -> str:
    found = [stage for stage in stages if stage.name == name]
    if not found:
        return ""
    at_most = "at most " if found[0].origin == "difference" and name == "define" else ""
    return f"{_STAGE_NAMES[found[0].name]} {at_most}{three_digits(found[0].time_ms)} ms"


def launch_timeline(traces: Mapping[str, DeviceTrace], colors: Mapping[str, str]) -> go.Figure:
    """Kernels of one run of each side on one time axis, from the first kernel on.

    Args:
        traces: one run each, by label of the side.
        colors: by label.
    """
    figure, rows = go.Figure(), list[str]()
    for label, trace in traces.items():
        start = min((event.start_ns for event in trace.events), default=0)
        for lane, events in lanes(trace.events[:_MOST_EVENTS]).items():
            rows.append(f"{escape(label)}<br>{lane}")
            figure.add_trace(_lane(events, row=rows[-1], start_ns=start, color=colors[label]))
    figure.update_layout(
        template=TEMPLATE,
        title=titled(gap_title(traces), dict(colors)),
        barmode="overlay",
        height=130 + _LANE_PX * max(2, len(rows)),
        bargap=0.25,
        xaxis={"title": "µs since the first kernel began", "rangemode": "tozero"},
        yaxis={"autorange": "reversed", "showgrid": False, "categoryarray": rows},
    )
    return figure


def _lane(events: Sequence[DeviceEvent], *, row: str, start_ns: int, color: str) -> go.Bar:
    return go.Bar(
        base=[(event.start_ns - start_ns) / 1e3 for event in events],
        x=[(event.end_ns - event.start_ns) / 1e3 for event in events],
        y=[row] * len(events),
        orientation="h",
        marker={"color": color, "line": {"width": 0}},
        customdata=[escape(short_name(event.name)) for event in events],
        hovertemplate="%{customdata}<br>%{x:.3g} µs<extra></extra>",
    )


def gap_title(traces: Mapping[str, DeviceTrace]) -> str:
    """How much of each run the GPU waits for launches."""
    texts: list[str] = []
    for label, trace in traces.items():
        whole = span_ns(trace.events)
        if whole:
            idle = idle_ns(trace.events)
            texts.append(
                f"{escape(label)} {three_digits(idle / 1e3)} of {three_digits(whole / 1e3)} µs"
            )
    return f"GPU without work: {'; '.join(texts)}" if texts else "CUPTI saw no kernels"
