"""Files that appear complete or not at all, whatever ends the process that writes them."""

from __future__ import annotations

import errno
import os
import secrets
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from optimizer.errors import StudioError, quoted
from optimizer.numbers import bytes_text

_NO_NAMELESS_FILES = {errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL}
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def replacement(path: Path) -> Generator[BinaryIO]:
    """A new file that takes the place of `path` once it is complete.

    It has no name before, where the file system knows such files: what ends the process leaves
    nothing behind.

    Raises:
        StudioError: it cannot be written; what was at `path` is as it was.
    """
    try:
        handle, name = _created(path.parent)
    except OSError as error:
        raise StudioError(
            f"Cannot write {quoted(path)}: {error.strerror}. Choose a folder you may write to."
        ) from error
    temporary = Path(name) if name else path.with_name(f".writing-{secrets.token_hex(6)}")
    try:
        with os.fdopen(handle, "wb") as target:
            yield target
            target.flush()
            if not name:
                _give_name(handle, temporary)
        temporary.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = " Free some, or write elsewhere." if error.errno in _NO_ROOM else ""
        raise StudioError(f"Cannot write {quoted(path)}: {reason}.{remedy}") from error
    finally:
        temporary.unlink(missing_ok=True)


def check_room(folder: Path, needed_bytes: int, what: str = "The model takes") -> None:
    """Make sure that so much can be written into a folder; `what` begins the sentence if not.

    Raises:
        StudioError: it cannot.
    """
    with suppress(OSError):  # who writes says what is wrong with the folder
        disk = os.statvfs(folder)
        free = disk.f_bavail * disk.f_frsize
        if needed_bytes > free:
            raise StudioError(
                f"{what} {bytes_text(needed_bytes)}, and {quoted(folder.absolute())} has "
                f"{bytes_text(free)} left. Free some, or write elsewhere."
            )


def _created(folder: Path) -> tuple[int, str]:
    """A new file, and its name if it has one."""
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o644), ""
    except OSError as error:
        if error.errno not in _NO_NAMELESS_FILES:
            raise
    handle, name = tempfile.mkstemp(dir=folder, prefix=".writing-")
    os.fchmod(handle, 0o644)
    return handle, name


def _give_name(handle: int, path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:  # with a folder given, the link is followed to the nameless file
        os.link(f"/proc/self/fd/{handle}", path.name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)
