from __future__ import annotations

import json
from dataclasses import replace

import pytest

from profiling.config import RunConfig
from profiling.racing.race import Variant
from profiling.timeline.balance import balance
from profiling.timeline.events import Event, Run, parse_profile
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model
from tests.profiling.timeline.measured import measured

pytestmark = pytest.mark.long

LOOP = """
g (float[64,64] x) => (float[64,64] y) {
    zero = Constant<value_float=0.0>()
    total = ReduceSum<keepdims=0>(x)
    large = Greater(total, zero)
    [branch] y = If (large) <
        then_branch = yes () => (float[64,64] a) { [inside] a = MatMul(x, x) },
        else_branch = no () => (float[64,64] b) { [other] b = MatMul(x, x) }
    >
}
"""


def event(node: str, start: int, duration: int, thread: int = 1) -> Event:
    return Event(node, "Op", "", start, duration, thread, 0, 0, 0, 0, None)


def check(run: Run) -> None:
    found = balance(run)
    assert (
        sum(found.own_us) - found.overlap_us + found.executor_us + found.around_us
        == run.duration_us
    )
    assert min((*found.own_us, found.overlap_us, found.executor_us, found.around_us)) >= 0


def test_operators_of_a_body_are_not_counted_twice() -> None:
    run = Run(0, 100, (event("loop", 10, 50), event("a", 15, 10), event("b", 30, 31)), 5, 90)
    found = balance(run)
    assert found.own_us == (10, 10, 31)  # b ends a microsecond late, as rounding has it
    assert (found.overlap_us, found.executor_us, found.around_us) == (0, 39, 10)
    check(replace(run, events=(*run.events, event("c", 60, 3))))


def test_operators_side_by_side_are_told_apart_from_gaps() -> None:
    run = Run(0, 30, (event("a", 0, 20), event("b", 10, 15, thread=2)))
    found = balance(run)
    assert (found.own_us, found.overlap_us, found.gaps_us) == ((20, 15), 10, 5)
    check(run)


@pytest.mark.parametrize(
    "config",
    [
        RunConfig(),
        RunConfig(graph_optimization="all", intra_threads=2),
        RunConfig(execution_mode="parallel", inter_threads=2, memory_pattern=False),
    ],
    ids=["one thread", "two threads", "parallel"],
)
def test_a_real_run_adds_up_to_the_microsecond(shared_pool: WorkerPool, config: RunConfig) -> None:
    found = measured(Variant("v", model(LOOP), config), pool=shared_pool, runs=3)
    for run in found.timeline.runs:
        check(run)
        assert "branch" in {one.node for one in run.events}
        if config.execution_mode == "sequential":
            own = balance(run)
            assert sum(own.own_us) + own.gaps_us == run.duration_us
            assert run.executor_us > 0


def test_the_operators_of_a_real_branch_lie_inside_it(shared_pool: WorkerPool) -> None:
    found = measured(Variant("v", model(LOOP)), pool=shared_pool, runs=1)
    run = found.timeline.runs[0]
    named = {one.node: own for one, own in zip(run.events, balance(run).own_us, strict=True)}
    outer = next(one for one in run.events if one.node == "branch")
    inner = [one for one in run.events if one.node in ("inside", "other")]
    assert inner
    assert named["branch"] == pytest.approx(outer.duration_us - inner[0].duration_us, abs=1)


def test_the_span_of_the_executor_is_read() -> None:
    def span(name: str, ts: int, dur: int) -> dict[str, object]:
        return {"cat": "Session", "name": name, "ts": ts, "dur": dur, "ph": "X", "tid": 1}

    text = json.dumps([span("SequentialExecutor::Execute", 12, 5), span("model_run", 10, 9)])
    run = parse_profile(text).runs[0]
    assert (run.executor_start_us, run.executor_us) == (12, 5)
    assert balance(run).around_us == 4
