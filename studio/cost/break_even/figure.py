"""When optimizing has paid: time saved so far over inferences done so far."""

from __future__ import annotations

from html import escape
from math import isfinite

import plotly.graph_objects as go

from optimizer.numbers import three_digits
from profiling.worth.break_even import BreakEven
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, interval, titled

_FAR = 2.5
_FARTHEST = 6.0
"""The axis goes this many times as far as the crossing, to see its interval."""

_PLAIN = "rgba(0,0,0,0)"
_BAND = "rgba(91,104,238,0.16)"


def break_even_line(found: BreakEven, *, title: str) -> go.Figure:
    """A line from what optimizing cost to what it has saved; where it meets 0, it has paid.

    Args:
        found: with its race's numbers; the band is the 95 % interval of the saving.
        title: says the finding.
    """
    until = _until(found)
    counts = [0.0, until]
    contrast = found.contrast
    figure = go.Figure()
    figure.add_trace(_line(counts, [found.saved_s(c, contrast.low) for c in counts], _PLAIN))
    upper = _line(counts, [found.saved_s(c, contrast.high) for c in counts], _PLAIN)
    figure.add_trace(upper.update(fill="tonexty", fillcolor=_BAND))
    steps = [until * part / 60 for part in range(61)]
    line = _line(steps, [found.saved_s(c) for c in steps], AFTER_COLOR)
    figure.add_trace(
        line.update(
            hoverinfo=None,
            hovertemplate="%{x:,.0f} inferences: %{y:.3g} s saved<extra></extra>",
        )
    )
    figure.add_hline(0, line={"color": BEFORE_COLOR, "width": 1})
    _start(figure, found)
    if found.pays and found.inferences > 0:
        _crossing(figure, found)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title)),
        height=380,
        xaxis={"title": "inferences", "range": [-0.02 * until, until], "showgrid": True},
        yaxis={"title": "s saved, less what was spent once"},
    )
    return figure


def _until(found: BreakEven) -> float:
    if found.pays and found.inferences > 0:
        high = found.interval[1]
        far = 1.2 * high if isfinite(high) else 0.0
        return min(_FARTHEST * found.inferences, max(_FAR * found.inferences, far))
    return max(100.0, 20_000 * abs(found.extra_s) / found.before_ms)


def _line(counts: list[float], seconds: list[float], color: str) -> go.Scatter:
    return go.Scatter(
        x=counts,
        y=seconds,
        mode="lines",
        line={"color": color, "width": 2 if color != _PLAIN else 0},
        hoverinfo="skip",
    )


def _start(figure: go.Figure, found: BreakEven) -> None:
    spent = found.extra_s
    verb = "spent once" if spent > 0 else "ready sooner by"
    figure.add_annotation(
        x=0,
        y=-spent,
        text=f"{verb} {three_digits(abs(spent))} s",
        showarrow=False,
        xanchor="left",
        yanchor="top" if spent > 0 else "bottom",
        xshift=10,
        yshift=-4 if spent > 0 else 4,
    )


def _crossing(figure: go.Figure, found: BreakEven) -> None:
    low, high = found.interval
    ends = (low, found.inferences, min(high, _until(found)))
    interval(figure, 0, ends, color=AFTER_COLOR, hover=escape(str(found)), symbol="circle")
    figure.add_annotation(
        x=found.inferences,
        y=0,
        text=f"<b>{three_digits(found.inferences)} inferences</b>",
        showarrow=False,
        yshift=16,
        xanchor="right",
    )
