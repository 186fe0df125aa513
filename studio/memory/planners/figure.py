"""What every planner makes of one arena: a bar each, against the most that is alive at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from optimizer.memory.plan import Plan
from optimizer.numbers import three_digits, times_text, unit_of
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, titled
from studio.memory.plan_text import proof_text, times_bound

BOUND = "#10857f"
_ROW_PX = 34
_ROOM = 1.12
_TEXT_ROOM = 1.5
"""The axis goes on for the texts beside the bars."""


def cut_at(plans: Sequence[Plan]) -> int:
    """Where the axis ends: a planner that needs twice what the others do is cut off there."""
    peaks = sorted(plan.peak_bytes for plan in plans)
    bound = max(plan.bound_bytes for plan in plans)
    usual = [peak for peak in peaks if peak <= 2 * max(1, bound)] or peaks[:1]
    return round(max(*usual, bound, 1) * _ROOM)


def planner_bars(plans: Sequence[Plan], titles: Mapping[str, str], *, title: str) -> go.Figure:
    """A bar a planner, from naive to clever.

    Args:
        plans: of one arena.
        titles: of the planners, by id.
        title: says the finding.
    """
    end = cut_at(plans)
    unit = unit_of(end)
    bound = max(plan.bound_bytes for plan in plans)
    names = [titles.get(plan.planner, plan.planner) for plan in plans]
    figure = go.Figure(
        go.Bar(
            y=names,
            x=[min(plan.peak_bytes, end) / unit.size for plan in plans],
            orientation="h",
            marker={
                "color": [AFTER_COLOR if plan.certificate else BEFORE_COLOR for plan in plans],
                "pattern": {"shape": ["/" if plan.peak_bytes > end else "" for plan in plans]},
            },
            text=["\u2002" + bar_text(plan, cut=plan.peak_bytes > end) for plan in plans],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    figure.add_vline(
        bound / unit.size,
        line={"color": BOUND, "width": 1.5, "dash": "dash"},
        annotation={"text": f"most alive at once {unit.text(bound)}", "font": {"color": BOUND}},
        annotation_position="top",
    )
    figure.update_xaxes(title=unit.name, range=[0, end / unit.size * _TEXT_ROOM])
    figure.update_yaxes(autorange="reversed")
    figure.update_layout(
        template=TEMPLATE,
        title=titled(title, {"proven optimal": AFTER_COLOR, "not proven": BEFORE_COLOR}),
        height=130 + _ROW_PX * len(plans),
        margin={"t": 84},
    )
    return figure


def bar_text(plan: Plan, *, cut: bool = False) -> str:
    """Peak, multiple of the bound, time, certificate."""
    amount = unit_of(plan.peak_bytes).text(plan.peak_bytes)
    goes_on = "⟶ " if cut else ""
    spent = f"{three_digits(plan.seconds * 1000)} ms"
    if plan.seconds >= 1:
        spent = f"{three_digits(plan.seconds)} s"
    proof = {"meets the bound": "proven", "search exhausted": "proven, search exhausted"}
    certificate = proof[plan.certificate] if plan.certificate else "not proven"
    return f"{goes_on}{amount} · {times_bound(plan)} bound · {spent} · {certificate}"


def planners_finding(plans: Sequence[Plan], titles: Mapping[str, str]) -> str:
    """The title: how good the best one is, how bad the first."""
    best = min(plans, key=lambda p: (p.peak_bytes, p.certificate is None, p.seconds))
    worst = max(plans, key=lambda p: p.peak_bytes)
    smallest = sum(plan.peak_bytes == best.peak_bytes for plan in plans)
    text = f"{unit_of(best.peak_bytes).text(best.peak_bytes)}, {proof_text(best)}"
    who = titles.get(best.planner, best.planner)
    found = f"found by {smallest} of {len(plans)}" if smallest > 1 else f"found by {who} alone"
    if worst.peak_bytes == best.peak_bytes:
        return f"Every planner: {text}"
    times = times_text(worst.peak_bytes / max(1, best.peak_bytes))
    name = titles.get(worst.planner, worst.planner).lower()
    return f"{text}, {found}; {name} takes {times} as much"
