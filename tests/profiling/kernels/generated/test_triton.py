"""Triton among the candidates: families lifted from functions, and what is said without a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx
import pytest

from benchmarks.kernel_families import generated
from benchmarks.kernel_models import KernelCase, cases
from optimizer.model.generated_functions import KernelBody, is_generated, kernel_body
from optimizer.model.writer import to_bytes
from profiling.codegen.triton_candidate import triton_missing
from profiling.config import RunConfig
from profiling.kernels.generated.checking import first_fault
from profiling.kernels.generated.edge_cases import SPECIAL_VALUES
from profiling.kernels.generated.implementations import AS_RUN, IMPLEMENTATIONS
from profiling.kernels.generated.placed import PlacedKernel
from profiling.kernels.generated.racing import edge_cases, race_kernel
from profiling.kernels.generated.single import call_of
from profiling.kernels.generated.triton import Interpreted, TritonCode, compiled
from profiling.workers import WorkerPool
from tests.profiling.kernels.generated.made import MASKED, body_of, kernel_of

NEEDS_TRITON = pytest.mark.skipif(bool(triton_missing()), reason=triton_missing() or "it is here")
FREE: Mapping[str, Mapping[int, int | str]] = {
    "seven operators, 64×12544": {64: 3, 112: "n"},
    "softmax(scale·x + mask), 1×12×128×128, mild": {12: 2, 128: "n"},
    "RMSNorm, 32×512 with residual": {32: "n"},
    "residual + bias + LayerNorm, 64×768": {64: "n"},
    "rotary embedding, 8×32×64": {8: "h", 32: "n"},
    "SiLU·up, 32×1376": {32: "n", 1376: "k"},
    "bias + Gelu(erf), 64×3072": {64: "n"},
    "dequantize·x, 64×768": {64: "n", 768: "k"},
    "Transpose with arithmetic, 56×56×96 channels first": {56: "n"},
}
"""One case of each family, and which of its sizes become free, or smaller."""
CASES = {case.name: case for case in cases() if case.name in FREE}


def lifted(case: KernelCase, renamed: Mapping[int, int | str]) -> KernelBody:
    """The function that the planner makes of a family whose sizes are changed."""
    model = onnx.load_model_from_string(case.model)
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            new = renamed.get(dim.dim_value, dim.dim_value)
            if isinstance(new, str):
                dim.dim_param = new
            else:
                dim.dim_value = new
    changed = KernelCase(case.family, case.shape, model.SerializeToString())
    made = onnx.load_model_from_string(to_bytes(generated(changed)))
    (function,) = (one for one in made.functions if is_generated(one))
    return kernel_body(function)


def of_free_sizes(name: str) -> PlacedKernel:
    body = lifted(CASES[name], FREE[name])
    told = {size for one in body.signature.inputs for size in one.shape if isinstance(size, str)}
    return kernel_of(body, **dict.fromkeys(sorted(told), 6))


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
