"""Hot operators, and how the candidates of one of them compare."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from optimizer.numbers import three_digits, times_text
from profiling.kernels.hotspots import Hotspots
from profiling.kernels.selection import CandidateRow, WorkloadRace
from studio.figures.template import (
    AFTER_COLOR,
    BEFORE_COLOR,
    TEMPLATE,
    interval,
    rows_axis,
    short,
    titled,
)

SHOWN = 10
_SLOWER_COLOR = "#c9512b"
_ROW_PX = 27
_MOST_TITLE = 64
_MOST_TICKS = 7
_SHORT_MS = 0.1
_ROUND = (0.25, 0.5, 2, 4)


def hot_bars(hot: Hotspots, *, raced: frozenset[str], title: str) -> go.Figure:
    """Share of the time by workload, the heaviest first; raced ones in the accent colour.

    Args:
        hot: all workloads.
        raced: keys of those whose candidates were raced.
        title: says the finding.
    """
    shown = hot.operators[:SHOWN]
    rest = hot.operators[SHOWN:]
    labels = [short(operator.workload.title, _MOST_TITLE) for operator in shown]
    shares = [100 * operator.share for operator in shown]
    texts = [f"{share:.3g} %{_times(len(o.nodes))}" for share, o in zip(shares, shown, strict=True)]
    colors = [AFTER_COLOR if operator.workload.key in raced else BEFORE_COLOR for operator in shown]
    if rest:
        labels.append(f"{len(rest)} more")
        shares.append(100 * sum(operator.share for operator in rest))
        texts.append(f"{shares[-1]:.3g} %")
        colors.append("rgba(139,147,163,0.4)")
    figure = go.Figure(
        go.Bar(
            x=shares,
            y=list(range(len(labels))),
            orientation="h",
            marker={"color": colors},
            text=texts,
            textposition="outside",
            textfont={"size": 11},
            cliponaxis=False,
            hovertemplate="%{text}<extra></extra>",
        )
    )
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title), {"raced": AFTER_COLOR, "not raced": BEFORE_COLOR}),
        height=110 + _ROW_PX * len(labels),
        margin={"r": 88},
        xaxis={"title": "% of the time of all operators", "rangemode": "tozero"},
        yaxis=rows_axis(labels),
    )
    return figure


def candidate_dots(raced: WorkloadRace, *, copies: int = 1) -> go.Figure:
    """Speedup of each candidate over the baseline with its interval; the fastest on top.

    Args:
        raced: the candidates, and their race.
        copies: of the workload in each run: times are told of one.
    """
    rows = [row for row in raced.rows() if row.contrast is not None and row.believable]
    figure = go.Figure()
    for position, row in enumerate(rows):
        _dot(figure, row, position, time_text((row.p50_ms or 0) / copies))
    figure.add_vline(x=1, line={"color": BEFORE_COLOR, "width": 1, "dash": "dot"})
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(candidates_title(raced)))
        | {"subtitle": {"text": _about(raced, copies)}},
        height=116 + _ROW_PX * max(2, len(rows)),
        margin={"r": 60, "t": 64},
        xaxis={"title": "times as fast as it is now, 95 % interval", "type": "log", **_ticks(rows)},
        yaxis=rows_axis(f"{escape(row.candidate.label)}{_mark(row)}" for row in rows),
    )
    return figure


def candidates_title(raced: WorkloadRace) -> str:
    """What the race says: the winner and how sure that is."""
    if raced.race is None:
        return f"Not raced: {raced.error}"
    best = raced.winner()
    if best.contrast is None:
        return "It stays as it is: nothing is surely faster"
    label = best.candidate.label
    return f"{label[:1].upper()}{label[1:]}: {times_text(best.contrast.speedup)} as fast"


def _dot(figure: go.Figure, row: CandidateRow, position: int, time: str) -> None:
    found = row.contrast
    assert found is not None
    color = {"faster": AFTER_COLOR, "slower": _SLOWER_COLOR}.get(found.verdict, BEFORE_COLOR)
    label = escape(row.candidate.label)
    interval(
        figure,
        position,
        (found.low, found.speedup, found.high),
        color=color,
        hover=f"{label}<br>%{{x:.3g}}×, {time}",
        symbol="diamond" if row.candidate.lossy else "circle",
    )
    figure.add_annotation(
        x=1,
        xref="paper",
        y=position,
        text=time,
        showarrow=False,
        xanchor="left",
        xshift=6,
        font={"size": 11},
    )


def _ticks(rows: Sequence[CandidateRow]) -> dict[str, object]:
    """Round factors between the ends of all intervals."""
    ends = [end for row in rows if row.contrast for end in (row.contrast.low, row.contrast.high)]
    low, high = min([*ends, 0.9]), max([*ends, 1.1])
    steps = (0.1, 0.125, 0.2, 0.25, 0.33, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1, 1.25,
             1.5, 2, 3, 4, 6, 8, 12)  # fmt: skip
    values = [step for step in steps if low * 0.95 <= step <= high * 1.05]
    kept: list[float] = []
    for value in sorted(values, key=lambda value: (value != 1, value not in _ROUND, value)):
        gap = math.log(high / low) / _MOST_TICKS
        if all(abs(math.log(value / other)) >= gap for other in kept):
            kept.append(value)
    return {"tickvals": kept, "ticktext": [f"{value:g}×" for value in kept], "tickangle": 0}


def _about(raced: WorkloadRace, copies: int) -> str:
    operator, title = raced.operator, short(raced.operator.workload.title, _MOST_TITLE)
    places = _times(len(operator.nodes))
    if not operator.share:  # raced without a profile of its model
        first = raced.row(raced.candidates[0].label)
        now = "" if first.p50_ms is None else f"{time_text(first.p50_ms / copies)} now, "
        return f"{title}{places}: {now}{escape(first.candidate.label)}"
    return f"{title} · {100 * operator.share:.3g} % of the time{places}"


def time_text(latency_ms: float) -> str:
    """A latency with the unit that fits."""
    if latency_ms < _SHORT_MS:
        return f"{three_digits(1000 * latency_ms)} µs"
    return f"{three_digits(latency_ms)} ms"


def _times(places: int) -> str:
    return f", {places} places" if places > 1 else ""


def _mark(row: CandidateRow) -> str:
    return " (fewer bits)" if row.candidate.lossy else ""
