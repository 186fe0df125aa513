"""Lines of NVIDIA's machine code as nvdisasm writes it, and the lines of the source they are from.

Source: NVIDIA, "CUDA Binary Utilities", nvdisasm, `--print-line-info-inline`.
"""

from __future__ import annotations

import re

from profiling.schedules.source_places import NOWHERE, Place, Places

_TOLD = re.compile(r'\s*//## File "([^"]*)", line (\d+)( inlined at)?')
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*(?:/\*.*\*/)?\s*$")
_LABEL = re.compile(r"\.L_\w+:")
_ADDRESS_WIDTH = 6
WIDE = re.compile(r"\b(LD|ST)[GSL]*\.[\w.]*\b(64|128)\b")
"""Of an instruction: more than one element of 32 bits is read or written at once."""


def sass_lines(text: str) -> list[tuple[str, Places]]:
    """The instructions and labels of a kernel, each with the places that it is from.

    A line of comment is a place, which holds until the next one; where that was inlined, its caller
    is the next line.

    Args:
        text: of a cubin with one kernel.
    """
    found: list[tuple[str, Places]] = []
    here: set[Place] = set()
    caller_follows = False
    for line in text.splitlines():
        if told := _TOLD.match(line):
            here = here if caller_follows else set()
            here.add((told[1], int(told[2])))
            caller_follows = bool(told[3])
        elif one := _INSTRUCTION.match(line):
            found.append((f"{one[1]:>{_ADDRESS_WIDTH}}  {one[2]}", frozenset(here)))
        elif _LABEL.match(line):
            found.append((line.rstrip(), NOWHERE))
    return found
