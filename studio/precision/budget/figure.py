"""Everything a search tried: time, error and size of each plan, and what nothing else beats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go

from optimizer.numbers import bytes_text, digits, three_digits
from profiling.precision.chosen import ChosenPlan
from profiling.precision.evaluation import PlanEvaluation
from studio.figures.template import AFTER_COLOR, BEFORE_COLOR, TEMPLATE, titled

LIMIT_COLOR = "#c9512b"
_WITHIN_COLOR = "#10857f"
_HEIGHT = 430
_LEAST_PX, _MOST_PX = 9, 30
_ABOVE_DB = 6.0


def pareto(chosen: ChosenPlan, *, picked: int, title: str) -> go.Figure:
    """Time against error; a mark's area is the size of the file.

    Args:
        chosen: what was tried so far.
        picked: place of the plan whose table is shown.
        title: says the finding.
    """
    found = chosen.found.evaluations
    shown = [place for place, one in enumerate(found) if place == 0 or _is_drawn(one)]
    in_percent = chosen.required.error is not None and chosen.required.error.unit == "%"
    heights = _heights(found, shown, in_percent=in_percent)
    figure = go.Figure()
    front = [place for place in chosen.front if place in heights]
    front.sort(key=lambda place: _time(found[place]))
    figure.add_trace(
        go.Scatter(
            x=[_time(found[place]) for place in front],
            y=[heights[place] for place in front],
            mode="lines",
            line={"color": BEFORE_COLOR, "width": 1.5, "dash": "dot"},
            hoverinfo="skip",
        )
    )
    figure.add_trace(_marks(chosen, shown, heights, picked))
    _label(figure, found[0], heights[0], "float")
    if chosen.found.answer in heights and chosen.found.answer:
        answer = chosen.found.answer
        _label(figure, found[answer], heights[answer], "answer")
    if chosen.required.error is not None:
        amount = chosen.required.error.amount
        figure.add_hline(amount, line={"color": LIMIT_COLOR, "width": 1.5, "dash": "dash"})
    key = {"within the budget": _WITHIN_COLOR, "beyond": LIMIT_COLOR, "float": BEFORE_COLOR}
    error = "largest error, % of the scale" if in_percent else "signal over error, dB"
    figure.update_layout(
        template=TEMPLATE,
        title=titled(escape(title), key),
        height=_HEIGHT,
        margin={"t": 64},
        xaxis={"title": "time, % of float", "range": [0, _widest(found, shown)]},
        yaxis={"title": error, "rangemode": "tozero"},
    )
    return figure


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


def not_drawn(chosen: ChosenPlan) -> int:
    """Plans without a place in the picture: not raced, or failed."""
    return sum(not _is_drawn(one) for one in chosen.found.evaluations[1:])


def _is_drawn(one: PlanEvaluation) -> bool:
    return not one.failure and one.speed is not None


def _marks(
    chosen: ChosenPlan, shown: Sequence[int], heights: dict[int, float], picked: int
) -> go.Scatter:
    found, within = chosen.found.evaluations, set(chosen.found.within)
    largest = max(found[place].size_bytes for place in shown) or 1
    colors = [
        BEFORE_COLOR if place == 0 else _WITHIN_COLOR if place in within else LIMIT_COLOR
        for place in shown
    ]
    widths = [3 if place == picked else 0 for place in shown]
    sizes = [
        max(_LEAST_PX, _MOST_PX * math.sqrt(found[place].size_bytes / largest)) for place in shown
    ]
    return go.Scatter(
        x=[_time(found[place]) for place in shown],
        y=[heights[place] for place in shown],
        customdata=[[place] for place in shown],
        mode="markers",
        marker={
            "size": sizes,
            "color": colors,
            "opacity": 0.85,
            "line": {"width": widths, "color": AFTER_COLOR},
        },
        text=[_hover(chosen, place) for place in shown],
        hovertemplate="%{text}<extra></extra>",
    )


def _heights(
    found: Sequence[PlanEvaluation], shown: Sequence[int], *, in_percent: bool
) -> dict[int, float]:
    """Errors; what has none stands above all others."""
    if in_percent:
        return {place: 100 * found[place].scaled for place in shown}
    finite = [found[place].sqnr_db for place in shown if math.isfinite(found[place].sqnr_db)]
    top = max(finite, default=40.0) + _ABOVE_DB
    return {place: min(top, found[place].sqnr_db) for place in shown}


def _time(one: PlanEvaluation) -> float:
    return 100.0 if one.speed is None else 100 / one.speed.speedup


def _widest(found: Sequence[PlanEvaluation], shown: Sequence[int]) -> float:
    """Where the axis ends: it grows in steps, so that marks stay while plans come in."""
    return max(120.0, 50.0 * math.ceil(max(_time(found[place]) for place in shown) / 50 + 0.2))


def _label(figure: go.Figure, one: PlanEvaluation, height: float, text: str) -> None:
    figure.add_annotation(
        x=_time(one), y=height, text=f"<b>{text}</b>", showarrow=False, yshift=24,
        font={"size": 12},
    )  # fmt: skip


def _hover(chosen: ChosenPlan, place: int) -> str:
    one = chosen.found.evaluations[place]
    speed = "" if one.speed is None else f"{three_digits(one.speed.speedup)}× as fast, "
    name = escape(one.plan.text(chosen.regions))
    return f"{name}<br>{speed}{bytes_text(one.size_bytes)}, {_error(one)}"


def _error(one: PlanEvaluation) -> str:
    if not math.isfinite(one.sqnr_db):
        return "no error"
    return f"{one.sqnr_db:.1f} dB, {three_digits(100 * one.scaled)} % of the scale"
