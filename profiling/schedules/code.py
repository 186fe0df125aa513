"""A schedule's code at each level on the way to the machine. Only in a worker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, get_args

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Schedule
from profiling.codegen.halide_object import CodeForm, code_text
from profiling.codegen.kernel import CpuLevel

CodeView = Literal["stmt", "c", "llvm", "asm"]
"""Halide's statements, C++, LLVM's instructions, the processor's."""
CODE_VIEWS: tuple[CodeView, ...] = get_args(CodeView)

_FORMS: dict[CodeView, CodeForm] = {
    "stmt": "stmt", "c": "c_source", "llvm": "llvm_assembly", "asm": "assembly",
}  # fmt: skip
_BEGINS: dict[CodeView, re.Pattern[str]] = {
    "c": re.compile(r"int kernel"),
    "llvm": re.compile(r"define .*@kernel(_par_for\w*)?\("),
    "asm": re.compile(r"kernel(_par_for\w*)?:"),
}
_ENDS: dict[CodeView, re.Pattern[str]] = {
    "c": re.compile(r"}"), "llvm": re.compile(r"}"), "asm": re.compile(r"\.Lfunc_end"),
}  # fmt: skip
_DIRECTIVE = re.compile(r"\s*\.(p2align|cfi_\w+|type|size|globl|section|file|ident)\b")


def code(algorithm: Algorithm, schedule: Schedule, view: CodeView, level: CpuLevel) -> str:
    """The code of a schedule, without what every program has.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    text = re.sub(r"(?<=\w)\$\d+", "", code_text(algorithm, schedule, level, _FORMS[view]))
    if view == "stmt":
        return text.strip()
    found = "\n".join(_functions(text.splitlines(), view))
    return found or text


def _functions(lines: list[str], view: CodeView) -> Iterator[str]:
    """Lines of the functions whose name is the kernel's, or begins so."""
    inside = False
    for line in lines:
        if not inside and _BEGINS[view].match(line) and not re.search(r"kernel_(argv|meta)", line):
            inside = True
        if inside and not (view == "asm" and _DIRECTIVE.match(line)):
            ends = bool(_ENDS[view].match(line))
            if not ends or view != "asm":
                yield line
            if ends:
                inside = False
                yield ""
