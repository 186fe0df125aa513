"""Everything a search tried: cost and error of each plan, and what nothing else beats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from optimizer.numbers import bytes_text, counted, digits, three_digits
from optimizer.verify import ErrorBudget
from profiling.precision.chosen import ChosenPlan
from profiling.precision.evaluation import PlanEvaluation
from profiling.precision.plans import Goal
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, short, titled

LIMIT_COLOR = "#c9512b"
_WITHIN_COLOR = "#10857f"
_HEIGHT = 430
_LEAST_PX, _MOST_PX = 9, 30
_SAME_PX = 14
_ABOVE_DB = 6.0
_NOT_RACED = 1.07
"""Where what was not raced stands, as a share of the axis."""
_MOST_NAME = 34
_LABEL_WIDTH, _LABEL_HEIGHT = 0.24, 0.16
"""Of a name, as shares of the axes."""


def pareto(chosen: ChosenPlan, *, picked: int, title: str) -> go.Figure:
    """What is to be gained against what is lost; where that is time, areas of marks are sizes.

    Args:
        chosen: what was tried so far.
        picked: place of the plan whose table is shown.
        title: says the finding.
    """
    found = chosen.found.evaluations
    shown = [place for place, one in enumerate(found) if not one.failure]
    in_percent = chosen.required.error is not None and chosen.required.error.unit == "%"
    heights = _heights(found, shown, in_percent=in_percent)
    across = {place: _across(chosen, place) for place in shown}
    widest = _widest([x for x in across.values() if x is not None])
    points = {
        place: (widest * _NOT_RACED if x is None else x, heights[place])
        for place, x in across.items()
    }
    figure = go.Figure()
    front = sorted(points[place] for place in chosen.front if across.get(place) is not None)
    figure.add_trace(_line(front))
    figure.add_trace(_marks(chosen, points, picked))
    _label_front(figure, chosen, {p: points[p] for p, x in across.items() if x is not None}, widest)
    if chosen.required.error is not None:
        _draw_budget(figure, chosen.required.error)
    key = {"within the budget": _WITHIN_COLOR, "beyond": LIMIT_COLOR, "float": BEFORE_COLOR}
    kind = "sample" if chosen.samples else "generated input"
    error = "largest error, % of the scale" if in_percent else "signal over error, dB"
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title), key, about=counted(chosen.held, kind)),
        height=_HEIGHT,
        margin={"t": 78},
        xaxis=_cost_axis(figure, chosen.goal, widest, none_raced=None in across.values()),
        yaxis={
            "title": f"{error} ({'less' if in_percent else 'more'} is better)",
            "rangemode": "tozero",
        },
    )
    return figure


def search_title(chosen: ChosenPlan, *, searching: bool = False) -> str:
    """How much was tried, and whether anything is an answer."""
    tried = counted(len(chosen.found.evaluations) - 1, "plan")
    if searching:
        return f"Searching: {tried} tried, {len(chosen.front)} on the front"
    met = "met" if chosen.found.met else "not met"
    if chosen.found.met and not chosen.found.answer:
        met = f"met by none that is {chosen.wanted}"
    return f"{tried} tried, {len(chosen.front)} on the front; {chosen.required}: {met}"


def tried_table(chosen: ChosenPlan) -> dict[str, list[Any]]:
    """A row for everything tried."""
    found, front = chosen.found.evaluations, set(chosen.front)
    within = set(chosen.found.within)
    return {
        "plan": [one.plan.text(chosen.regions) for one in found],
        "MiB": [digits(one.size_bytes / 2**20) for one in found],
        "times as fast": [digits(one.speed.speedup) if one.speed else None for one in found],
        "from": [digits(one.speed.low) if one.speed else None for one in found],
        "to": [digits(one.speed.high) if one.speed else None for one in found],
        "dB": [digits(one.sqnr_db) if math.isfinite(one.sqnr_db) else None for one in found],
        "dB, worst sample": [
            digits(one.worst_db) if math.isfinite(one.worst_db) else None for one in found
        ],
        "largest error, %": [digits(100 * one.scaled) for one in found],
        "within the budget": [place in within for place in range(len(found))],
        "nothing beats it": [place in front for place in range(len(found))],
        "problem": [one.failure for one in found],
    }


def regions_table(chosen: ChosenPlan, place: int) -> dict[str, list[Any]]:
    """A row a region: what it is, and what the plan makes of it."""
    regions = chosen.regions
    return {
        "region": [region.title for region in regions],
        "kind": [region.kind for region in regions],
        "precision": list(chosen.found.evaluations[place].plan.choices),
        "weights, MiB": [digits(region.weight_bytes / 2**20) for region in regions],
        "share of the predicted time, %": [digits(100 * region.share) for region in regions],
        "nodes": [len(region.nodes) for region in regions],
    }


def failed(chosen: ChosenPlan) -> int:
    """Plans without a place in the picture."""
    return sum(bool(one.failure) for one in chosen.found.evaluations)


def _across(chosen: ChosenPlan, place: int) -> float | None:
    """What a plan costs in percent of float; None where nobody knows."""
    one, source = chosen.found.evaluations[place], chosen.found.evaluations[0]
    if chosen.goal == "size":
        return 100 * one.size_bytes / max(1, source.size_bytes)
    if place == 0:
        return 100.0
    return None if one.speed is None else 100 / one.speed.speedup


def _line(points: Sequence[tuple[float, float]]) -> go.Scatter:
    return go.Scatter(
        x=[x for x, _ in points],
        y=[y for _, y in points],
        mode="lines",
        line={"color": BEFORE_COLOR, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
    )


def _marks(
    chosen: ChosenPlan, points: Mapping[int, tuple[float, float]], picked: int
) -> go.Scatter:
    found, within = chosen.found.evaluations, set(chosen.found.within)
    largest = max(found[place].size_bytes for place in points) or 1
    colors = [
        BEFORE_COLOR if place == 0 else _WITHIN_COLOR if place in within else LIMIT_COLOR
        for place in points
    ]
    sizes = [
        max(_LEAST_PX, _MOST_PX * math.sqrt(found[place].size_bytes / largest)) for place in points
    ]
    ends = [_interval(chosen, place) for place in points]
    return go.Scatter(
        x=[x for x, _ in points.values()],
        y=[y for _, y in points.values()],
        error_x={
            "type": "data", "symmetric": False, "thickness": 1, "width": 0, "color": BEFORE_COLOR,
            "arrayminus": [below for below, _ in ends], "array": [above for _, above in ends],
        },
        customdata=[[place] for place in points],
        mode="markers",
        marker={
            "size": sizes if chosen.goal == "speed" else _SAME_PX,
            "color": colors,
            "opacity": 0.85,
            "line": {
                "width": [3 if place == picked else 0 for place in points], "color": AFTER_COLOR,
            },
        },
        unselected={"marker": {"opacity": 0.6}},
        text=[_hover(chosen, place) for place in points],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def _interval(chosen: ChosenPlan, place: int) -> tuple[float, float]:
    """How far the 95 % interval of a time reaches to the left and to the right."""
    speed = chosen.found.evaluations[place].speed
    if speed is None or chosen.goal == "size":
        return 0.0, 0.0
    time = 100 / speed.speedup
    return time - 100 / speed.high, 100 / speed.low - time


def _heights(
    found: Sequence[PlanEvaluation], shown: Sequence[int], *, in_percent: bool
) -> dict[int, float]:
    """Errors; what has none stands above all others."""
    if in_percent:
        return {place: 100 * found[place].scaled for place in shown}
    finite = [found[place].sqnr_db for place in shown if math.isfinite(found[place].sqnr_db)]
    top = max(finite, default=40.0) + _ABOVE_DB
    return {place: min(top, found[place].sqnr_db) for place in shown}


def _widest(costs: Sequence[float]) -> float:
    """Where the axis ends: it grows in steps, so that marks stay while plans come in."""
    return max(120.0, 50.0 * math.ceil(max(costs) / 50 + 0.2))


def _cost_axis(figure: go.Figure, goal: Goal, widest: float, *, none_raced: bool) -> dict[str, Any]:
    """Percent of float, and right of it a place for what has no time."""
    if none_raced:
        figure.add_vline(widest, line={"color": BEFORE_COLOR, "width": 0.5})
        figure.add_annotation(
            x=widest * _NOT_RACED, y=1, yref="paper", yanchor="bottom", text="not raced",
            showarrow=False, font={"size": 11},
        )  # fmt: skip
    step = 20 if widest <= 200 else 100
    what = "size" if goal == "size" else "time"
    return {
        "title": f"{what}, % of float (less is better)",
        "range": [0, widest * (2 * _NOT_RACED - 1 if none_raced else 1)],
        "tickvals": list(range(0, int(widest) + 1, step)),
    }


def _draw_budget(figure: go.Figure, error: ErrorBudget) -> None:
    figure.add_hline(
        error.amount,
        line={"color": LIMIT_COLOR, "width": 1.5, "dash": "dash"},
        annotation={"text": f"budget {error}", "font": {"size": 11, "color": LIMIT_COLOR}},
        annotation_position="bottom left",
    )


def _label_front(
    figure: go.Figure,
    chosen: ChosenPlan,
    points: Mapping[int, tuple[float, float]],
    widest: float,
) -> None:
    """Names of float, of the answer, and of what else is on the front, as far as there is room."""
    tallest = max(y for _, y in points.values()) or 1.0
    taken: list[tuple[float, float]] = []
    for place in dict.fromkeys((0, chosen.found.answer, *chosen.front)):
        if place not in points:
            continue
        x, y = points[place]
        near = any(
            abs(x - u) < _LABEL_WIDTH * widest and abs(y - v) < _LABEL_HEIGHT * tallest
            for u, v in taken
        )
        if near and place not in (0, chosen.found.answer):
            continue
        taken.append((x, y))
        name = short(chosen.found.evaluations[place].plan.text(chosen.regions), _MOST_NAME)
        if place == 0:
            name = "<b>float: no error</b>"
        elif place == chosen.found.answer:
            name = f"<b>answer</b>: {name}"
        figure.add_annotation(
            x=x, y=y, text=name, showarrow=False, yshift=24, font={"size": 11},
            xanchor=_anchor(x / widest),
        )  # fmt: skip


def _anchor(share: float) -> str:
    """By what a name is put over its mark, so that it stays within the axis."""
    if share > 1 - _LABEL_WIDTH / 2:
        return "right"
    return "left" if share < _LABEL_WIDTH / 2 else "center"


def _hover(chosen: ChosenPlan, place: int) -> str:
    one = chosen.found.evaluations[place]
    speed = "" if one.speed is None else f"{three_digits(one.speed.speedup)}× as fast, "
    name = escape(one.plan.text(chosen.regions))
    return f"{name}<br>{speed}{bytes_text(one.size_bytes)}, {_error(one)}"


def _error(one: PlanEvaluation) -> str:
    if not math.isfinite(one.sqnr_db):
        return "no error"
    return f"{one.sqnr_db:.1f} dB, {three_digits(100 * one.scaled)} % of the scale"
