"""Places in source files, which tools name in the code that they write."""

from __future__ import annotations

from pathlib import PurePath

Place = tuple[str, int]
"""A file, and a line from 1 on; 0 where the tool says that it knows none."""
Places = frozenset[Place]
"""One, or those of a call and its callers, or of what became one instruction."""
NOWHERE: Places = frozenset()


def lines_of(places: Places, file: str) -> tuple[int, ...]:
    """Lines of a file among places, from 0 on.

    Args:
        places: any.
        file: its name without folders.
    """
    found = {line - 1 for path, line in places if line > 0 and PurePath(path).name == file}
    return tuple(sorted(found))
