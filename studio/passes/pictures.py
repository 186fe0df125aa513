"""The picture of each pass's rule, drawn by `make docs` from one of its golden cases."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "pictures"
_PAIR = re.compile(r"light-dark\(([^,)]+),([^,)]+)\)")


@cache
def picture_of(pass_id: str, *, dark: bool) -> str:
    """SVG; empty where there is none, as of a pass being written.

    A file follows what the visitor's system is set to; a page may be set otherwise.
    """
    path = _FOLDER / f"{pass_id}.svg"
    if not path.is_file():
        return ""
    return _PAIR.sub(r"\2" if dark else r"\1", path.read_text(encoding="utf-8"))


@cache
def told_of(pass_id: str) -> str:
    """What the picture tells those who do not see it."""
    found = re.search(r'aria-label="([^"]*)"', picture_of(pass_id, dark=False))
    return found[1] if found else ""
