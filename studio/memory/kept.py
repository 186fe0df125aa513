"""Files beside a run in the store, made once by a worker: maps, orders, curves."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from optimizer.isolation import Isolate, Progress
from optimizer.limits import JobLimits
from studio.artifacts.atomic_folder import mark_used, obtain
from studio.artifacts.opened import OpenedModel, OpenedRun

Subject = tuple[OpenedModel, OpenedRun]
Request = TypeVar("Request")
Result = TypeVar("Result")

FORMAT = 2
"""Part of every name: raised when the meaning of the files changes."""

LIMITS = JobLimits(seconds=600.0)


def folder_of(run: OpenedRun, kind: str, *parts: Any) -> Path:
    """Where something of a run lies; equal parts, equal folders.

    Args:
        run: of a model in the store.
        kind: of file, for people who look into the store.
        parts: frozen dataclasses and plain data.
    """
    plain = [asdict(part) if hasattr(part, "__dataclass_fields__") else part for part in parts]
    text = json.dumps([FORMAT, kind, plain], sort_keys=True)
    return run.folder / f"memory-{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def make(
    isolate: Isolate,
    subject: Subject,
    job: Callable[..., None],
    request: object,
    *,
    file: Path,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Path:
    """The file that `job(files, request, file)` writes, unless it is there.

    Args:
        isolate: runs the job.
        subject: whose folders the job reads.
        job: a function of a module.
        request: plain data.
        file: alone in its folder.
        progress: of the job.
        cancelled: whether it is still wanted.

    Raises:
        StudioError: what the job raises, or the worker died, or it was cancelled.
    """
    made_in(
        isolate, subject, job, request, file.parent, lambda folder: folder / file.name,
        progress=progress, cancelled=cancelled,
    )  # fmt: skip
    return file


def made_in(
    isolate: Isolate,
    subject: Subject,
    job: Callable[..., None],
    request: object,
    folder: Path,
    target: Callable[[Path], Path],
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> None:
    """Have `job(files, request, target)` fill a folder unless it is there.

    Raises:
        StudioError: what the job raises, or the worker died, or it was cancelled.
    """
    model, run = subject

    def make(draft: Path) -> None:
        isolate(
            job, run.files, request, target(draft),
            limits=LIMITS, progress=progress, cancelled=cancelled,
        )  # fmt: skip

    obtain(folder, make, progress=progress, cancelled=cancelled)
    for around in (run.folder, model.folder):
        mark_used(around)


class Kept(Generic[Request, Result]):
    """One kind of answer about a run: a worker finds it once, then it is read from its file."""

    def __init__(
        self,
        kind: str,
        job: Callable[..., None],
        read: Callable[[dict[str, Any]], Result],
        *,
        counts: Callable[[Request], Request] = lambda request: request,
    ) -> None:
        """A kind of answer.

        Args:
            kind: in the names of its folders, its files and its tasks.
            job: `job(files, request, file, progress=…)` calls `write_json`.
            read: makes the answer of what was written.
            counts: what of a request the answer depends on.
        """

        def answer(file: Path) -> Result:
            return read(read_json(file))

        self._kind, self._job, self._counts = kind, job, counts
        # A folder never changes, so what was read stays true.
        self._answer = lru_cache(maxsize=16)(answer)

    def key(self, model: OpenedModel, run: OpenedRun, request: Request) -> tuple[object, ...]:
        """Of the task: equal answers have equal keys."""
        return (f"memory-{self._kind}", model.key, run.key, self._counts(request))

    def run(
        self,
        isolate: Isolate,
        subject: Subject,
        request: Request,
        *,
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> Result:
        """The answer.

        Raises:
            StudioError: what the job raises, or the worker died, or it was cancelled.
        """
        counted = self._counts(request)
        file = folder_of(subject[1], self._kind, counted) / f"{self._kind}.json.gz"
        make(
            isolate, subject, self._job, counted,
            file=file, progress=progress, cancelled=cancelled,
        )  # fmt: skip
        return self._answer(file)


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Compressed JSON."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), compresslevel=3, mtime=0))


def read_json(path: Path) -> dict[str, Any]:
    """What `write_json` wrote."""
    return json.loads(gzip.decompress(path.read_bytes()))
