"""Whether an imported schedule is what the autoscheduler meant: both compiled and compared."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from optimizer.errors import StudioError
from optimizer.loops.algorithm import Algorithm
from optimizer.schedules.halide_source.importing import Imported, imported
from optimizer.schedules.halide_source.names import source_names
from profiling.codegen.halide_object import code_text
from profiling.codegen.kernel import CpuLevel
from profiling.schedules.autoschedulers import Autoscheduler, Scheduled
from profiling.schedules.functions import functions_of
from profiling.schedules.ptx import ptx_of


@dataclass(frozen=True)
class Replay:
    """Two compilations of an autoscheduler's schedule.

    Attributes:
        found: the schedule as primitives.
        lines: of assembly, of Halide's own.
        difference: the first lines in which they are not the same; empty where all are.
        problem: why ours cannot be compiled; empty where it can.
    """

    found: Imported
    lines: int
    difference: str = ""
    problem: str = ""


def replayed(
    algorithm: Algorithm, autoscheduler: Autoscheduler, level: CpuLevel, threads: int = 0
) -> Replay:
    """The machine code of a schedule as the autoscheduler applied it, against its primitives'.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this, or cannot schedule it.
        NotImported: the schedule asks for what no primitive does.
    """
    made = Scheduled(algorithm, autoscheduler, level, threads)
    found = imported(made.source, algorithm, source_names(algorithm, made.func_names()))
    own = same_names(made.assembly())
    try:
        other = same_names(code_text(algorithm, found.schedule, level, "assembly"))
    except StudioError as error:
        return Replay(found, len(own), problem=error.message)
    changes = difflib.unified_diff(own, other, lineterm="", n=0)
    first = [line for line in changes if line[:3] not in ("---", "+++")][:12]
    return Replay(found, len(own), "\n".join(first))


def same_names(assembly: str) -> list[str]:
    """Lines of the kernel and of what is compiled for a GPU, with names by their order.

    Names of Funcs and loops become names of functions and of labels, and the length of the PTX is
    a number in the host's code.
    """
    told = re.sub(r"(?<=\w)\$\d+", "", assembly)
    known: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return known.setdefault(found[0], f"name{len(known)}")

    ptx = ptx_of(assembly)
    lengths = re.compile(rf"\$({len(ptx)}|{len(ptx) + 1})\b")
    host = [lengths.sub("$ptx", line) for one in functions_of(told, "asm") for line in one.lines]
    lines = [*host, *ptx_of(told).splitlines()]
    return [_NAMES.sub(name, _COMMENT.sub("", line)) for line in lines]


_COMMENT = re.compile(r"\s*(#|//).*")
_NAMES = re.compile(r"kernel_par_for[\w$.]*|\.L\w+|\$L_\w+|_kernel_[\w$]+")
