from __future__ import annotations

import statistics
from dataclasses import replace
from itertools import accumulate

import pytest

from profiling.config import RunConfig
from profiling.racing.race import Variant
from profiling.timeline.balance import balance
from profiling.timeline.events import Event, Run
from profiling.timeline.profiler_cost import ProfilerCost, of_trivial_nodes, of_variant
from profiling.timeline.stretches import Stretches, typical
from profiling.workers import WorkerPool
from studio.gallery import gallery
from tests.optimizer.verify.models import model
from tests.profiling.timeline.measured import measured

pytestmark = pytest.mark.long

AROUND_US = 10.0


def run_of(nodes_us: list[float], gap_us: float) -> Run:
    """A run as the profiler notes it: so long each node, so long between two."""
    ends = list(accumulate(us + gap_us for us in nodes_us))
    events = tuple(
        Event(f"n{i}", "Op", "", AROUND_US / 2 + end - gap_us - us, us, 1, i, 0, 0, 0, None)
        for i, (end, us) in enumerate(zip(ends, nodes_us, strict=True))
    )
    inside_us = ends[-1]
    return Run(0, inside_us + AROUND_US, events, AROUND_US / 2, inside_us)


def profiled(nodes_us: list[float], cost: ProfilerCost) -> Run:
    """What the profiler makes of nodes that take so long."""

    def noted_us(us: float) -> float:
        within = cost.reach_us * (1 - cost.slower)
        work_us = us / (1 - cost.slower) if us < within else us + cost.slower * cost.reach_us
        return work_us + cost.node_us

    return run_of([noted_us(us) for us in nodes_us], cost.between_us)


def test_a_chain_of_trivial_nodes_tells_what_the_profiler_adds() -> None:
    bare_us = AROUND_US + 200 * 0.15
    found = of_trivial_nodes([run_of([2.15] * 200, 4.0)] * 3, [bare_us, bare_us, 9000.0])
    assert found.node_us == pytest.approx(2.0)
    assert found.between_us == pytest.approx(4.0)


NODES_US = [0.5, 1.0, 3.0, 8.0, 40.0, 300.0] * 20
TRUE = ProfilerCost(2.0, 5.0, 0.2)


def test_what_the_profiler_added_to_made_up_nodes_is_found_and_taken_off() -> None:
    run = profiled(NODES_US, TRUE)
    bare_us = [AROUND_US + sum(NODES_US)] * 5
    cost = of_variant(replace(TRUE, slower=0.0, between_us=4.0), [run] * 5, bare_us)
    assert cost.slower == pytest.approx(TRUE.slower)
    assert cost.between_us == pytest.approx(TRUE.between_us)
    bare = cost.taken_off(run)
    assert [one.duration_us for one in bare.events] == pytest.approx(NODES_US)
    assert bare.duration_us == pytest.approx(bare_us[0])
    assert cost.run_us == bare_us[0]


def test_runs_that_scatter_say_little_about_tiny_shares() -> None:
    run = profiled(NODES_US, TRUE)
    bare_us = AROUND_US + sum(NODES_US)
    trivial = replace(TRUE, slower=0.0)
    steady, noisy = [bare_us] * 20, [bare_us, bare_us] + [bare_us + 2000.0] * 18
    sure, unsure = (of_variant(trivial, [run] * 5, each) for each in (steady, noisy))
    assert 0 < unsure.slower < sure.slower / 2


def test_no_node_takes_less_than_nothing_and_the_order_of_nodes_stays() -> None:
    cost = ProfilerCost(2.0, 5.0, 0.4)
    noted_us = [0.0, 0.5, 1.9, 2.0, 2.1, 3.0, 17.9, 18.1, 19.0, 500.0]
    times = [cost.work_us(us) for us in noted_us]
    assert min(times) == 0
    assert times == sorted(times)
    assert times[-1] == pytest.approx(500 - 2.0 - 0.4 * 16)


def test_a_run_without_the_profiler_adds_up_and_keeps_its_order() -> None:
    body = Run(
        0,
        100,
        (
            Event("loop", "If", "", 10, 50, 1, 0, 0, 0, 0, None),
            Event("a", "Op", "", 15, 10, 1, 0, 0, 0, 0, None),
            Event("b", "Op", "", 30, 29, 1, 0, 0, 0, 0, None),
        ),
        5,
        90,
    )
    found = ProfilerCost(2.0, 4.0).taken_off(body)
    parts = balance(found)
    # of the body's 5, 5 and 1 µs of its own the profiler took 2, 4 and 1
    assert parts.own_us == pytest.approx((4.0, 8.0, 27.0))
    assert sum(parts.own_us) + parts.gaps_us == pytest.approx(found.duration_us)
    assert found.events[0].end_us >= found.events[2].end_us


def test_operators_side_by_side_become_shorter_where_they_are() -> None:
    both = tuple(Event(n, "Op", "", 5, 20, t, 0, 0, 0, 0, None) for n, t in (("a", 1), ("b", 2)))
    found = ProfilerCost(2.0, 4.0).taken_off(Run(0, 30, both))
    assert [(one.start_us, one.duration_us) for one in found.events] == [(5, 18), (5, 18)]
    assert found.duration_us == 30


@pytest.mark.parametrize(
    "config",
    [
        RunConfig(graph_optimization="all", gelu_approximation=True),
        RunConfig(cpu_arena_growth="same_as_requested", intra_threads=2),
        RunConfig(execution_mode="parallel", inter_threads=2, memory_pattern=False),
    ],
    ids=["fusions", "shared arena", "parallel"],
)
def test_it_is_measured_under_the_options_of_the_variant(
    shared_pool: WorkerPool, config: RunConfig
) -> None:
    text = "g (float[64,64] x) => (float[64,64] y) {\n[a] b = MatMul(x, x)\n[c] y = Exp(b)\n}"
    found = measured(Variant("v", model(text), config), pool=shared_pool, runs=3)
    assert found.profiler is not None
    assert found.profiler.node_us > 0
    assert found.steady is not None
    noted = typical(found.timeline.runs[1:])
    for bare, one in zip(found.steady.events, noted.events, strict=True):
        assert 0 <= bare.duration_us < max(1, one.duration_us)


@pytest.mark.thorough
@pytest.mark.alone
def test_all_nodes_of_a_network_of_tiny_nodes_take_no_longer_than_a_run_of_it(
    shared_pool: WorkerPool,
) -> None:
    """Mamba's nodes as the profiler notes them add up to about twice a run.

    Runs of a machine that is now fast and now slow differ by as much: a slow one of them counts,
    and one time of three at which it was the same throughout is enough.
    """
    config = RunConfig(graph_optimization="disabled", intra_threads=1)
    shares: list[float] = []
    for _ in range(3):
        variant = Variant("v", gallery.open_path("mamba"), config)
        found = measured(variant, pool=shared_pool, runs=11)
        assert found.profiler is not None
        assert found.steady is not None
        nodes_us = sum(balance(found.steady).own_us)
        noted = Stretches.of(typical(found.timeline.runs[1:]))
        assert noted is not None
        assert 0 < nodes_us < noted.total_us("work")
        *_, slow = statistics.quantiles(found.profiler.bare_us, n=4)
        shares.append(nodes_us / slow)
        if shares[-1] <= 1.1:
            return
    pytest.fail(f"nodes as a share of a run, three times: {shares}")
