"""A schedule for a GPU: statements and PTX, and the loops that they come from."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import ComputeAt, GpuBlocks, GpuThreads, Reorder, Schedule, Split
from optimizer.schedules.examples import EXAMPLES
from profiling.schedules.linked import LINKED_CODE, LinkedCode
from profiling.schedules.linked_ptx import linked_ptx
from profiling.workers import WorkerPool

pytestmark = pytest.mark.skipif(find_spec("halide") is None, reason="needs Halide")
TILES = Schedule(
    (
        Split("relu", "j", "jo", "ji", 16),
        Reorder("relu", ("i", "jo", "ji")),
        GpuBlocks("relu", "i"),
        GpuBlocks("relu", "jo"),
        GpuThreads("relu", "ji"),
        ComputeAt("product", "relu", "jo"),
        GpuThreads("product", "j"),
        Reorder("product", ("k", "j"), 1),
        GpuThreads("product", "j", 1),
    )
)
"""Of a matrix product: a tile of 16 sums in each block, whose threads share k."""


def of_product(pool: WorkerPool) -> LinkedCode:
    one = EXAMPLES["matmul"]
    return pool(_last_of_two, one.make(**one.small))


def _last_of_two(algorithm: Algorithm) -> LinkedCode:
    """The second time, names have a number behind them in Halide."""
    linked_ptx("", algorithm, TILES, "avx2")
    return linked_ptx("product", algorithm, TILES, "avx2")


def loops_of(found: LinkedCode, level: str, text: str) -> set[str]:
    """Loops, or Funcs where there is none, of the lines that have a text."""
    lines = [line for line in found.level(level).lines if text in line.text]
    assert lines, text
    nodes = [found.nodes[node] for line in lines for node in line.nodes]
    return {node.loop or node.func for node in nodes}


def test_statements_and_ptx_of_a_gpu_are_linked_to_the_loops_that_they_name(
    shared_pool: WorkerPool,
) -> None:
    found = of_product(shared_pool)
    assert [level.id for level in found.levels] == ["nest", "stmt", "ptx"]
    assert loops_of(found, "stmt", "gpu_block<CUDA> (relu.s0.i.") == {"i"}
    assert loops_of(found, "stmt", "gpu_block<CUDA> (relu.s0.j.jo.") == {"jo"}
    assert loops_of(found, "stmt", "for (product.s1.k") == {"k"}
    assert loops_of(found, "ptx", ".visible .entry") == {"i"}
    assert loops_of(found, "ptx", "fma.rn.f32") == {"k"}
    assert LINKED_CODE.loads(LINKED_CODE.dumps(found)) == found


def test_what_stands_behind_a_loop_in_ptx_is_of_the_whole_kernel(shared_pool: WorkerPool) -> None:
    found = of_product(shared_pool)
    assert loops_of(found, "ptx", "_end_for_product.s1.k") == {"i"}
    assert loops_of(found, "ptx", "st.global") == {"i"}, "threads of two stages are one"
