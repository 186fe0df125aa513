"""The code of an algorithm for a GPU at all levels, each line with the lines of Triton's program.

Only in a worker, in one of its own. Triton's programs (TTIR, TTGIR), PTX and machine code say
themselves which lines of the source they are from; where they do not, nothing is shown.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from optimizer.codec import Format
from optimizer.loops.algorithm import Algorithm
from profiling.codegen.kernel import LibraryError
from profiling.codegen.triton_candidate import (
    HOPPER,
    SOURCE_FILE,
    TritonBinary,
    build,
    triton_missing,
)
from profiling.codegen.triton_source import triton_program
from profiling.schedules import ptx_lines, sass_lines
from profiling.schedules.gpu_code import disassembled
from profiling.schedules.linked import CodeLevel, CodeLine, cut_level
from profiling.schedules.mlir_lines import mlir_lines
from profiling.schedules.ptxas import KernelUsage, usage_of
from profiling.schedules.source_places import NOWHERE, Places, lines_of

_Placed = Sequence[tuple[str, Places]]
_LINE_INFO = "--print-line-info-inline"


@dataclass(frozen=True, slots=True)
class GpuCode:
    """All levels of an algorithm for a GPU.

    Attributes:
        title: what is computed.
        target: what was compiled for: `sm_90`.
        levels: from Triton's program to machine code, as far as there are tools; the nodes of a
            line are numbers of lines of the first level.
        kernels: what each takes of the GPU.
        missing: why there are no further levels; empty if all are there.
    """

    title: str
    target: str
    levels: tuple[CodeLevel, ...]
    kernels: tuple[KernelUsage, ...]
    missing: str = ""

    def level(self, id: str) -> CodeLevel:
        """One of the levels.

        Raises:
            KeyError: there is none of that name.
        """
        return {one.id: one for one in self.levels}[id]


GPU_CODE = Format(GpuCode, "passlens.gpu-code/1", "linked code for a GPU")


def gpu_linked_code(title: str, algorithm: Algorithm, capability: int = HOPPER) -> GpuCode:
    """Compile an algorithm for a GPU that need not be here, and say what each line is from.

    Args:
        title: what is computed, for people.
        algorithm: what the kernels compute.
        capability: of the GPU, times ten.

    Raises:
        LibraryError: Triton cannot compute this.
    """
    target = f"sm_{capability}"
    source = triton_program(algorithm).source.splitlines()
    own = (CodeLine(text, (number,)) for number, text in enumerate(source))
    levels = [cut_level("triton", "Triton", own)]
    if missing := triton_missing():
        return GpuCode(title, target, tuple(levels), (), f"{missing}.")
    with tempfile.TemporaryDirectory() as folder:
        kernels = build(algorithm, Path(folder), capability)
        levels += _levels(kernels)
        try:
            code = [_machine_code(one, Path(folder)) for one in kernels]
            levels.append(_level("sass", "SASS", code, sass_lines.WIDE))
        except LibraryError as error:
            missing = error.message
    usage = tuple(usage_of(one.name, one.log, one.shared_bytes) for one in kernels)
    return GpuCode(title, target, tuple(levels), usage, missing)


def _levels(kernels: Iterable[TritonBinary]) -> Iterator[CodeLevel]:
    """Those that need nothing but Triton."""
    found = list(kernels)
    yield _level("ttir", "TTIR", [mlir_lines(one.ttir) for one in found])
    yield _level("ttgir", "TTGIR", [mlir_lines(one.ttgir) for one in found])
    yield _level("ptx", "PTX", [ptx_lines.ptx_lines(one.ptx) for one in found], ptx_lines.WIDE)


def _machine_code(kernel: TritonBinary, folder: Path) -> _Placed:
    return sass_lines.sass_lines(disassembled(kernel, folder, _LINE_INFO))


def _level(
    id: str, title: str, parts: Iterable[_Placed], wide: re.Pattern[str] | None = None
) -> CodeLevel:
    """A level of all kernels, with an empty line behind each."""
    is_wide: Callable[[str], object] = wide.search if wide else lambda _: None
    lines = (
        CodeLine(text, lines_of(places, SOURCE_FILE), ("vector",) if is_wide(text) else ())
        for part in parts
        for text, places in (*part, ("", NOWHERE))
    )
    return cut_level(id, title, lines)
