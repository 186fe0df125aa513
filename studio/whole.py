"""Folders that exist only when they are complete."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def made_whole(folder: Path, *, anew: bool = False) -> Generator[Path]:
    """A new folder that appears under its name only when everything in it is written.

    `anew` lets it take the place of an older one; else the first to be complete stays.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    target = draft / folder.name
    target.mkdir()
    try:
        yield target
        try:
            if anew and folder.is_dir():
                folder.rename(draft / "old")
            target.rename(folder)
        except OSError:  # somebody else was faster
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
