"""Locks between threads and processes that end with whoever holds them, however they end."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from optimizer.errors import Cancelled

_TICK_S = 0.05


class FileLock:
    """A held lock on a path, which is a file of no content made for it.

    The kernel gives it back when the process ends, kill -9 included. Whoever gives it back takes
    the file away if nobody else wants it.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def release(self) -> None:
        """Give it back."""
        if self._descriptor < 0:
            return
        alone = _taken(self._descriptor, fcntl.LOCK_EX)
        if alone and _is_at(self._descriptor, self._path):
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1


def try_lock(path: Path, *, shared: bool = False) -> FileLock | None:
    """The lock on a path if it is free; None where somebody holds it.

    Args:
        path: in a folder that is there.
        shared: several may hold it so at a time, and nobody alone then.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not _taken(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
            os.close(descriptor)
            return None
        if _is_at(descriptor, path):
            return FileLock(path, descriptor)
        os.close(descriptor)  # its holder took the file away meanwhile: this lock is on nothing


def wait_for_lock(
    path: Path, cancelled: Callable[[], bool] | None, *, waiting: Callable[[], None]
) -> FileLock:
    """The lock on a path, alone.

    Args:
        path: in a folder that is there.
        cancelled: whether it is still wanted.
        waiting: called when somebody else holds it.

    Raises:
        Cancelled: it is no longer wanted.
    """
    lock = try_lock(path)
    while lock is None:
        waiting()
        if cancelled is not None and cancelled():
            raise Cancelled("Stopped while somebody else was making the same.")
        time.sleep(_TICK_S)
        lock = try_lock(path)
    return lock


def _taken(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
