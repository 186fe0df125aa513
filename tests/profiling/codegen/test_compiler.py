"""The C compiler that is found, and what is said where there is none or it refuses."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

from optimizer.dimension import symbol
from optimizer.limits import JobLimits
from optimizer.loops.algorithm import Algorithm, Func, InputTensor, LoopAxis
from optimizer.loops.scalar import Number
from profiling.codegen.c_source import c_source
from profiling.codegen.compiler import compile_c, compiler
from profiling.codegen.kernel import CpuLevel, Kernel, LibraryError
from profiling.codegen.levels import cpu_level
from profiling.codegen.library import build_library, compiled
from profiling.workers import WorkerPool
from tests.profiling.codegen import kernel_algorithms as made
from tests.profiling.codegen import library_jobs as jobs
from tests.profiling.codegen.generated_models import crashing


def _in_usr_bin(name: str) -> str:
    return f"/usr/bin/{name}"


def _nothing(_name: str) -> None:
    """Not here."""


def test_cc_is_taken_first_and_zigs_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", _in_usr_bin)
    assert compiler().command == ("/usr/bin/cc",)
    monkeypatch.setattr(shutil, "which", _nothing)
    assert compiler().command == (sys.executable, "-m", "ziglang", "cc")


def test_without_a_compiler_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "which", _nothing)
    monkeypatch.setattr(importlib.util, "find_spec", _nothing)
    with pytest.raises(LibraryError, match="install ziglang with pip, or a `cc`"):
        compiler()


def test_another_machine_is_told_that_no_kernels_are_made_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(LibraryError, match="made for Linux on x86-64; this is Linux on aarch64"):
        compiler()


def test_what_a_compiler_refuses_is_told_with_the_kernels_name(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    (tmp_path / "wrong.c").write_text("int f(void) { return missing; }\n")
    with pytest.raises(LibraryError, match=r"refuses kernel softmax_1: '.*missing.*undeclared"):
        shared_pool(_compile_wrong, tmp_path)


def _compile_wrong(folder: Path) -> None:
    compile_c(folder / "wrong.c", folder / "wrong.o", level="baseline", what="kernel softmax_1")


def test_a_size_that_no_input_has_is_refused() -> None:
    axis = LoopAxis("i", symbol("missing"))
    x = InputTensor("x", made.FLOAT, ())
    func = Func("y", made.FLOAT, (axis,), Number(0.0, made.FLOAT))
    with pytest.raises(LibraryError, match="how large missing is: no input has such an axis"):
        c_source(Algorithm((x,), (func,), ("y",)), "kernel")


def test_an_element_type_that_kernels_do_not_have_is_refused() -> None:
    x = InputTensor("x", ir.DataType.COMPLEX64, (4,))
    axes = made.axes_of([4])
    func = Func("y", ir.DataType.COMPLEX64, axes, made.read(x, axes))
    with pytest.raises(LibraryError, match="no elements of type COMPLEX64"):
        c_source(Algorithm((x,), (func,), ("y",)), "kernel")


def test_the_best_variant_that_the_processor_has_is_taken(
    tmp_path: Path, shared_pool: WorkerPool
) -> None:
    """All others crash."""
    _run_softmax(shared_pool(_build_best, tmp_path), shared_pool)


@pytest.mark.slow
def test_zigs_compiler_makes_the_same_library(tmp_path: Path, shared_pool: WorkerPool) -> None:
    """The worker finds no `cc`."""
    limits = JobLimits(seconds=600.0)
    library = shared_pool.run_fresh(_build_by_zig, tmp_path, limits=limits)
    _run_softmax(library, shared_pool)


SOFTMAX = made.plain("softmax", made.masked_softmax())


def _run_softmax(library: Path, pool: WorkerPool) -> None:
    x, mask = np.ones((2, 5, 7), np.float32), np.zeros((5, 7), np.float32)
    ((found,),) = pool(jobs.run_each, library, [(SOFTMAX, [[x, mask]])])
    np.testing.assert_allclose(found[0], 1 / 7, rtol=1e-6)


def _build_best(folder: Path) -> Path:
    return build_library([SOFTMAX], folder, compiled_by=_right_for_this_processor)


def _right_for_this_processor(kernel: Kernel, level: CpuLevel, folder: Path) -> Path:
    return (compiled if level == cpu_level() else crashing)(kernel, level, folder)


def _build_by_zig(folder: Path) -> Path:
    shutil.which = _nothing
    return _build_best(folder)
