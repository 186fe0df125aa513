"""What of a kernel is compiled for a GPU: PTX, which stands as a string in the host's code."""

from __future__ import annotations

import re

_STRING = re.compile(r'\.asciz?\s+"((?:[^"\\]|\\.)*)"')
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


def ptx_of(assembly: str) -> str:
    """The PTX of a kernel's assembly; empty where it has none.

    Args:
        assembly: of the host, as LLVM writes it.
    """
    found = (one[1] for one in _STRING.finditer(assembly) if ".target sm_" in one[1])
    return "\n".join(re.sub(r"\\([nt\"\\])", lambda one: _ESCAPES[one[1]], text) for text in found)
