"""The kernel's own functions in a file of code, without what every program has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

CodeView = Literal["stmt", "c", "llvm", "asm"]
"""Halide's statements, C++, LLVM's instructions, the processor's."""
CODE_VIEWS: tuple[CodeView, ...] = get_args(CodeView)

_NAME = r"kernel(?:_par_for\w*)?"
_BEGINS: dict[CodeView, re.Pattern[str]] = {
    "stmt": re.compile(rf"(?:\w+ )?func ({_NAME})\b"),
    "c": re.compile(rf"int ({_NAME})\b"),
    "llvm": re.compile(rf"define .*@({_NAME})\("),
    "asm": re.compile(rf"({_NAME}):"),
}
_ENDS: dict[CodeView, re.Pattern[str]] = {
    "stmt": re.compile(r"$"), "c": re.compile(r"}"), "llvm": re.compile(r"}"),
    "asm": re.compile(r"\.Lfunc_end"),
}  # fmt: skip
_DIRECTIVE = re.compile(r"\s*\.(p2align|cfi_\w+|type|size|globl|section|file|ident)\b")


@dataclass(frozen=True)
class Function:
    """One function: the kernel itself, or the rounds of a parallel loop."""

    name: str
    lines: tuple[str, ...]


def functions_of(text: str, view: CodeView) -> list[Function]:
    """The functions whose name is the kernel's, or begins so; in the order of the file."""
    found: list[Function] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        match = _BEGINS[view].match(lines[at])
        if match is None or match[1] in ("kernel_argv", "kernel_metadata"):
            at += 1
            continue
        end = _end(lines, at + 1, view)
        kept = lines[at : end + (view in ("c", "llvm"))]
        found.append(Function(match[1], tuple(_written(kept, view))))
        at = end
    return found


def _end(lines: Sequence[str], at: int, view: CodeView) -> int:
    return next((n for n in range(at, len(lines)) if _ENDS[view].match(lines[n])), len(lines))


def _written(lines: Sequence[str], view: CodeView) -> Iterator[str]:
    return (one for one in lines if not (view == "asm" and _DIRECTIVE.match(one)))
