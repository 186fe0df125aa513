"""Libraries of models with generated kernels: built once, kept by content, said when not."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from optimizer.errors import WorkerCrashed
from profiling.codegen import levels
from profiling.codegen.kernel import LibraryError
from profiling.workers import WorkerPool
from studio.artifacts.contents import clear, usage
from tests.profiling.codegen import generated_models as made

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    path.write_bytes(made.generated_bytes())
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def library(model: Path, cache: Path, shared_pool: WorkerPool) -> Path:
    found = shared_pool(made.built, model, cache)
    assert found is not None
    return found


@pytest.mark.parametrize("generator", ["c", "halide"])
def test_a_session_runs_the_kernels_and_gives_what_the_function_bodies_give(
    model: Path, cache: Path, library: Path, shared_pool: WorkerPool, generator: str
) -> None:
    if generator == "halide":
        pytest.importorskip("halide", reason="Halide is not installed")
    kernels = shared_pool(made.result, model, cache, generator)
    bodies = shared_pool(made.result, model, cache, "off")
    np.testing.assert_allclose(kernels, bodies, rtol=1e-5, atol=1e-6)
    assert not np.array_equal(kernels, bodies), "the same to the last bit: no kernel has run"


def test_a_kernel_that_is_refused_runs_as_its_operators_and_the_other_has_its_code(
    model: Path, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    run = partial(made.result_with_softmax_refused, model, tmp_path)
    one, told = shared_pool.run_fresh(run)
    assert len(told) == 1
    assert told[0].startswith("Kernel Mul_Add_Softmax_")
    assert told[0].endswith("Primitive 0 of the schedule cannot be applied: a test refuses it.")
    bodies = shared_pool(made.result, model, tmp_path, "off")
    np.testing.assert_allclose(one, bodies, rtol=1e-5, atol=1e-6)
    assert not np.array_equal(one, bodies), "the same to the last bit: no kernel has run"


def test_profiles_and_hot_operators_tell_of_a_kernel_that_is_refused(
    model: Path, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    profile, hot = shared_pool.run_fresh(partial(made.told_with_softmax_refused, model, tmp_path))
    assert profile == hot
    assert [told.partition("_")[0] for told in profile] == ["Kernel Mul"]


def test_a_library_is_built_once_and_again_where_it_is_deleted_or_damaged(
    model: Path, cache: Path, library: Path, shared_pool: WorkerPool
) -> None:
    def build() -> int:
        assert shared_pool(made.built, model, cache) == library
        return library.stat().st_ino

    first = build()
    assert build() == first
    whole = library.read_bytes()
    library.write_bytes(whole[: len(whole) // 2])
    assert build() != first
    assert library.read_bytes() == whole
    library.unlink()
    build()
    assert library.read_bytes() == whole


def test_a_crash_in_a_kernel_is_told_with_the_kernels_name_and_what_it_computes(
    model: Path, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    shared_pool(made.plant_crash, model, tmp_path)
    told = r"died of SIGSEGV .* 'result', in 'kernel Mul_Add_Softmax_\w+ \(Mul, Add, Softmax\)'"
    with pytest.raises(WorkerCrashed, match=told):
        shared_pool(made.result, model, tmp_path, "c")


def test_a_model_without_generated_functions_has_no_library(
    tmp_path: Path, cache: Path, shared_pool: WorkerPool
) -> None:
    (tmp_path / "model.onnx").write_bytes(made.source_bytes())
    assert shared_pool(made.built, tmp_path / "model.onnx", cache) is None


def test_a_session_without_a_compiler_is_told_what_to_install(
    model: Path, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    run = partial(made.result_without_compilers, model, tmp_path)
    with pytest.raises(LibraryError, match="install ziglang with pip"):
        shared_pool.run_fresh(run)


def test_a_session_without_halide_is_told_what_to_install(
    model: Path, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    run = partial(made.result_without_halide, model, tmp_path)
    with pytest.raises(LibraryError, match="Halide is not installed, which compiles kernels"):
        shared_pool.run_fresh(run)


def test_a_library_that_is_deleted_before_a_session_loads_it_is_said(
    model: Path, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    run = partial(made.result_with_library_gone, model, tmp_path)
    with pytest.raises(LibraryError, match=r"cannot be loaded: .*kernels\.so") as told:
        shared_pool.run_fresh(run)
    assert "\n" not in told.value.message
    found = shared_pool(made.result, model, tmp_path, "c")
    assert found.shape == (2, 12, 64, 64), "the next session has it built again"


def test_a_library_for_another_processor_is_refused_with_what_it_needs(
    model: Path, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    plant = partial(made.plant_for_another_processor, model, tmp_path, tmp_path / "shim")
    shared_pool.run_fresh(plant)
    told = r"Kernel \w+ was built for processors with AVX-512; this one has none"
    with pytest.raises(LibraryError, match=told):
        shared_pool(made.result, model, tmp_path, "c")


def test_a_cache_that_cannot_be_written_is_said(
    model: Path, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    (tmp_path / "kernels").write_text("in the way")
    with pytest.raises(LibraryError, match=r"library cannot be kept in '.*kernels'"):
        shared_pool(made.built, model, tmp_path)


def test_kernels_are_counted_as_part_of_the_cache_and_go_with_it(
    model: Path, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    shared_pool(made.built, model, tmp_path)
    (tmp_path / "zig" / "o").mkdir(parents=True)
    (tmp_path / "zig" / "o" / "libc.a").write_bytes(bytes(1000))
    counts = {kind.kind: kind.count for kind in usage(tmp_path).kinds}
    assert counts == {"library of kernels": 1, "kernel": 2, "C library, compiled": 1}
    clear(tmp_path)
    assert usage(tmp_path).count == 0
    assert not (tmp_path / "zig").exists()


def test_a_processor_without_sse4_gets_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "flags", lambda: frozenset({"sse2"}))
    with pytest.raises(LibraryError, match="need a processor with SSE4"):
        levels.cpu_level()
    monkeypatch.setattr(levels, "flags", lambda: frozenset({"sse4_1", "avx2", "fma"}))
    assert levels.cpu_level() == "baseline"
