"""Kernels whose output takes an input's memory, in sessions."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
import onnx
import pytest
from onnx import helper

from optimizer.dimension import symbol
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.evaluation import evaluate
from optimizer.loops.scalar import apply, index
from optimizer.loops.schedule import Schedule
from profiling.codegen import kernel_table
from profiling.codegen.kernel import Kernel
from profiling.codegen.kernel_table import in_place
from profiling.codegen.levels import cpu_level
from profiling.codegen.library import build_library
from profiling.workers import WorkerPool
from tests.profiling.codegen import algorithms
from tests.profiling.codegen.algorithms import Maker
from tests.profiling.codegen.library_jobs import Array, model_of, session_of

N, K = symbol("n"), symbol("k")

CASES: dict[str, tuple[Algorithm, tuple[int, ...]]] = {
    "elements": (algorithms.silu(N, K), (33, 70)),
    "rows_of_a_vector_and_more": (algorithms.softmax(3, N, 49), (3, 7, 49)),
    "long_rows": (algorithms.softmax(3, N, K), (3, 5, 1001)),
    "norm": (algorithms.layer_norm(N, 100), (9, 100)),
    "columns": (algorithms.channel_norm(2, 24, 77), (2, 24, 77)),
    "planes": (algorithms.mirrored(N, 3, 17), (5, 3, 17)),
}


def backwards() -> Algorithm:
    """Rows from their last element on: an element is overwritten before it is read."""
    m = Maker()
    x = m.input("x", (N, 64))
    return m.algorithm(
        m.func("y", (N, 64), lambda at: m.at(x, [at[0], apply("sub", index(63), at[1])]))
    )


def between_signs(kernel: Kernel) -> onnx.ModelProto:
    """A kernel whose inputs are computed, and needed by nobody else."""
    model = model_of(kernel.name, kernel.algorithm)
    (node,) = model.graph.node
    names = [*node.input]
    changed = [helper.make_node("Neg", [name], [f"{name}_"]) for name in names]
    node.input[:] = [f"{name}_" for name in names]
    (name,) = node.output
    node.output[:] = [f"{name}_"]
    after = helper.make_node("Neg", [f"{name}_"], [name])
    del model.graph.node[:]
    model.graph.node.extend([*changed, node, after])
    return model


def run_between(
    folder: Path, kernels: Sequence[Kernel], feeds: Sequence[Sequence[Array]]
) -> list[Array]:
    """What each gives in the middle of a session, its sign changed back."""
    library = build_library(kernels, folder, levels=[cpu_level()])
    found: list[Array] = []
    for kernel, given in zip(kernels, feeds, strict=True):
        session = session_of(library, between_signs(kernel))
        names = [one.name for one in kernel.algorithm.inputs]
        fed = {name: -array for name, array in zip(names, given, strict=True)}
        found.append(-session.run(None, fed)[0])
    return found


def run_overwritten(folder: Path, kernel: Kernel, given: Array) -> Array:
    """The same of a kernel of which is said what is not so."""
    with patch.object(kernel_table, "in_place", return_value=[0]):
        return run_between(folder, [kernel], [[given]])[0]


def inputs_of(algorithm: Algorithm, shape: Sequence[int]) -> list[Array]:
    rng = np.random.default_rng(0)
    sizes = {str(size): one for size, one in zip(algorithm.inputs[0].shape, shape, strict=True)}
    extents = [
        [size if isinstance(size, int) else sizes[str(size)] for size in tensor.shape]
        for tensor in algorithm.inputs
    ]
    return [rng.uniform(-2, 2, one).astype(np.float32) for one in extents]


@pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide")
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_an_output_in_the_memory_of_an_input_is_right(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    kernels = [Kernel(name, one, None, "halide", name) for name, (one, _) in CASES.items()]
    assert all(in_place(kernel, [cpu_level()]) for kernel in kernels)
    feeds = [inputs_of(algorithm, shape) for algorithm, shape in CASES.values()]
    found = shared_pool(run_between, tmp_path, kernels, feeds)
    for kernel, given, made in zip(kernels, feeds, found, strict=True):
        (wanted,) = evaluate(kernel.algorithm, given)
        np.testing.assert_allclose(made, wanted, rtol=2e-5, atol=2e-6, err_msg=kernel.name)


@pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide")
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_the_runtime_takes_the_memory_that_it_is_told_of(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    kernel = Kernel("backwards", backwards(), None, "halide", "backwards")
    assert in_place(kernel, [cpu_level()]) == []
    given = np.arange(128, dtype=np.float32).reshape(2, 64)
    (right,) = shared_pool(partial(run_between, tmp_path), [kernel], [[given]])
    np.testing.assert_array_equal(right, given[:, ::-1])
    (tmp_path / "said").mkdir()
    wrong = shared_pool(run_overwritten, tmp_path / "said", kernel, given)
    assert not np.array_equal(wrong, right)


def test_nothing_is_taken_where_the_order_of_the_loops_is_another() -> None:
    algorithm = algorithms.silu(N, K)
    assert in_place(Kernel("plain", algorithm, Schedule(), "c", "plain"), ["avx2"]) == []
    assert in_place(Kernel("given", algorithm, Schedule(), "halide", "given"), ["avx2"]) == []
    assert in_place(Kernel("made", algorithm, None, "halide", "made"), ["avx2"]) == [0, 1]
