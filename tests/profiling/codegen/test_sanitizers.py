"""The shim and kernels in C under AddressSanitizer and UBSan, over all edge shapes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from profiling.codegen.compiler import compile_c
from profiling.codegen.kernel import CpuLevel, Kernel
from profiling.codegen.kernel_table import symbol
from profiling.codegen.library import build_library
from tests.profiling.codegen import kernel_algorithms as made
from tests.profiling.codegen import library_jobs as jobs
from tests.profiling.codegen.region_kernels import drawn, kernel_of
from tests.profiling.codegen.test_c_kernels import FAMILIES, FUNCTIONS, Case

ROOT = Path(__file__).parents[3]
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
SANITIZED = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}
PAST_THE_END = """
#include "abi.h"
int NAME(void *context, halide_buffer_t *x, halide_buffer_t *b, halide_buffer_t *y, void *z) {
  for (int i = 0; i <= y->dim[0].extent * y->dim[1].extent; i++) ((float *)y->host)[i] = 0;
  return 0;
}
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """In which `cc` builds with the sanitizers, and a program has them loaded first."""
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no `cc`, whose sanitizers these are")
    libraries = [
        subprocess.run(
            [cc, f"-print-file-name=lib{name}.so"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("asan", "ubsan")
    ]
    if not all(Path(library).is_absolute() for library in libraries):
        pytest.skip("this compiler has no sanitizers")
    folder = tmp_path_factory.mktemp("compiler")
    (folder / "cc").write_text(f'#!/bin/sh\nexec {cc} {FLAGS} "$@"\n')
    (folder / "cc").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, **SANITIZED, "PATH": path, "LD_PRELOAD": " ".join(libraries)}


def _run(function: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """A function of this file in a Python of its own."""
    code = f"from pathlib import Path; from {__name__} import {function} as f; f(Path('{folder}'))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "PYTHONPATH": str(ROOT), "PASSLENS_CACHE": str(folder)},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stderr


def cases() -> list[Case]:
    """Families at their edges, every function, and random regions: the same in every process."""
    found = [*FUNCTIONS, *FAMILIES]
    for case in drawn(RANDOM):
        kernel = kernel_of(case.body, "c")
        assert kernel is not None, "what was drawn has loops"
        found.append((kernel, [case.given(feeds) for _, feeds, _ in case.runs]))
    return found


def build_all(folder: Path) -> None:
    """Without the sanitizers in this process: they only slow it down."""
    os.environ.pop("LD_PRELOAD")
    build_library([kernel for kernel, _ in cases()], folder, levels=["baseline"])


def run_all(folder: Path) -> None:
    jobs.run_each(folder / "kernels.so", cases(), threads=2)


def build_wrong(folder: Path) -> None:
    os.environ.pop("LD_PRELOAD")
    build_library([TWO], folder, levels=["baseline"], compiled_by=_past_the_end)


def run_wrong(folder: Path) -> None:
    jobs.run_each(folder / "kernels.so", [case for case in FAMILIES if case[0].name == "two"])


RANDOM = 60
TWO = made.plain("two", made.two_outputs())


def _past_the_end(kernel: Kernel, level: CpuLevel, folder: Path) -> Path:
    source, object_file = folder / "wrong.c", folder / "wrong.o"
    source.write_text(PAST_THE_END.replace("NAME", symbol(kernel, level)))
    compile_c(source, object_file, level=level, what=kernel.name)
    return object_file


def test_all_kernels_in_c_run_clean_over_their_edge_shapes(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    code, said = _run("build_all", tmp_path, environment)
    assert (code, said) == (0, ""), said
    code, said = _run("run_all", tmp_path, environment)
    assert (code, said) == (0, "")


def test_a_write_past_the_end_of_an_output_is_seen(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    assert _run("build_wrong", tmp_path, environment) == (0, "")
    code, said = _run("run_wrong", tmp_path, environment)
    assert code != 0
    assert "heap-buffer-overflow" in said
