"""What a pass is worth beside the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from profiling.config import RunConfig
from profiling.config.question import with_question
from profiling.racing.samples import Contrast
from profiling.worth.ablation import PassWorth
from profiling.worth.waterfall import Metric
from studio.cost.waterfall.figure import amount_in, scale_of
from studio.figures.template import (
    AFTER_COLOR,
    BEFORE_COLOR,
    TEMPLATE,
    interval,
    rows_axis,
    short,
    titled,
)

_ROW_PX = 26
_MOST_LABEL = 34
TURN_COLOR = "#c9512b"


def ablation_dots(
    worth: Sequence[PassWorth],
    turn: Mapping[str, int],
    metric: Metric,
    titles: Mapping[str, str],
) -> go.Figure:
    """Three answers to what a pass saves: at its turn, alone, and missed if it is left out.

    Args:
        worth: of every pass that fired.
        turn: what each saved in the waterfall, by pass; empty if that is not known.
        metric: of all of them.
        titles: of the passes, by id.
    """
    series = [
        ("missed if left out", AFTER_COLOR, "circle", [w.missing for w in worth]),
        ("alone", BEFORE_COLOR, "circle-open", [w.alone for w in worth]),
        ("at its turn", TURN_COLOR, "line-ns-open", [turn.get(w.pass_id) for w in worth]),
    ]
    series = [entry for entry in series if any(value is not None for value in entry[3])]
    known = [value for *_, values in series for value in values if value is not None]
    scale = scale_of(metric, max(map(abs, known), default=0))
    unit = f"{scale.name.removesuffix(' moved')} saved"
    figure = go.Figure()
    for row in range(len(worth)):
        told = [v / scale.size for *_, values in series if (v := values[row]) is not None]
        figure.add_shape(
            type="line", x0=min(told), x1=max(told), y0=row, y1=row,
            line={"color": BEFORE_COLOR, "width": 1}, layer="below",
        )  # fmt: skip
    for name, color, symbol, values in series:
        figure.add_trace(
            go.Scatter(
                x=[None if value is None else value / scale.size for value in values],
                y=list(range(len(worth))),
                mode="markers",
                marker={
                    "color": color,
                    "symbol": symbol,
                    "size": 11,
                    "line": {"width": 2, "color": color},
                },
                customdata=[escape(titles[w.pass_id]) for w in worth],
                hovertemplate=f"%{{customdata}}<br>{name}: %{{x:,.4g}} {unit}<extra></extra>",
            )
        )
    figure.update_layout(
        template=TEMPLATE,
        title=titled(_title(worth, metric, titles), {name: color for name, color, *_ in series}),
        height=120 + _ROW_PX * len(worth),
        xaxis={"title": unit, "zeroline": True, "showgrid": True},
        yaxis=rows_axis(short(titles[w.pass_id], _MOST_LABEL) for w in worth),
    )
    return figure


def _title(worth: Sequence[PassWorth], metric: Metric, titles: Mapping[str, str]) -> str:
    if not worth:
        return "No pass fired"
    best = worth[0]
    scale = scale_of(metric, abs(best.missing))
    if best.missing <= 0:
        return "No pass is missed: the others do its work"
    silent = sum(w.missing == 0 for w in worth)
    rest = f"; {silent} of {len(worth)} would not be missed" if silent else ""
    return f"{escape(titles[best.pass_id])} is missed most, {amount_in(scale, best.missing)}{rest}"


def interactions(worth: Sequence[PassWorth], titles: Mapping[str, str]) -> go.Figure | None:
    """Who fires more or less when another pass is left out; None where nobody does."""
    rows = [w for w in worth if w.others]
    if not rows:
        return None
    columns = sorted({name for w in rows for name in w.others}, key=list(titles).index)
    figure = go.Figure(
        go.Heatmap(
            z=[[_compressed(w.others.get(name, 0)) for name in columns] for w in rows],
            x=[short(titles[name], _MOST_LABEL) for name in columns],
            y=[short(titles[w.pass_id], _MOST_LABEL) for w in rows],
            text=[[_signed(w.others.get(name, 0)) for name in columns] for w in rows],
            texttemplate="%{text}",
            hovertemplate="without %{y}<br>%{x}: %{text} rewrites<extra></extra>",
            colorscale=[[0, "#c9603c"], [0.5, "rgba(128,128,128,0.06)"], [1, "#3f78b5"]],
            zmid=0,
            showscale=False,
            xgap=2,
            ygap=2,
        )
    )
    count = sum(len(w.others) for w in rows)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(
            f"{len(rows)} of {len(worth)} passes change what others do, in {count} places",
            {"fires less": "#c9603c", "fires more": "#3f78b5"},
        ),
        height=210 + _ROW_PX * len(rows),
        xaxis={"tickangle": -35, "showgrid": False, "title": "rewrites of this pass"},
        yaxis={"autorange": "reversed", "showgrid": False, "title": "left out"},
    )
    return figure


def latency_without(
    found: Mapping[str, Contrast], titles: Mapping[str, str], config: RunConfig
) -> go.Figure:
    """How much slower the model is without a pass; hollow where that is not clear.

    Args:
        found: all passes against all but one, by the one that is left out; at least one.
        titles: of the passes, by id.
        config: how all ran.
    """
    order = sorted(found, key=lambda name: -found[name].speedup)
    clear = [found[name].verdict != "no_clear_difference" for name in order]
    figure = go.Figure()
    for row, (one, filled) in enumerate(zip((found[name] for name in order), clear, strict=True)):
        low, middle, high = (100 * (times - 1) for times in (one.low, one.speedup, one.high))
        interval(
            figure, row, (low, middle, high), color=AFTER_COLOR, hover=escape(str(one)),
            filled=filled, symbol="circle",
        )  # fmt: skip
    best = (
        f"Without {escape(titles[order[0]])} {100 * (found[order[0]].speedup - 1):+.3g} % latency"
    )
    title = best if any(clear) else "Whichever pass is left out: no clear difference"
    figure.update_layout(
        template=TEMPLATE,
        title=titled(with_question(config, title)),
        height=120 + _ROW_PX * len(order),
        xaxis={"title": "latency without the pass against all passes, %", "zeroline": True},
        yaxis=rows_axis(short(titles[name], _MOST_LABEL) for name in order),
    )
    return figure


def _compressed(change: int) -> float:
    """Its sign and its order of magnitude, so that one large number does not hide the others."""
    return (len(str(abs(change))) if change else 0) * (1 if change > 0 else -1)


def _signed(change: int) -> str:
    return "" if change == 0 else f"{change:+,}".replace("-", "−")
