"""What is in the cache: how much of which kind, what goes when it is too much, and emptying it.

    models/<model key>/<run key>/<kind>-<request key>/
    plans/<plan key>/
    gallery/<content key>/
    kernels/library-<key>/, kernels/object-<key>/
    zig/

A model's folder holds its runs, a run's folder its artifacts; using one of these is using what it
lies in. Models and plans that somebody has open are pinned. What was measured or calibrated is no
part of this: it cannot simply be made again.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from optimizer.errors import StudioError, quoted
from profiling.cache.atomic_folder import LAST_USED, drafts, lock_of, remove_folder
from profiling.cache.file_lock import FileLock, try_lock
from profiling.codegen.compiler import ZIG
from profiling.codegen.store import KERNELS
from studio.environment import CACHE_LIMIT

MODELS, PLANS, GALLERY = "models", "plans", "gallery"
DEFAULT_LIMIT_GIB = 20.0
IN_USE_S = 60.0
"""What was asked for so recently may be being read."""

_KERNEL_KINDS = {"library": "library of kernels", "object": "kernel"}
KEY = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A folder that can go by itself once nothing lies in it that is used more recently.

    Attributes:
        folder: of a sample network, a plan, a model, a run or an artifact.
        kind: for people.
        pinned: the folder that is pinned as long as it is open: of its model, or of the plan; None
            for a sample network.
        size_bytes: of its files, without the entries in it.
        used_s: when somebody asked for it last, in seconds since 1970.
    """

    folder: Path
    kind: str
    pinned: Path | None
    size_bytes: int
    used_s: float


@dataclass(frozen=True, slots=True)
class KindUsage:
    """All entries of a kind."""

    kind: str
    count: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class CacheUsage:
    """What the cache holds.

    Attributes:
        folder: of the cache.
        limit_bytes: what it shrinks to.
        kinds: the largest first.
    """

    folder: Path
    limit_bytes: int
    kinds: tuple[KindUsage, ...]

    @property
    def size_bytes(self) -> int:
        """All kinds together."""
        return sum(kind.size_bytes for kind in self.kinds)

    @property
    def count(self) -> int:
        """Entries of all kinds."""
        return sum(kind.count for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What making room came to.

    Attributes:
        removed_bytes: are gone.
        over_bytes: are still more than the limit, because somebody uses them.
    """

    removed_bytes: int
    over_bytes: int


def usage(root: Path) -> CacheUsage:
    """What a cache holds now.

    Raises:
        StudioError: the limit is no number.
    """
    counts, sizes = Counter[str](), Counter[str]()
    for entry in entries(root):
        counts[entry.kind] += 1
        sizes[entry.kind] += entry.size_bytes
    kinds = (KindUsage(kind, counts[kind], size) for kind, size in sizes.most_common())
    return CacheUsage(root, limit_bytes(), tuple(kinds))


def limit_bytes() -> int:
    """`PASSLENS_CACHE_GIB`, or the default.

    Raises:
        StudioError: it is no number.
    """
    text = os.environ.get(CACHE_LIMIT) or str(DEFAULT_LIMIT_GIB)
    try:
        limit = float(text)
        if not 0 <= limit < float("inf"):
            raise ValueError
    except ValueError:
        raise StudioError(
            f"{CACHE_LIMIT} is a number of GiB, 0 or more; not {quoted(text)}."
        ) from None
    return int(limit * (1 << 30))


def shrink(root: Path, *, limit: int | None = None, idle_s: float = IN_USE_S) -> Shrunk:
    """Remove what was not used for longest until the rest is within the limit.

    A model that somebody has open stays, with all that was made of it; so does a plan, and what was
    used just now. Half-made folders that nobody is making any more go in any case.

    Args:
        root: of the cache.
        limit: bytes; that of the environment by default.
        idle_s: what was used since so many seconds stays.

    Raises:
        StudioError: the limit is no number.
    """
    _remove_abandoned(root)
    here = sorted(entries(root), key=lambda e: (e.used_s, -len(e.folder.parts)))
    over = sum(entry.size_bytes for entry in here) - (limit_bytes() if limit is None else limit)
    removed, newest = 0, time.time() - idle_s
    for entry in here:
        if removed >= over or entry.used_s > newest:
            break
        removed += _remove(entry)
    return Shrunk(removed, max(0, over - removed))


def clear(root: Path) -> Shrunk:
    """Remove everything but models and plans that somebody has open."""
    return shrink(root, limit=0, idle_s=0.0)


def pin(folder: Path) -> FileLock | None:
    """Keep a model or a plan here until the lock is given back; None while it is removed."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    return try_lock(_pin_of(folder), shared=True)


def kind_of(folder: Path) -> str:
    """Of what kind the artifact in a folder is."""
    return folder.name.rpartition("-")[0]


def entries(root: Path) -> Iterator[CacheEntry]:
    """Everything in a cache that can go by itself."""
    for sample in _folders(root / GALLERY):
        yield _entry(sample, "sample network", None)
    for kernel in _folders(root / KERNELS):
        yield _entry(kernel, _KERNEL_KINDS[kind_of(kernel)], None)
    if (zig := root / ZIG).is_dir():
        files = [file.stat() for file in zig.rglob("*") if file.is_file()]
        size, used = sum(one.st_size for one in files), zig.stat().st_mtime
        yield CacheEntry(zig, "C library, compiled", None, size, used)
    for plan in _folders(root / PLANS):
        yield _entry(plan, "plan", plan)
    for model in _folders(root / MODELS):
        yield _entry(model, "model", model)
        for run in _folders(model):
            yield _entry(run, "run", model)
            for folder in _folders(run):
                yield _entry(folder, kind_of(folder).replace("-", " "), model)


def _entry(folder: Path, kind: str, pinned: Path | None) -> CacheEntry:
    size, used = 0, 0.0
    with suppress(FileNotFoundError), os.scandir(folder) as files:
        for file in files:
            with suppress(FileNotFoundError):
                if file.is_file(follow_symlinks=False):
                    status = file.stat(follow_symlinks=False)
                    size += status.st_size
                    used = max(used, status.st_mtime if file.name == LAST_USED else 0.0)
    return CacheEntry(folder, kind, pinned, size, used)


def _folders(parent: Path) -> Iterator[Path]:
    """The complete ones in it."""
    try:
        found = [Path(one.path) for one in os.scandir(parent) if one.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return
    yield from sorted(path for path in found if not path.name.startswith("."))


def _remove(entry: CacheEntry) -> int:
    """Remove an entry with all that is still in it, unless it is open."""
    if entry.pinned is None:
        remove_folder(entry.folder)
        return entry.size_bytes
    lock = try_lock(_pin_of(entry.pinned))
    if lock is None:
        return 0
    try:
        remove_folder(entry.folder)
    finally:
        lock.release()
    return entry.size_bytes


def _pin_of(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.open")


def _remove_abandoned(root: Path) -> None:
    """What a process that was killed had not finished."""
    models = root / MODELS
    runs = _folders(models)
    parents = [
        root / PLANS,
        models,
        *(place for model in runs for place in (model, *_folders(model))),
    ]
    for parent in parents:
        for draft, place in drafts(parent):
            lock = try_lock(lock_of(place))
            if lock is not None:
                shutil.rmtree(draft, ignore_errors=True)
                lock.release()
