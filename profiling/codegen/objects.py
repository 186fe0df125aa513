"""A kernel as object files, one for each level of processors. Only in a worker process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from profiling.codegen.c_source import c_source
from profiling.codegen.compiler import compile_c
from profiling.codegen.halide_object import compile_object
from profiling.codegen.kernel import CpuLevel, GeneratorId

Generator = Callable[[Algorithm, Schedule, str, CpuLevel, Path], Path]
"""Writes a function of that name for that level into an object file in the folder."""


def compile_plain(
    algorithm: Algorithm, _schedule: Schedule, name: str, level: CpuLevel, folder: Path
) -> Path:
    """An object file with one function of plain loops in C.

    Raises:
        LibraryError: there is no compiler, or a type or size that kernels do not have.
    """
    source, made = folder / f"{name}.c", folder / f"{name}.o"
    source.write_text(c_source(algorithm, name))
    compile_c(source, made, level=level, what=f"kernel {name}")
    return made


GENERATORS: Mapping[GeneratorId, Generator] = {"halide": compile_object, "c": compile_plain}
