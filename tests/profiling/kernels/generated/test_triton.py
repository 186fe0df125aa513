"""Triton among the candidates: families lifted from functions, and what is said without a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kernel_models import cases
from optimizer.model.writer import to_bytes
from profiling.codegen.triton_candidate import triton_missing
from profiling.config import RunConfig
from profiling.kernels.generated.checking import first_fault
from profiling.kernels.generated.edge_cases import SPECIAL_VALUES
from profiling.kernels.generated.implementations import AS_RUN, IMPLEMENTATIONS
from profiling.kernels.generated.racing import edge_cases, race_kernel
from profiling.kernels.generated.single import call_of
from profiling.kernels.generated.triton import Interpreted, TritonCode, compiled
from profiling.workers import WorkerPool
from tests.profiling.kernels.generated.families import CASES, FREE, of_free_sizes
from tests.profiling.kernels.generated.made import MASKED, body_of, kernel_of

NEEDS_TRITON = pytest.mark.skipif(bool(triton_missing()), reason=triton_missing() or "it is here")


def test_there_is_a_case_of_each_of_the_nine_families() -> None:
    assert {case.family for case in CASES.values()} == {case.family for case in cases()}


@NEEDS_TRITON
@pytest.mark.slow
@pytest.mark.parametrize("name", FREE)
def test_a_family_lifted_from_its_function_compiles_and_is_right_on_edge_sizes_and_special_values(
    name: str, shared_pool: WorkerPool
) -> None:
    kernel = of_free_sizes(name)
    assert not TritonCode().supports(kernel.body)
    single = to_bytes(call_of(kernel.body))
    built = shared_pool.run_fresh(compiled, single)
    assert all(".target sm_90" in text for text in built.values())
    found = TritonCode().check(single, edge_cases(kernel), shared_pool.run_fresh)
    assert found.fault is None
    floats = [one for one in kernel.body.signature.inputs if one.dtype == "FLOAT"]
    assert found.cases >= len(SPECIAL_VALUES) * len(floats) + 5


def subtracting(_path: Path, _config: RunConfig) -> Interpreted:
    """What takes the mask off instead of putting it on."""
    return Interpreted(body_of(MASKED.replace("Add", "Sub")))


@NEEDS_TRITON
@pytest.mark.slow
def test_the_first_wrong_element_of_a_kernel_in_the_interpreter_is_named(
    shared_pool: WorkerPool,
) -> None:
    kernel = kernel_of(body_of(MASKED), n0=4)
    single = to_bytes(call_of(kernel.body))
    found = shared_pool.run_fresh(
        first_fault, single, RunConfig(), edge_cases(kernel)[:1], subtracting
    )
    assert str(found.fault).startswith("y0[0, 0] is ")


def test_without_a_gpu_triton_has_no_time_and_says_why(
    shared_pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profiling.kernels.generated.racing.gpu_name", lambda: "")
    monkeypatch.setattr(
        "profiling.codegen.triton_candidate.triton_missing", lambda: "Triton is not installed"
    )
    offered = [one for one in IMPLEMENTATIONS if one.label in (AS_RUN, "Triton")]
    found = race_kernel(
        kernel_of(body_of(MASKED), n0=4), pool=shared_pool, seconds=0.1, offered=offered
    )
    row = found.raced.row("Triton")
    assert row.verdict == "not measured: no NVIDIA GPU here; Triton is not installed"
    assert (row.p50_ms, row.candidate.target) == (None, "cuda")
    assert "Triton" not in found.checked
