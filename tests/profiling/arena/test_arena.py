"""The runtime's arena, measured on graphs small enough to know every number beforehand."""

from __future__ import annotations

import pytest

from optimizer.errors import RunError
from profiling.arena.measurement import ArenaMeasurement, arena_of, measure_arena
from profiling.config import RunConfig
from profiling.timeline.events import Event, Memory, Run, Timeline
from profiling.workers import WorkerPool
from tests.optimizer.verify.models import model

KIB = 1024
# 16 x 16 x 4 bytes = 1 KiB each; sums of two inputs that stay alive cannot be written over.
BRANCHES = """g (float[16,16] x) => (float[16,16] y) {
[one] a = Transpose(x)
[two] b = Transpose(a)
[three] c = Concat<axis = 0>(a, b)
[four] y = Slice(c, starts, ends)
}"""
CHAIN = """g (float[n,16] x) => (float[n,16] y) {
[one] a = Transpose<perm = [1, 0]>(x)
[two] b = Transpose<perm = [1, 0]>(a)
[three] c = Transpose<perm = [1, 0]>(b)
[four] y = Transpose<perm = [1, 0]>(c)
}"""


def measured(text: str, pool: WorkerPool, **options: object) -> ArenaMeasurement:
    sizes = {"n": 16}
    return measure_arena(model(text), RunConfig(**options), pool=pool, sizes=sizes)  # type: ignore[arg-type]


def test_live_bytes_after_each_node_and_the_block_are_the_sizes_of_the_values(
    shared_pool: WorkerPool,
) -> None:
    found = measured(CHAIN, shared_pool)
    assert found.order == ("one", "two", "three", "four")
    assert found.shapes == {"x": (16, 16)}
    # Each node holds what it reads and what it makes; the last one's output is the caller's.
    assert found.live_bytes == (KIB, 2 * KIB, 2 * KIB, 2 * KIB)
    assert found.live_peak_bytes == 2 * KIB
    assert found.block_bytes == 2 * KIB
    assert found.held_bytes >= found.block_bytes


def test_without_a_memory_pattern_there_is_no_block(shared_pool: WorkerPool) -> None:
    found = measured(CHAIN, shared_pool, memory_pattern=False)
    assert found.block_bytes == 0
    assert found.live_peak_bytes == 2 * KIB


def test_only_the_arena_of_a_cpu_is_measured(shared_pool: WorkerPool) -> None:
    with pytest.raises(RunError, match="Only the CPU's arena"):
        measured(CHAIN, shared_pool, device="cuda")


def event(node: str, start_us: int, duration_us: int, requested: int, change: int) -> Event:
    memory = Memory(requested, requested, 4096, 4096)
    return Event(node, "Op", "CPU", start_us, duration_us, 1, 0, 0, 0, 0, memory, change)


def test_nodes_that_took_no_time_keep_their_place_and_bodies_are_left_out() -> None:
    long = event("long", 10, 3, 300, 100)
    instant = event("instant", 10, 0, 200, 100)
    inner = event("inner", 11, 1, 250, 50)
    run = Run(0, 20, (long, instant, inner))
    found = arena_of(Timeline(0, 0, (run, run, run)), {"inner"}, {})
    assert found.order == ("instant", "long")
    assert found.base_bytes == 100
    assert found.live_bytes == (100, 200)


def test_a_profile_without_arena_numbers_is_refused() -> None:
    silent = Event("a", "Op", "CPU", 0, 1, 1, 0, 8, 0, 0, None)
    run = Run(0, 2, (silent,))
    with pytest.raises(RunError, match=r"1\.31"):
        arena_of(Timeline(0, 0, (run, run, run)), (), {})
