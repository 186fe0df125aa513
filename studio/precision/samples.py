"""What a model is run on; a visitor's own samples are kept beside the run that they are for."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from optimizer.errors import SampleError, quoted
from optimizer.numbers import counted
from optimizer.precision.samples import SUFFIXES, Samples
from profiling.cache.atomic_folder import obtain
from studio.artifacts.opened import OpenedRun

MOST_FILES = 256
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_MOST_NAME = 80


@dataclass(frozen=True, slots=True)
class ObserveRequest:
    """What to run.

    Attributes:
        step: of the trace.
        folder: of the user's samples; empty for generated ones.
        count: of samples.
    """

    step: int
    folder: str
    count: int

    @property
    def samples(self) -> Samples:
        """The samples it is about."""
        return Samples(Path(self.folder) if self.folder else None, self.count)


def keep_samples(run: OpenedRun, files: Mapping[str, bytes]) -> str:
    """Lay files into a folder of their own; equal files, equal folder.

    Args:
        run: that they are for.
        files: by the visitor's names, of which only harmless characters are kept.

    Returns: the key by which `samples_folder` finds them.

    Raises:
        SampleError: one is no .npz or .npy, or there are too many.
    """
    if len(files) > MOST_FILES:
        raise SampleError(f"{counted(len(files), 'file')} are too many (limit {MOST_FILES}).")
    for name in files:
        if not name.endswith(SUFFIXES):
            raise SampleError(f"Sample {quoted(name)} is no .npz or .npy file.")
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(hashlib.sha256(name.encode()).digest() + hashlib.sha256(data).digest())
    key = digest.hexdigest()[:16]

    def make(draft: Path) -> None:
        for number, (name, data) in enumerate(sorted(files.items())):
            safe = _UNSAFE.sub("-", name).lstrip(".-")[-_MOST_NAME:]
            target = draft / safe
            (draft / f"{number}-{safe}" if target.exists() else target).write_bytes(data)

    obtain(_folder(run, key), make)
    return key


def samples_folder(run: OpenedRun, key: str) -> Path | None:
    """Where they are; None where there are none, or the cache was cleared since."""
    folder = _folder(run, key)
    return folder if key and folder.is_dir() else None


def _folder(run: OpenedRun, key: str) -> Path:
    return run.folder / f"samples-{key}"
