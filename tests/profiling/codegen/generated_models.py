"""A model with two generated kernels, and what the tests do with it in workers."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from optimizer.loops.schedule import ScheduleError
from optimizer.model.writer import to_bytes
from optimizer.passes.kernels.generate_kernels import GenerateKernels
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.verify.jobs import Request
from profiling.codegen import library as library_module
from profiling.codegen import store as store_module
from profiling.codegen.compiler import compile_c
from profiling.codegen.kernel import CpuLevel, Kernel
from profiling.codegen.kernel_table import symbol
from profiling.codegen.levels import cpu_level
from profiling.codegen.library import build_library
from profiling.codegen.objects import compile_plain
from profiling.codegen.store import build_missing, kernels_of, library_of
from profiling.config import RunConfig
from profiling.config.providers import GeneratedKernels
from profiling.execution.session import open_session
from profiling.kernels.hotspots import hotspots_of
from profiling.timeline.recorder import Recorder
from tests.optimizer.graphs import loaded, parsed

Array = np.ndarray[Any, Any]

TEXT = """
<ir_version: 10, opset_import: ["" : 20]>
main (float[N, 12, 64, 64] x, float[N, 1, 1, 64] m, float[64, 64] w) => (float[N, 12, 64, 64] y)
<float h = {0.5}>
{
   a = Mul (x, h)
   b = Add (a, m)
   p = Softmax <axis = -1> (b)
   q = MatMul (p, w)
   c = Sigmoid (q)
   d = Mul (c, q)
   y = Add (d, x)
}
"""


def source_bytes() -> bytes:
    return to_bytes(loaded(parsed(TEXT)).ir)


def generated_bytes() -> bytes:
    """A masked softmax and a SiLU with a residual as kernels, a product between them."""
    trace = optimize(loaded(parsed(TEXT)), Pipeline((GenerateKernels(),)))
    assert len(trace.rewrites) == 2, trace.declined
    return to_bytes(Cursor.at_end(trace).model)


def feeds() -> dict[str, Array]:
    rng = np.random.default_rng(0)
    shapes = {"x": (2, 12, 64, 64), "m": (2, 1, 1, 64), "w": (64, 64)}
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def result(model: Path, cache: Path, kernels: GeneratedKernels) -> Array:
    """What the model computes; in a worker."""
    os.environ["PASSLENS_CACHE"] = str(cache)
    session = open_session(model, replace(RunConfig(), generated_kernels=kernels))
    return session.run(None, feeds())[0]


def result_without_compilers(model: Path, cache: Path) -> Array:
    """The same on a machine that has none; in a worker of its own."""
    shutil.which = importlib.util.find_spec = _nothing
    return result(model, cache, "c")


def result_without_halide(model: Path, cache: Path) -> Array:
    """The same where Halide is not installed; in a worker of its own."""
    sys.modules["halide"] = None  # pyright: ignore[reportArgumentType] # so an import fails
    return result(model, cache, "halide")


def result_with_library_gone(model: Path, cache: Path) -> Array:
    """The same where somebody deletes the library just before; in a worker of its own."""

    def deleted(*asked: Any) -> Path | None:
        library = library_of(*asked)
        assert library is not None
        library.unlink()
        return library

    store_module.library_of = deleted
    return result(model, cache, "c")


def result_with_softmax_refused(model: Path, cache: Path) -> tuple[Array, tuple[str, ...]]:
    """The same where one kernel has no code, and what is told; in a worker of its own."""

    def refusing(algorithm: Any, schedule: Any, name: str, *where: Any) -> Path:
        if "Softmax" in name:
            raise ScheduleError(0, "a test refuses it")
        return compile_plain(algorithm, schedule, name, *where)

    library_module.GENERATORS = {"c": refusing}
    return result(model, cache, "c"), build_missing(model, "c")


def told_with_softmax_refused(model: Path, cache: Path) -> tuple[tuple[str, ...], ...]:
    """What a profile and the hot operators tell of it; in a worker of its own."""
    result_with_softmax_refused(model, cache)
    config = replace(RunConfig(), generated_kernels="c")
    recorder = Recorder(model, config, Request(seeds=1), folder=cache)
    recorder.run()
    return recorder.finish().left_out, hotspots_of(model, config, 1).left_out


def built(model: Path, cache: Path, kernels: str = "c") -> Path | None:
    """Its library; in a worker."""
    os.environ["PASSLENS_CACHE"] = str(cache)
    return library_of(model, "halide" if kernels == "halide" else "c")


def _nothing(_name: str) -> None:
    """No compiler here."""


def plant_crash(model: Path, cache: Path) -> None:
    """Have the library in the cache write to where nothing is; in a worker."""
    library = built(model, cache)
    assert library is not None
    build_library(
        kernels_of(model, "c"), library.parent, levels=[cpu_level()], compiled_by=crashing
    )
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    (library.parent / "sha256").write_text(digest)


def plant_for_another_processor(model: Path, cache: Path, shim: Path) -> None:
    """Have the library in the cache need AVX-512, and find none; in a worker of its own."""
    library = built(model, cache)
    assert library is not None
    shutil.copytree(library_module.SHIM, shim)
    told = '#include "processor.h"\n#include "kernels.h"\n'
    (shim / "processor.c").write_text(f"{told}int processor_level(void) {{ return BASELINE; }}\n")
    library_module.SHIM = shim
    build_library(kernels_of(model, "c"), library.parent, levels=["avx512"])
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    (library.parent / "sha256").write_text(digest)


def crashing(kernel: Kernel, level: CpuLevel, folder: Path) -> Path:
    """An object file whose kernel writes to where nothing is."""
    name = symbol(kernel, level)
    source, made = folder / f"{name}.c", folder / f"{name}.o"
    source.write_text(f"int {name}(void) {{ return *(volatile int *)0 = 1; }}\n")
    compile_c(source, made, level=level, what=name)
    return made
