"""Halide's autoschedulers: what they make is imported, and compiles to the same machine code."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from optimizer.errors import StudioError
from optimizer.limits import MIB, JobLimits
from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.evaluation import evaluate
from optimizer.loops.formulas import mul, number
from optimizer.loops.schedule import ComputeRoot, GpuThreads, In, Schedule
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.examples.example import FLOAT, read, tensor
from optimizer.schedules.halide_source.importing import imported
from optimizer.schedules.halide_source.names import source_names
from optimizer.schedules.nest import nest_text
from optimizer.schedules.steps import checked_nest, steps_of
from profiling.codegen.halide_object import code_text
from profiling.codegen.kernel import KernelRefused
from profiling.schedules.autoschedulers import (
    AUTOSCHEDULERS,
    FOR_GPUS,
    Autoscheduler,
    run_autoscheduler,
)
from profiling.schedules.ptx import ptx_of
from profiling.schedules.replay import replayed, same_names
from profiling.schedules.running import random_inputs, realized
from profiling.workers import WorkerPool

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide"),
    pytest.mark.long,
]


def doubled(size: int) -> Algorithm:
    data, i = tensor("data", size), LoopAxis("i", size)
    one = read(data, i.var)
    return Algorithm((data,), (Func("twice", FLOAT, (i,), mul(one, number(2, one))),), ("twice",))


@pytest.mark.parametrize("name", AUTOSCHEDULERS)
@pytest.mark.parametrize("example", ["blur", "matmul"])
def test_an_imported_schedule_compiles_to_the_same_machine_code(
    shared_pool: WorkerPool, example: str, name: Autoscheduler
) -> None:
    algorithm = EXAMPLES[example].make(**EXAMPLES[example].small)
    found = shared_pool(replayed, algorithm, name, "avx2", 2)
    assert (found.problem, found.difference, found.found.left_out) == ("", "", ())
    assert found.lines > 20
    assert found.found.schedule.needs_gpu == (name in FOR_GPUS)
    refusals = {step.refusal for step in steps_of(algorithm, found.found.schedule)} - {""}
    # A window whose loop is written out begins before its first round in Halide.
    assert all("unrolling needs one number" in one for one in refusals), refusals


def test_names_make_no_difference_and_instructions_do() -> None:
    one = "kernel:\n\tvmovups %ymm0, (%rax)  # blur\n.LBB0_1:\n\tjmp .LBB0_1\n.Lfunc_end0:\n"
    other = one.replace("LBB0_1", "LBB7_3").replace("# blur", "# blur$2")
    assert same_names(one) == same_names(other)
    assert same_names(one) != same_names(one.replace("ymm0", "xmm0"))


@pytest.mark.parametrize("name", [one for one in AUTOSCHEDULERS if one not in FOR_GPUS])
def test_autoscheduled_loops_compute_what_numpy_does(
    shared_pool: WorkerPool, name: Autoscheduler
) -> None:
    algorithm = EXAMPLES["conv-nchw"].make(channels=3, filters=16, height=6, width=20)
    made = run_autoscheduler(algorithm, name, pool=shared_pool)
    inputs = random_inputs(algorithm)
    (expected,) = evaluate(algorithm, inputs)
    ((found,),) = shared_pool(realized, algorithm, [made.found.schedule], inputs, "avx2")
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)


def test_a_schedule_for_a_gpu_is_compiled_and_not_run(shared_pool: WorkerPool) -> None:
    algorithm = doubled(4096)
    schedule = run_autoscheduler(algorithm, "Anderson2021", pool=shared_pool).found.schedule
    assert any(isinstance(one, GpuThreads) for one in schedule.primitives)
    ptx = ptx_of(shared_pool(code_text, algorithm, schedule, "avx2", "assembly"))
    assert ".target sm_80" in ptx.splitlines()
    assert "\n.visible .entry _kernel_twice" in ptx
    with pytest.raises(KernelRefused, match="for a GPU"):
        shared_pool(realized, algorithm, [schedule], random_inputs(algorithm), "avx2")


def test_a_single_thread_of_a_gpu_has_a_block_and_a_thread_around_all_loops(
    shared_pool: WorkerPool,
) -> None:
    algorithm = doubled(64)
    text = "twice.compute_root().gpu_single_thread();"
    schedule = imported(text, algorithm, source_names(algorithm)).schedule
    nest = checked_nest(algorithm, schedule)
    lines = [line.strip() for line in nest_text(nest.nodes).splitlines()]
    assert lines[1:4] == ["GPU block gpu_block in 1", "GPU thread gpu_thread in 1", "for i in 64"]
    assert ".entry _kernel_twice" in ptx_of(
        shared_pool(code_text, algorithm, schedule, "avx2", "assembly")
    )


def test_only_the_reader_that_a_copy_is_for_reads_it(shared_pool: WorkerPool) -> None:
    example = EXAMPLES["softmax"]
    algorithm = example.make(**example.small)
    copied = (ComputeRoot("power"), In("power", "copy", "softmax"), ComputeRoot("copy"))
    stmt = shared_pool(code_text, algorithm, Schedule(copied), "avx2", "stmt")
    assert "copy[" in stmt
    inputs = random_inputs(algorithm)
    ((plain,), (found,)) = shared_pool(
        realized, algorithm, [Schedule(), Schedule(copied)], inputs, "avx2"
    )
    np.testing.assert_array_equal(found, plain)


def test_an_autoscheduler_that_ends_its_process_ends_no_other(shared_pool: WorkerPool) -> None:
    with pytest.raises(StudioError, match="Adams2019 gave up on this algorithm"):
        run_autoscheduler(doubled(0), "Adams2019", pool=shared_pool)
    assert run_autoscheduler(doubled(64), "Li2018", pool=shared_pool).found.schedule.primitives


def test_an_autoscheduler_that_takes_long_is_stopped(shared_pool: WorkerPool) -> None:
    algorithm = EXAMPLES["harris"].algorithm
    limits = JobLimits(seconds=0.02, memory_bytes=4096 * MIB)
    with pytest.raises(StudioError, match=r"was stopped after 0\.02 s"):
        run_autoscheduler(algorithm, "Adams2019", pool=shared_pool, limits=limits)
