"""What the processor's instructions are, told from their text, and how many of each a loop has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Mark = Literal["zmm", "ymm", "xmm", "scalar", "fma", "gather", "call", "spill", "reload", "vector"]
"""Of a line: vectors of 512, 256 or 128 bits; one number in a vector register; a product and a sum
in one; a load from places of their own; a register written to the stack because there are too few,
and read back; in what is not assembly yet, vectors of any width."""

_INSTRUCTION = re.compile(r"\s+((?:(?:lock|rep\w*|notrack|data16)\s+)*)([a-z]\w*)\s*([^#]*)(#.*)?")
_REGISTER = re.compile(r"%([xyz]mm)\d+")
_SCALAR = re.compile(r"(?!\w*broadcast)\w+s[sd]|v?cvtt?s[ids]2\w+|v?mov[dq]")
_NAMES: dict[Mark, re.Pattern[str]] = {
    "fma": re.compile(r"vfn?m(add|sub)\w+"),
    "gather": re.compile(r"vp?gather\w+"),
    "call": re.compile(r"call\w*"),
}
_STACK = re.compile(r"#.*?(\d+)-byte (?:Folded )?(Spill|Reload)")
_VECTOR = {
    "stmt": re.compile(r"\bramp\(|\bx\d+\(|\b(?:float|u?int)\d+x\d+|vector_reduce"),
    "c": re.compile(
        r"\b(?:float|double|u?int\d+_t|bool)\w*_ops::|\b(?:float|double)(?:2|4|8|16)\b"
    ),
    "llvm": re.compile(r"<\d+ x (?!i8>)"),
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One line of assembly.

    Attributes:
        name: without its operands.
        marks: what it is.
        spilled_bytes: written to the stack, or read back.
    """

    name: str
    marks: tuple[Mark, ...]
    spilled_bytes: int = 0


def instruction(line: str) -> Instruction | None:
    """What stands in a line of assembly as LLVM writes it; None of labels and comments."""
    match = _INSTRUCTION.fullmatch(line.rstrip())
    if match is None:
        return None
    _, name, operands, comment = match.groups()
    marks: list[Mark] = []
    registers = set(_REGISTER.findall(operands))
    if registers and _SCALAR.fullmatch(name):
        marks.append("scalar")
    elif registers:
        marks.append("zmm" if "zmm" in registers else "ymm" if "ymm" in registers else "xmm")
    for mark, names in _NAMES.items():
        if names.fullmatch(name):
            marks.append(mark)
    stack = _STACK.search(comment or "")
    if stack is None:
        return Instruction(name, tuple(marks))
    marks.append("spill" if stack[2] == "Spill" else "reload")
    return Instruction(name, tuple(marks), int(stack[1]))


def marks_before(line: str, view: Literal["stmt", "c", "llvm"]) -> tuple[Mark, ...]:
    """Whether a line above assembly has vectors."""
    return ("vector",) if _VECTOR[view].search(line) else ()


@dataclass(frozen=True, slots=True)
class LoopCode:
    """Instructions of a loop, without those of the loops inside it.

    Attributes:
        node: of the nest; -1 for what is outside of all loops, or said by no tool to be in one.
        instructions: of any kind.
        zmm: on vectors of 512 bits, scalars not counted; then of 256 and of 128.
        scalar: floating point or copies of one number in a vector register.
        fma: a product and a sum in one, on vectors or not.
        gather: loads from places of their own.
        calls: of other functions.
        spills: writes of a register to the stack because there are too few of them.
        spilled_bytes: all of those once.
        reloads: reads of what was spilled, also by an instruction that computes.
        reloaded_bytes: all of those once.
    """

    node: int
    instructions: int
    zmm: int
    ymm: int
    xmm: int
    scalar: int
    fma: int
    gather: int
    calls: int
    spills: int
    spilled_bytes: int
    reloads: int
    reloaded_bytes: int

    @property
    def vector_bits(self) -> int:
        """Of the widest vectors; 0 where there are none."""
        return 512 if self.zmm else 256 if self.ymm else 128 if self.xmm else 0


def loop_code(node: int, lines: Iterable[Instruction]) -> LoopCode:
    """What these instructions of one loop are."""
    found = list(lines)

    def count(mark: Mark) -> int:
        return sum(mark in one.marks for one in found)

    def moved(mark: Mark) -> int:
        return sum(one.spilled_bytes for one in found if mark in one.marks)

    return LoopCode(
        node, len(found), count("zmm"), count("ymm"), count("xmm"), count("scalar"), count("fma"),
        count("gather"), count("call"), count("spill"), moved("spill"), count("reload"),
        moved("reload"),
    )  # fmt: skip


def loops_of(lines: Sequence[str], nodes: Sequence[int | None]) -> tuple[LoopCode, ...]:
    """What each loop's instructions are, in the order of the nest; others last.

    Args:
        lines: of assembly.
        nodes: of each line.
    """
    by_node: dict[int, list[Instruction]] = {}
    for line, node in zip(lines, nodes, strict=True):
        found = instruction(line)
        if found is not None:
            by_node.setdefault(-1 if node is None else node, []).append(found)
    ordered = sorted(by_node, key=lambda node: (node < 0, node))
    return tuple(loop_code(node, by_node[node]) for node in ordered)
