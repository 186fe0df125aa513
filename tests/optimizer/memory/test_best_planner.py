"""Best of all and local search: what goes on when the fast planners stay above the bound."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

import onnx
import pytest
from hypothesis import given, settings

from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.buffer import Buffer
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.registry import Budget, make_plan, planners
from optimizer.source import open_source
from profiling.workers import default_pool
from studio import gallery
from tests.optimizer.memory.random_buffers import drawn_buffers, smallest_peak

ALONE = LifetimeOptions(views=False, in_place=False)
LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
HAS_EXACT = any(known.id == "exact" for known in planners())


def network(path: Path, options: LifetimeOptions, **bind: int) -> tuple[Buffer, ...]:
    model = open_source(path, isolate=default_pool(), bind=bind)
    return lifetimes(model.ir.graph, options).buffers()


@pytest.mark.parametrize(
    ("planner_id", "note"),
    [("best", r"Found by local-search."), ("local-search", r"Rankings tried: \d+.")],
)
def test_mobilenet_meets_the_bound_where_all_fast_planners_fail(planner_id: str, note: str) -> None:
    buffers = network(gallery.open_path("mobilenetv2"), ALONE, batch=1)
    fast = [make_plan(known.id, buffers) for known in planners() if known.speed == "fast"]
    assert min(plan.peak_bytes for plan in fast) > fast[0].bound_bytes
    plan = make_plan(planner_id, buffers, Budget(seconds=60))
    assert plan.certificate == "meets the bound"
    assert re.fullmatch(note, plan.note)


def test_densenet_and_resnet_meet_the_bound() -> None:
    for name in ("light_densenet121", "light_resnet50"):
        for options in (ALONE, LifetimeOptions()):
            buffers = network(LIGHT / f"{name}.onnx", options)
            assert make_plan("best", buffers, Budget(seconds=60)).certificate == "meets the bound"


@pytest.mark.skipif(not HAS_EXACT, reason="there is no exact search")
@settings(max_examples=60)
@given(drawn_buffers(most=7, last_step=7, largest=5, unit=1))
def test_the_best_plan_of_a_few_buffers_is_the_smallest_there_is(buffers: list[Buffer]) -> None:
    plan = make_plan("best", buffers, Budget(seconds=60))
    assert plan.peak_bytes == smallest_peak(buffers)
    assert plan.certificate is not None


def test_a_goal_above_the_bound_is_enough() -> None:
    """Local search would go on for an hour; what the fast planners find is below the goal."""
    buffers = network(gallery.open_path("mobilenetv2"), ALONE, batch=1)
    lazy = make_plan("lazy-best-fit", buffers).peak_bytes
    plan = make_plan("best", buffers, Budget(seconds=3600, goal_bytes=lazy))
    assert plan.peak_bytes <= lazy
    assert plan.certificate is None


def test_a_cancelled_search_ends_with_a_plan() -> None:
    calls = count()
    budget = Budget(seconds=3600, cancelled=lambda: next(calls) > 3)
    buffers = network(gallery.open_path("mobilenetv2"), ALONE, batch=1)
    plan = make_plan("local-search", buffers, budget)
    assert plan.peak_bytes >= plan.bound_bytes
    assert next(calls) < 100
