"""Kernels as one library that ONNX Runtime loads. Only in a worker process."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from optimizer.loops.schedule import ScheduleError
from optimizer.loops.scheduling import NoSchedule, default_schedule
from profiling.codegen.compiler import SHIM, compile_c, link
from profiling.codegen.kernel import LEVELS, VECTOR_BITS, CpuLevel, Kernel, KernelRefused
from profiling.codegen.kernel_table import kernel_table, symbol
from profiling.codegen.objects import GENERATORS
from profiling.codegen.own_schedule import refuse_unsafe

LIBRARY = "kernels.so"


def compiled(kernel: Kernel, level: CpuLevel, folder: Path) -> Path:
    """An object file of a kernel.

    Raises:
        KernelRefused: this one cannot be compiled.
        LibraryError: none can.
    """
    schedule = kernel.schedule
    try:
        if schedule is None:
            schedule = default_schedule(kernel.algorithm, VECTOR_BITS[level])
        elif kernel.generator == "halide":
            refuse_unsafe(schedule)
        generator = GENERATORS[kernel.generator]
        return generator(kernel.algorithm, schedule, symbol(kernel, level), level, folder)
    except (NoSchedule, ScheduleError) as error:
        raise KernelRefused(f"Kernel {kernel.name} has no loops: {error}") from error
    except KernelRefused as error:
        raise KernelRefused(f"Kernel {kernel.name} has no code: {error.message}") from error


def build_library(
    kernels: Sequence[Kernel],
    folder: Path,
    *,
    levels: Sequence[CpuLevel] = LEVELS,
    compiled_by: Callable[[Kernel, CpuLevel, Path], Path] = compiled,
) -> Path:
    """Compile and link kernels.

    Args:
        kernels: each with a name of its own.
        folder: gets the library.
        levels: of processors that it has code for; the best that a processor has is taken when
            the library is loaded.
        compiled_by: gives an object file of a kernel, in the folder that it is given.

    Returns:
        The library's file.

    Raises:
        LibraryError: a kernel cannot be compiled.
    """
    made = folder / LIBRARY
    with tempfile.TemporaryDirectory() as own:
        work = Path(own)
        objects = [compiled_by(kernel, level, work) for kernel in kernels for level in levels]
        table = work / "kernel_table.c"
        table.write_text(kernel_table(kernels, levels))
        link([*objects, *_shim([table, *sorted(SHIM.glob("*.c"))], work)], made)
    return made


def _shim(sources: Iterable[Path], folder: Path) -> list[Path]:
    """What is the same for all levels: a processor of any is asked there which it has."""
    made: list[Path] = []
    for source in sources:
        made.append(folder / f"{source.stem}.o")
        compile_c(source, made[-1], level="baseline", what=f"the shim's {source.name}")
    return made
