"""Lines of Triton's programs, which are MLIR, and the lines of the source that they name.

An operation ends with its location, one that has blocks of operations behind the last of them. A
location is a place in a file, a call with its caller, several at once, or the number of another
one, which stands at the beginning or the end of the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from profiling.schedules.source_places import Place, Places

_DEFINED = re.compile(r"(#loc\d*) = loc\((.*)\)\s*$")
_NAMED = re.compile(r"#loc\d*")
_PLACE = re.compile(r'"([^"]*)":(\d+):\d+')
_LOCATION = " loc("


def mlir_lines(text: str) -> list[tuple[str, Places]]:
    """The lines of a program without its locations, each with the places that it is from.

    Args:
        text: of a module, as Triton writes it.
    """
    lines = text.splitlines()
    defined = {one[1]: one[2] for line in lines if (one := _DEFINED.match(line))}
    known: dict[str, Places] = {}
    kept = [line for line in lines if not _DEFINED.match(line)]
    found = [_places(_last_location(line), defined, known) for line in kept]
    _from_the_end_of_blocks(kept, found)
    return [(_without_locations(line), one) for line, one in zip(kept, found, strict=True)]


def _places(location: str, defined: dict[str, str], known: dict[str, Places]) -> Places:
    """All that a location names."""
    found: set[Place] = {(file, int(line)) for file, line in _PLACE.findall(location)}
    for name in _NAMED.findall(location):
        if name not in known:
            known[name] = _places(defined.get(name, ""), defined, known)
        found |= known[name]
    return frozenset(found)


def _last_location(line: str) -> str:
    """The operation's: those before it are of its arguments."""
    at = line.rfind(_LOCATION)
    return "" if at < 0 else line[at:]


def _from_the_end_of_blocks(lines: Sequence[str], found: list[Places]) -> None:
    """Where a line opens a block, its operation's location stands where that ends."""
    opened: list[list[int]] = []
    for number, line in enumerate(lines):
        begun: list[int] = []
        if line.lstrip().startswith("}") and opened:
            begun = opened.pop()
        if line.endswith(("{", "({")):
            opened.append([*begun, number])
            continue
        for other in begun:
            found[other] = found[number]


def _without_locations(line: str) -> str:
    """A line as it reads without what is shown by links."""
    while (at := line.find(_LOCATION)) >= 0:
        line = line[:at] + line[_closed(line, at + len(_LOCATION)) :]
    return line


def _closed(line: str, at: int) -> int:
    """Where the bracket that was opened before `at` has been closed."""
    depth = 1
    while depth and at < len(line):
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        at += 1
    return at
