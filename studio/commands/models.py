"""Models named on the command line: a path, or the id of a gallery network."""

from __future__ import annotations

from pathlib import Path

from optimizer.errors import StudioError, quoted
from studio.gallery import gallery


def model_path(text: str) -> Path:
    """The file behind a MODEL argument.

    Raises:
        StudioError: there is no such file and no such gallery network.
    """
    path = Path(text)
    if path.exists():
        return path
    ids = [entry.id for entry in gallery.entries()]
    if text in ids:
        return gallery.open_path(text)
    raise StudioError(f"There is no file {quoted(path)}; the sample networks are {', '.join(ids)}.")


def bindings(entries: list[str]) -> dict[str, int]:
    """`["batch=1"]` as `{"batch": 1}`.

    Raises:
        StudioError: an entry is not DIM=SIZE.
    """
    bound: dict[str, int] = {}
    for entry in entries:
        name, _, size = entry.rpartition("=")
        if not name or not size.isdecimal() or len(size) > 9:
            raise StudioError(f"--bind takes DIM=SIZE, for example batch=1, not {quoted(entry)}.")
        bound[name] = int(size)
    return bound
