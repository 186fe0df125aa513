"""Lines of PTX, and the lines of the source that its `.loc` directives name.

Source: NVIDIA, "Parallel Thread Execution ISA", 11.5 "Debugging Directives".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from profiling.schedules.source_places import NOWHERE, Places

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+((?:"[^"]*"\s*)+)')
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*\binlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_LEFT_OUT = re.compile(
    r"\s*(\$L__(tmp|func_begin|func_end)\d+:|// (begin|end) inline asm|// -- .*)?\s*$"
)
WIDE = re.compile(r"\b(ld|st)\.[\w.]*\bv[248]\b")
"""Of an instruction: several elements are read or written at once."""
ENTRY = re.compile(r"\s*(?:\.visible )?\.(?:entry|func)\s+(\w*)")
"""Where a function begins; its name."""

_Position = tuple[int, int, int]
"""Number of a file, line, column."""


def ptx_lines(text: str) -> list[tuple[str, Places]]:
    """The lines of the functions of a module, each with the places that it is from.

    A directive holds until the next one. What a call is inlined at is said by position alone:
    where one position was inlined at several, it is not known at which.

    Args:
        text: of a module, as LLVM writes it.
    """
    lines = text.splitlines()
    files = {int(one[1]): _path(one[2]) for line in lines if (one := _FILE.match(line))}
    callers = _callers(lines)
    found: list[tuple[str, Places]] = []
    here = NOWHERE
    inside = False
    for line in lines:
        inside = inside or bool(ENTRY.match(line))
        if told := _LOC.match(line):
            here = _places(told, files, callers)
        elif inside and not _LEFT_OUT.match(line):
            found.append((line, here))
        if line.startswith("}"):
            inside, here = False, NOWHERE
    return found


def _path(quoted: str) -> str:
    """A file's name, behind its folder where that is told apart."""
    return "/".join(re.findall(r'"([^"]*)"', quoted))


def _position(told: re.Match[str]) -> _Position:
    return int(told[1]), int(told[2]), int(told[3])


def _caller(told: re.Match[str]) -> _Position | None:
    return (int(told[4]), int(told[5]), int(told[6])) if told[4] else None


def _callers(lines: Sequence[str]) -> Mapping[_Position, _Position | None]:
    """Where each position was inlined at; None where that are several."""
    found: dict[_Position, _Position | None] = {}
    for line in lines:
        told = _LOC.match(line)
        if told is not None and (caller := _caller(told)) is not None:
            here = _position(told)
            found[here] = caller if found.get(here, caller) == caller else None
    return found


def _places(
    told: re.Match[str],
    files: Mapping[int, str],
    callers: Mapping[_Position, _Position | None],
) -> Places:
    """A position and its callers, as far as these are certain."""
    chain = [_position(told)]
    outer = _caller(told)
    while outer is not None and outer not in chain:
        chain.append(outer)
        outer = callers.get(outer)
    return frozenset((files.get(file, ""), line) for file, line, _ in chain)
