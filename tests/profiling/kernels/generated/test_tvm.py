"""TVM among the candidates: families lifted from functions, and what is said without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.model.writer import to_bytes
from profiling.codegen.kernel import LibraryError
from profiling.kernels.generated.implementations import AS_RUN, IMPLEMENTATIONS
from profiling.kernels.generated.racing import edge_cases, race_kernel
from profiling.kernels.generated.single import call_of
from profiling.kernels.generated.tvm import TvmCode
from profiling.tvm.objects import tvm_missing
from profiling.tvm.store import library_by_tvm
from profiling.workers import WorkerPool
from tests.profiling.kernels.generated.families import FREE, of_free_sizes
from tests.profiling.kernels.generated.made import MASKED, body_of, kernel_of

NEEDS_TVM = pytest.mark.skipif(bool(tvm_missing()), reason=tvm_missing() or "it is here")
OFFERED = [one for one in IMPLEMENTATIONS if one.label in (AS_RUN, "TVM")]


@NEEDS_TVM
@pytest.mark.slow
@pytest.mark.parametrize("name", FREE)
def test_a_family_lifted_from_its_function_is_right_on_edge_sizes_and_special_values_by_tvm(
    name: str, shared_pool: WorkerPool
) -> None:
    kernel = of_free_sizes(name)
    single = to_bytes(call_of(kernel.body))
    TvmCode().build(single, shared_pool.run_fresh)
    found = TvmCode().check(single, edge_cases(kernel), shared_pool.run_fresh)
    assert found.fault is None
    assert found.cases >= 20


@NEEDS_TVM
@pytest.mark.slow
def test_code_by_tvm_is_raced_as_a_custom_operator(shared_pool: WorkerPool) -> None:
    kernel = kernel_of(body_of(MASKED), n0=64)
    found = race_kernel(kernel, pool=shared_pool, seconds=0.2, offered=OFFERED)
    assert found.raced.row("TVM").p50_ms is not None
    assert found.shipped() is None  # it is raced, not shipped


def test_without_tvm_its_row_says_what_to_install(
    shared_pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profiling.kernels.generated.tvm.tvm_missing", lambda: "TVM is not there")
    kernel = kernel_of(body_of(MASKED), n0=4)
    found = race_kernel(kernel, pool=shared_pool, seconds=0.1, offered=OFFERED)
    assert found.raced.row("TVM").verdict == "not measured: TVM is not there"


@pytest.mark.skipif(not tvm_missing(), reason="TVM is installed")
def test_a_session_that_asks_for_tvm_without_it_fails_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(to_bytes(call_of(body_of(MASKED))))
    with pytest.raises(LibraryError, match=r"TVM is not installed: pip install passlens\[tvm\]"):
        library_by_tvm(path)
