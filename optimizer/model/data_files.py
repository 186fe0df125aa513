"""The files that tensors may be read from: those uploaded along, or those in the model's folder.

An upload may name only files that came with it, looked up by their exact name; nothing is joined
to a path. A model on disk may name only regular files inside its own folder.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Protocol

from optimizer.errors import ExternalDataRefused, quoted
from optimizer.stored import FileStorage, MemoryStorage, Storage

_LINK = re.compile(r"linked-[0-9]+-([0-9]+)-([0-9]+)\.data")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[A-Za-z]:")


class DataFileRefused(Exception):
    """Why a data file cannot be used; `remedy` says what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


class Missing(DataFileRefused):
    """The file is not there: without it the model can still be looked at."""


class Sources(Protocol):
    """Finds data files by the location a tensor names."""

    def find(self, location: str) -> Storage:
        """The file at `location`.

        Raises:
            Refused: it may not or cannot be read.
        """
        ...


class WithOwnFile:
    """The model's own file under a location that nobody can know, and all others.

    Args:
        location: stands for the model's own file.
        own: its bytes.
        others: where everything else is.
    """

    def __init__(self, location: str, own: Storage, others: Sources) -> None:
        self._location, self._own, self._others = location, own, others

    def find(self, location: str) -> Storage:
        """The model's own file, or what the others find."""
        return self._own if location == self._location else self._others.find(location)


class UploadedFiles:
    """The files that were uploaded together with the model, by their exact names."""

    def __init__(self, companions: Mapping[str, bytes | Path]) -> None:
        self._companions = companions

    def find(self, location: str) -> Storage:
        """The uploaded file of that very name."""
        companion = self._companions.get(location)
        if companion is None:
            kind = DataFileRefused if _location_problem(location) else Missing
            raise kind(
                f"The data file {quoted(location)} was not uploaded.",
                "Upload it together with the model, under this very name.",
            )
        if isinstance(companion, Path):
            return _on_disk(companion, location, links=False, named=None)
        return MemoryStorage(companion, location)


class FolderFiles:
    """The files in the folder of a model on disk.

    Args:
        folder: the model's folder; nothing outside of it is opened, but what a snapshot in a
            Hugging Face cache links to among the files of its own repository.
        follow_links: also accept symbolic and hard links, wherever they lead. For folders that the
            person at the keyboard chose; never for a server.
    """

    def __init__(self, folder: Path, *, follow_links: bool) -> None:
        self._folder = folder.absolute()
        self._real_folder = Path(os.path.realpath(folder))
        self._follow_links = follow_links

    def find(self, location: str) -> Storage:
        """The regular file at `location` inside the folder."""
        reason = _location_problem(location)
        if reason:
            raise DataFileRefused(reason, "Only files inside the model's own folder are read.")
        path = self._folder / location
        real = Path(os.path.realpath(path))
        linked = real != self._real_folder / location
        shown = quoted(PurePosixPath(location))
        if linked and not self._follow_links and real.parent != _blobs(self._real_folder):
            raise DataFileRefused(
                f"The data file {shown} is reached through a symbolic link.",
                "Copy the file into the model's folder.",
            )
        if linked and (link := _LINK.fullmatch(location)):
            _check_link(real, tuple(map(int, link.groups())))
        return _on_disk(real, location, links=self._follow_links, named=path)


def _blobs(folder: Path) -> Path | None:
    """Where a Hugging Face cache keeps the files of `<repository>/snapshots/<revision>`."""
    snapshots = next((above for above in folder.parents if above.name == "snapshots"), None)
    return snapshots and snapshots.parent / "blobs"


def link_to(file: Path, folder: Path, number: int) -> str:
    """Make a link in a folder of ours to a data file as it is now; its location there."""
    info = file.stat()
    name = f"linked-{number}-{info.st_size}-{info.st_mtime_ns}.data"
    (folder / name).symlink_to(os.path.realpath(file))
    return name


def _check_link(file: Path, wanted: tuple[int, ...]) -> None:
    try:
        info = file.stat()
    except OSError:
        remedy = "Put it back, and open the model again."
        raise Missing(f"The data file {quoted(file)} is gone.", remedy) from None
    if (info.st_size, info.st_mtime_ns) != wanted:
        raise DataFileRefused(
            f"The data file {quoted(file)} has changed since the model was opened.",
            "Open the model again.",
        )


def _location_problem(location: str) -> str:
    shown = quoted(location)
    if not location or not location.isprintable():
        return f"The data file {shown} has an impossible name."
    if _URL.match(location):
        return f"The data file {shown} is an address, not a file in the model's folder."
    if "\\" in location or location.startswith(("/", "~", "*")):
        return f"The data file {shown} is not a plain path inside the model's folder."
    if ".." in location.split("/"):
        return f"The data file {shown} lies outside the model's folder."
    return ""


def _on_disk(path: Path, location: str, *, links: bool, named: Path | None) -> Storage:
    with _regular_file(path, location, links=links):
        pass
    return FileStorage(partial(_again, path, location, links=links), location, named)


@contextmanager
def _again(path: Path, location: str, *, links: bool) -> Generator[int]:
    """The open file, which was there when the model was opened."""
    try:
        with _regular_file(path, location, links=links) as handle:
            yield handle
    except DataFileRefused as refused:
        raise ExternalDataRefused(str(refused)) from None


@contextmanager
def _regular_file(path: Path, location: str, *, links: bool) -> Generator[int]:
    """The open file, without ever waiting on a pipe or a device."""
    shown = quoted(PurePosixPath(location))
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        remedy = "Put it into the model's folder, under this very name."
        raise Missing(f"The data file {shown} is missing.", remedy) from None
    except (OSError, ValueError):
        remedy = "Check the file's permissions."
        raise DataFileRefused(f"The data file {shown} cannot be opened.", remedy) from None
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise DataFileRefused(f"{shown} is not a regular file.", "Put the data itself there.")
        if info.st_nlink > 1 and not links:
            raise DataFileRefused(
                f"The data file {shown} is a hard link.", "Copy the file into the model's folder."
            )
        yield handle
    finally:
        os.close(handle)
