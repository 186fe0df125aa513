"""A schedule's code at each level on the way to the machine. Only in a worker."""

from __future__ import annotations

import re
from typing import Literal

from optimizer.loops.algorithm import Algorithm
from optimizer.loops.outputs import output_nests
from optimizer.loops.schedule import In, RFactor, Schedule
from profiling.codegen.halide_naming import plain_name, without_serials
from profiling.codegen.halide_object import CodeForm, code_texts
from profiling.codegen.kernel import CpuLevel
from profiling.schedules.functions import CODE_VIEWS, CodeView, Function, functions_of
from profiling.schedules.ptx import ptx_of

_FORMS: dict[CodeView, CodeForm] = {
    "stmt": "stmt", "c": "c_source", "llvm": "llvm_assembly", "asm": "assembly",
}  # fmt: skip

_VALUE = re.compile(r"(?<![\w.$])t\d+(?![\w$])")


def code(algorithm: Algorithm, schedule: Schedule, view: CodeView, level: CpuLevel) -> str:
    """The code of a schedule, without what every program has.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    text = _texts(algorithm, schedule, (view,), level)[view]
    if view == "stmt":
        return text.strip()
    found = (line for one in functions_of(text, view) for line in (*one.lines, ""))
    return "\n".join(found) or text


def all_code(
    algorithm: Algorithm, schedule: Schedule, level: CpuLevel
) -> dict[CodeView, list[Function]]:
    """The functions of a schedule at all levels, of one compilation.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    texts = _texts(algorithm, schedule, CODE_VIEWS, level)
    return {view: functions_of(text, view) for view, text in texts.items()}


def _texts(
    algorithm: Algorithm, schedule: Schedule, views: tuple[CodeView, ...], level: CpuLevel
) -> dict[CodeView, str]:
    names = _names(algorithm, schedule)
    made = code_texts(algorithm, schedule, level, [_FORMS[view] for view in views])
    found: dict[CodeView, str] = {}
    values: dict[str, str] = dict.fromkeys(names, "")
    for view in views:
        text = without_serials(made[_FORMS[view]], names)
        found[view] = _numbered_in_c(text) if view == "c" else _numbered(text, values)
    return found


def gpu_texts(
    algorithm: Algorithm, schedule: Schedule, level: CpuLevel
) -> dict[Literal["stmt", "ptx"], str]:
    """The statements of a schedule for a GPU, and the PTX that they become; no GPU is needed.

    Raises:
        LibraryError: Halide is not installed, or cannot compute this.
        ScheduleError: a primitive cannot be applied.
    """
    names = _names(algorithm, schedule)
    made = code_texts(algorithm, schedule, level, ["conceptual_stmt", "assembly"])
    statements = without_serials(made["conceptual_stmt"], names)
    ptx = without_serials(ptx_of(made["assembly"]), names)
    return {"stmt": _numbered(statements, dict.fromkeys(names, "")), "ptx": ptx}


def _names(algorithm: Algorithm, schedule: Schedule) -> set[str]:
    """Of Funcs and inputs, as Halide gets them."""
    tensors = (*algorithm.inputs, *algorithm.funcs, *output_nests(algorithm))
    made = (one.made for one in schedule.primitives if isinstance(one, In | RFactor))
    return {plain_name(name) for name in (*(one.name for one in tensors), *made)}


def _numbered(text: str, values: dict[str, str]) -> str:
    """Code whose intermediate values count from 0, also where the process made other code before.

    Args:
        text: Halide's statements, LLVM's instructions or assembly.
        values: what each is called, gathered: a value has one name at all levels.
    """

    def name(match: re.Match[str]) -> str:
        return values.setdefault(match[0], f"t{len(values)}") or match[0]

    return _VALUE.sub(name, text)


def _numbered_in_c(text: str) -> str:
    """The same of C, where they are numbers, from its first function on."""
    at = text.find("int kernel")
    found: dict[str, dict[str, int]] = {"_": {}, "s": {}}

    def name(match: re.Match[str]) -> str:
        numbers = found[match[1]]
        return f"{match[1]}{numbers.setdefault(match[2], len(numbers))}"

    return text[:at] + re.sub(r"\b(_|s)(\d+)\b", name, text[at:])
