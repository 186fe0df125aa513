"""Folders that exist only when they are complete, and are made by one process at a time."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Unpack

from optimizer.isolation import Following
from profiling.cache.file_lock import wait_for_lock

LAST_USED = ".used"
"""In every complete folder: its modification time is when somebody last asked for it."""

_DRAFT = "~"  # in no name of a folder of ours
_LOCK = ".lock"


def obtain(
    folder: Path,
    make: Callable[[Path], None],
    *,
    complete: Callable[[Path], bool] = Path.is_dir,
    **following: Unpack[Following],
) -> bool:
    """Have a folder made unless it is there; whoever wants it meanwhile waits for the first.

    Args:
        folder: what to make.
        make: writes everything into the folder that it is given.
        complete: whether the folder is as it should be; else it is made anew in its place.
        following: told of waiting, and asked whether it is still wanted.

    Returns:
        Whether it was made now.

    Raises:
        Cancelled: it is no longer wanted while somebody else makes it.
    """
    if complete(folder):
        mark_used(folder)
        return False

    def waiting() -> None:
        if (progress := following.get("progress")) is not None:
            progress("waiting for whoever is making the same", 0.0)

    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = wait_for_lock(lock_of(folder), following.get("cancelled"), waiting=waiting)
    try:
        made = not complete(folder)
        if made:
            _remove_drafts(folder)
            with atomic_folder(folder) as draft:
                make(draft)
        mark_used(folder)
    finally:
        lock.release()
    return made


@contextmanager
def atomic_folder(folder: Path) -> Generator[Path]:
    """A new folder that appears under its name, instead of what was there, when all is written."""
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}{_DRAFT}", dir=folder.parent))
    target = draft / folder.name
    target.mkdir()
    try:
        yield target
        (target / LAST_USED).touch()
        with suppress(FileNotFoundError):
            folder.rename(draft / "old")
        target.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder at once: nobody finds it half empty."""
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}{_DRAFT}", dir=folder.parent))
    try:
        with suppress(FileNotFoundError):
            folder.rename(draft / "old")
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def mark_used(folder: Path) -> None:
    """Note that somebody wants it."""
    with suppress(OSError):  # it went away meanwhile, or the cache may only be read
        (folder / LAST_USED).touch()


def lock_of(folder: Path) -> Path:
    """Where its lock stands while it is made."""
    return folder.with_name(f".{folder.name}{_LOCK}")


def drafts(parent: Path) -> Iterator[tuple[Path, Path]]:
    """What is being made in a folder, or was when somebody was killed: draft and place."""
    for draft in parent.glob(f".*{_DRAFT}*"):
        yield draft, parent / draft.name[1:].partition(_DRAFT)[0]


def _remove_drafts(folder: Path) -> None:
    for draft, place in drafts(folder.parent):
        if place == folder:
            shutil.rmtree(draft, ignore_errors=True)
