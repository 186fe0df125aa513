"""The peak over all steps of a rewrite, as a strip."""

from __future__ import annotations

from itertools import pairwise

import plotly.graph_objects as go

from optimizer.numbers import unit_of
from studio.figures.template import AFTER_COLOR, TEMPLATE, titled
from studio.memory.plan_text import peaks_text
from studio.memory.walk.job import Walk

_STRIP_PX = 150


def walk_strip(walk: Walk, step: int) -> go.Figure:
    """A line over the steps of a trace, with a mark at the one that is looked at.

    Args:
        walk: of the trace.
        step: the one that is looked at.
    """
    known = [size for size in walk.bound_bytes if size is not None]
    unit = unit_of(max(known, default=0))
    figure = go.Figure(
        go.Scatter(
            x=walk.steps,
            y=[size / unit.size if size is not None else None for size in walk.bound_bytes],
            mode="lines+markers",
            line={"shape": "hv", "width": 1.5, "color": AFTER_COLOR},
            marker={"size": 4},
            hovertemplate=f"step %{{x}}: %{{y:.4g}} {unit.name}<extra></extra>",
        )
    )
    figure.add_vline(step, line={"color": AFTER_COLOR, "width": 1, "dash": "dot"})
    figure.update_xaxes(title="step of the rewrite", range=[-0.5, walk.steps[-1] + 0.5])
    most = max(known, default=0) / unit.size
    figure.update_yaxes(title=unit.name, range=[0, most * 1.1 or 1], nticks=4)
    figure.update_layout(
        template=TEMPLATE, title=titled(_finding(walk)), height=_STRIP_PX, margin={"t": 34}
    )
    return figure


def _finding(walk: Walk) -> str:
    known = [(s, b) for s, b in zip(walk.steps, walk.bound_bytes, strict=True) if b is not None]
    if not known:
        return "Most alive at once: unknown at every step"
    (_, first), (_, last) = known[0], known[-1]
    unit = unit_of(max(size for _, size in known))
    if all(size == first for _, size in known):
        return f"Most alive at once stays {unit.text(last)}: no rewrite touches the peak"
    drops = [
        (now - earlier, step, step - before > 1)
        for (before, earlier), (step, now) in pairwise(known)
    ]
    change, step, skipped = min(drops)
    text = f"Most alive at once over the rewrite: {peaks_text(first, last)}"
    if change >= 0:
        return text
    where = f"by step {step}" if skipped else f"at step {step}"
    return f"{text}; most goes {where}, {unit_of(-change).text(-change)}"
