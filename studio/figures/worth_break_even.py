"""When optimizing has paid: time spent so far over inferences done so far."""

from __future__ import annotations

from math import ceil, floor, isfinite, log10

import plotly.graph_objects as go

from profiling.worth.break_even import BreakEven
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, three_digits, titled

_POINTS = 120
_LEAST_DECADES = 3
_MOST_DECADES = 9


def break_even_lines(found: BreakEven) -> go.Figure:
    """Both ways as lines from their first costs on; the band is the 95 % interval.

    Args:
        found: with its race's numbers.
    """
    counts = [10 ** (_decades(found) * i / _POINTS) for i in range(_POINTS + 1)]
    contrast = found.contrast
    ends = (_spent(found, count=c, speedup=contrast.low) for c in counts)
    figure = go.Figure()
    figure.add_trace(_line(counts, list(ends), None))
    band = _line(counts, [_spent(found, count=c, speedup=contrast.high) for c in counts], None)
    band.update(fill="tonexty", fillcolor="rgba(91,104,238,0.16)")
    figure.add_trace(band)
    source = [found.before.total_s + c * found.before_ms / 1000 for c in counts]
    optimized = [_spent(found, count=c, speedup=contrast.speedup) for c in counts]
    figure.add_trace(_line(counts, source, BEFORE_COLOR, "as it is"))
    figure.add_trace(_line(counts, optimized, AFTER_COLOR, "optimized"))
    if found.inferences > 0 and isfinite(found.inferences):
        _mark(figure, found)
    figure.update_layout(
        template=TEMPLATE,
        title=titled(
            f"Optimizing has paid {found}", {"as it is": BEFORE_COLOR, "optimized": AFTER_COLOR}
        ),
        height=360,
        xaxis={"type": "log", "title": "inferences, logarithmic", "dtick": 1},
        yaxis={"type": "log", "title": "s spent so far, logarithmic", "dtick": 1},
    )
    return figure


def _spent(found: BreakEven, *, count: float, speedup: float) -> float:
    return found.after.total_s + count * found.before_ms / 1000 / max(speedup, 1e-6)


def _decades(found: BreakEven) -> int:
    """So far that the crossing and what follows is seen, or one day of nothing else."""
    until = found.interval[1] if isfinite(found.interval[1]) else found.inferences
    if not isfinite(until):
        until = 10 * max(1.0, 1000 * abs(found.extra_s) / found.before_ms)
    return min(_MOST_DECADES, max(_LEAST_DECADES, ceil(log10(max(1.0, until))) + 1))


def _line(
    counts: list[float], seconds: list[float], color: str | None, name: str = ""
) -> go.Scatter:
    return go.Scatter(
        x=counts,
        y=seconds,
        mode="lines",
        name=name,
        line={"color": color or "rgba(0,0,0,0)", "width": 2 if color else 0},
        hoverinfo="skip" if color is None else None,
        hovertemplate=f"{name}<br>%{{x:,.0f}} inferences: %{{y:.3g}} s<extra></extra>"
        if color
        else None,
    )


def _mark(figure: go.Figure, found: BreakEven) -> None:
    x = log10(found.inferences)
    figure.add_vline(found.inferences, line={"color": BEFORE_COLOR, "width": 1, "dash": "dot"})
    seconds = found.before.total_s + found.inferences * found.before_ms / 1000
    figure.add_annotation(
        x=x,
        y=log10(seconds),
        ax=42 if floor(x) < _MOST_DECADES - 1 else -42,
        ay=34,
        text=f"{three_digits(found.inferences)} inferences, {three_digits(seconds)} s",
        arrowcolor=BEFORE_COLOR,
        xanchor="left",
    )
