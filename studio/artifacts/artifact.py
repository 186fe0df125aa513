"""An artifact: something about a run of a model that is made once and then read from disk.

What makes it, how it is written and read, and what its folder is called stand in one declaration;
`Store.get` does the rest.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.isolation import Progress
from optimizer.limits import JobLimits
from optimizer.rewrite.graph_at import TraceFiles
from studio.artifacts.opened import Subject

Request = TypeVar("Request")
Result = TypeVar("Result")
Read = TypeVar("Read", covariant=True)

LIMITS = JobLimits(seconds=600.0)
_REMEMBERED = 16
"""Answers of a kind that are not read again; a map of ten thousand nodes takes some megabytes."""


class Codec(Protocol[Read]):
    """How the result of an artifact lies in its folder."""

    def job(self, make: Callable[..., Any]) -> Callable[..., None]:
        """For a worker: `job(files, request, folder, progress=…)` fills the folder."""
        ...

    def read(self, folder: Path, request: Any) -> Read:
        """The result of a folder that is complete.

        Raises:
            StudioError: what lies there is damaged.
        """
        ...


@dataclass(frozen=True, slots=True)
class File:
    """What was made is a file, written by `make(files, request, folder, progress=…)` itself.

    Attributes:
        name: of the file, from the request.
    """

    name: Callable[[Any], str]

    def job(self, make: Callable[..., Any]) -> Callable[..., None]:
        """`make` as it is."""
        return make

    def read(self, folder: Path, request: Any) -> Path:
        """Where the file is."""
        return folder / self.name(request)


class Value(Generic[Result]):
    """What was made is a dataclass, returned by `make(files, request, progress=…)`."""

    def __init__(self, form: Format[Result]) -> None:
        """Written as compressed JSON of this form."""
        self._form = form
        self._parsed = lru_cache(maxsize=_REMEMBERED)(self._parse)

    def job(self, make: Callable[..., Result]) -> Callable[..., None]:
        """Calls `make` and writes what it returns."""
        return partial(_write_value, self._form, make)

    def read(self, folder: Path, request: Any) -> Result:
        """The dataclass; of a folder that was read before, the same one."""
        del request
        return self._parsed(folder / _VALUE)

    def write(self, folder: Path, value: Result) -> None:
        """Lay it down where `read` finds it."""
        _write(self._form, folder, value)

    def _parse(self, path: Path) -> Result:
        try:
            return self._form.loads(gzip.decompress(path.read_bytes()))
        except (OSError, EOFError, zlib.error) as error:
            raise StudioError(f"The {self._form.what} cannot be read: {error}.") from error


_VALUE = "value.json.gz"


@dataclass(frozen=True, slots=True)
class Artifact(Generic[Request, Result]):
    """One kind of thing that is made of a run.

    Attributes:
        kind: in the names of its folders and the keys of its tasks; words with hyphens between.
        make: in a worker; see the codecs for its arguments.
        codec: how what it makes is written and read.
        relevant: what of a request it depends on.
        limits: of making it.
    """

    kind: str
    make: Callable[..., Any]
    codec: Codec[Result]
    relevant: Callable[[Request], Request] = lambda request: request
    limits: JobLimits = LIMITS

    def name(self, request: Request) -> str:
        """Of its folder beside the run: equal requests, equal names."""
        mark = hashlib.sha256(repr(self.relevant(request)).encode()).hexdigest()[:16]
        return f"{self.kind}-{mark}"

    def key(self, subject: Subject, request: Request) -> tuple[object, ...]:
        """Of the task that makes it: equal results, equal keys."""
        model, run = subject
        return (self.kind, model.key, run.key, self.relevant(request))

    def job(self) -> Callable[..., None]:
        """What a worker does: `job(files, request, folder, progress=…)`."""
        return self.codec.job(self.make)

    def read(self, folder: Path, request: Request) -> Result:
        """What lies in a folder that is complete.

        Raises:
            StudioError: it is damaged.
        """
        return self.codec.read(folder, request)


def _write_value(
    form: Format[Result],
    make: Callable[..., Result],
    files: TraceFiles,
    request: object,
    folder: Path,
    *,
    progress: Progress,
) -> None:
    _write(form, folder, make(files, request, progress=progress))


def _write(form: Format[Result], folder: Path, value: Result) -> None:
    (folder / _VALUE).write_bytes(gzip.compress(form.dumps(value), compresslevel=3, mtime=0))
