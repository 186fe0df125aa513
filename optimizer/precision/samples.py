"""The inputs that a model is run on to learn its numbers: files of the user's, or generated ones.

A folder has one sample a file: `.npz` with an array for each input, by its name, or `.npy` for a
model with one input. Files are taken in the order of their names; others are passed over. Nothing
is read that is no regular file of the folder itself, and no file can run code.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import onnx_ir as ir

from optimizer.errors import SampleError, quoted
from optimizer.numbers import bytes_text, counted
from optimizer.verify.feeds import DTYPES, Array, Input, draw
from optimizer.verify.jobs import Request, accepted_feeds
from optimizer.verify.runtime import Session

SUFFIXES = (".npy", ".npz")
SAMPLE_BYTES = 1 << 30
"""The most that the arrays of one sample may take."""
MOST_FILES = 100_000
_FORMAT = np.lib.format


@dataclass(frozen=True, slots=True)
class Samples:
    """Which inputs a model is run on.

    Attributes:
        folder: of the user's files; None for generated inputs, whose errors rank methods only.
        count: the most that are taken.
        skip: as many are left out before, for instance those that something was calibrated on.
        bindings: sizes of free dimensions by name, for generated inputs.
    """

    folder: Path | None = None
    count: int = 8
    skip: int = 0
    bindings: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def generated(self) -> bool:
        """Whether nobody gave any: to be said wherever a result is shown."""
        return self.folder is None

    def __str__(self) -> str:
        """What they are, for a person."""
        if self.folder is None:
            return counted(self.count, "generated input")
        return f"at most {counted(self.count, 'file')} of {quoted(self.folder.name)}"


def absolute(samples: Samples) -> Samples:
    """The same, for a process with another working folder."""
    return samples if samples.folder is None else replace(samples, folder=samples.folder.absolute())


def files_of(samples: Samples) -> tuple[Path, ...]:
    """The user's files that are to be read.

    Raises:
        SampleError: there is no such folder, or nothing in it to read.
    """
    if samples.folder is None:
        return ()
    where = quoted(samples.folder)
    try:
        with os.scandir(samples.folder) as entries:
            names = [entry.name for _, entry in zip(range(MOST_FILES), entries, strict=False)]
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise SampleError(f"The folder of samples {where} cannot be read: {reason}.") from error
    found = sorted(name for name in names if name.endswith(SUFFIXES))
    if not found:
        raise SampleError(f"The folder of samples {where} holds no .npz or .npy file.")
    kept = found[samples.skip : samples.skip + samples.count]
    if not kept:
        raise SampleError(
            f"The folder of samples {where} holds {counted(len(found), 'file')}, all of them among"
            f" the {samples.skip} that are left out."
        )
    return tuple(samples.folder / name for name in kept)


@dataclass(frozen=True, slots=True)
class Supply:
    """Samples, where a model runs.

    Attributes:
        names: of all samples, for messages.
        read: gives the arrays of one, by the input's name.
        largest: the one whose arrays are largest.
    """

    names: tuple[str, ...]
    read: Callable[[int], Mapping[str, Array]]
    largest: int = 0


def supply_of(samples: Samples, session: Session, structure: ir.Model) -> Supply:
    """The samples for a model. Runs it, if they are generated; only in a worker process.

    Raises:
        SampleError: a file is wrong.
        NotRunnable: the model does not run on any inputs that come to mind.
    """
    if samples.folder is None:
        accepted, _ = accepted_feeds(session, structure, Request(1, samples.bindings))
        return Supply(
            tuple(f"generated input {number + 1}" for number in range(samples.count)),
            lambda number: draw(accepted[0], seed=samples.skip + number),
        )
    files = files_of(samples)
    found = SampleFiles(files, session.interface.inputs)
    largest = int(np.argmax(found.size_bytes))
    return Supply(tuple(f"sample {quoted(file.name)}" for file in files), found.read, largest)


class SampleFiles:
    """The user's samples, each read when it is asked for.

    Args:
        files: of the samples.
        inputs: what the model takes.

    Raises:
        SampleError: an array of any file has a wrong name, type or shape, or a file is none.
    """

    def __init__(self, files: Sequence[Path], inputs: Sequence[Input]) -> None:
        self._files = files
        self._inputs = {item.name: item for item in inputs}
        self.size_bytes = [self._check(file) for file in files]

    def read(self, number: int) -> dict[str, Array]:
        """The arrays of one sample by the input's name.

        Raises:
            SampleError: an array is cut short or holds a NaN.
        """
        file = self._files[number]
        arrays: dict[str, Array] = {}
        for name, stream in self._streams(file):
            try:
                array = _FORMAT.read_array(stream, allow_pickle=False)
            except Exception as error:  # numpy, zipfile and zlib raise a dozen kinds
                raise _fault(file, name, f"is damaged: {quoted(str(error))}") from error
            if array.dtype.kind == "f" and np.isnan(array.astype(np.float32)).any():
                raise _fault(file, name, "holds a NaN")
            arrays[name] = array.astype(np.object_) if array.dtype.kind == "U" else array
        return arrays

    def _check(self, file: Path) -> int:
        """The size of a sample, by what its arrays say of themselves."""
        size_bytes, seen = 0, set[str]()
        for name, stream in self._streams(file):
            shape, dtype = _header(file, name, stream)
            if name not in self._inputs:
                known = ", ".join(quoted(other) for other in self._inputs)
                raise _fault(file, name, f"is no input of the model, which takes {known}")
            if problem := _mismatch(self._inputs[name], shape, dtype):
                raise _fault(file, name, problem)
            size_bytes += int(np.prod(shape, dtype=np.float64)) * dtype.itemsize
            seen.add(name)
        if size_bytes > SAMPLE_BYTES:
            size, limit = bytes_text(size_bytes), bytes_text(SAMPLE_BYTES)
            raise SampleError(f"Sample {quoted(file.name)} takes {size}; at most {limit} may.")
        for name in self._inputs:
            if name not in seen:
                raise SampleError(f"Sample {quoted(file.name)} has no array for input '{name}'.")
        return size_bytes

    def _streams(self, file: Path) -> Iterator[tuple[str, IO[bytes]]]:
        """Each array's name and bytes."""
        with _regular_file(file) as stream:
            if file.suffix == ".npy":
                if len(self._inputs) != 1:
                    raise SampleError(
                        f"Sample {quoted(file.name)} is one array, but the model has"
                        f" {counted(len(self._inputs), 'input')}: write an .npz with their names."
                    )
                yield next(iter(self._inputs)), stream
                return
            try:
                with zipfile.ZipFile(stream) as archive:
                    for member in archive.namelist():
                        with archive.open(member) as opened:
                            yield member.removesuffix(".npy"), opened
            except Exception as error:  # whatever the archive leads to
                raise SampleError(f"Sample {quoted(file.name)} is no .npz file.") from error


def _header(file: Path, name: str, stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array, before any of it is read."""
    try:
        version = _FORMAT.read_magic(stream)
        read = _FORMAT.read_array_header_1_0 if version == (1, 0) else _FORMAT.read_array_header_2_0
        shape, _, dtype = read(stream)
    except Exception as error:  # whatever its parser raises
        raise _fault(file, name, "is no array that numpy wrote") from error
    return shape, dtype


def _mismatch(item: Input, shape: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    """Why an array does not fit an input; empty if it does."""
    wanted = DTYPES.get(item.type)
    if dtype.hasobject:
        return "is pickled Python, which is not read"
    if wanted != (np.object_ if dtype.kind == "U" else dtype):
        return f"has type {dtype}; the input takes {item.type}"
    fits = len(shape) == len(item.shape) and all(
        size == dim or not isinstance(dim, int) for size, dim in zip(shape, item.shape, strict=True)
    )
    if not fits:
        taken = ["?" if dim is None else dim for dim in item.shape]
        return f"has shape {list(shape)}; the input takes {taken}"
    return ""


@contextmanager
def _regular_file(path: Path) -> Generator[IO[bytes]]:
    """The open file, without following a link or waiting on a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        remedy = "put the file itself there" if path.is_symlink() else "check its permissions"
        reason = "is a link" if path.is_symlink() else "cannot be opened"
        raise SampleError(f"Sample {quoted(path.name)} {reason}: {remedy}.") from error
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise SampleError(f"Sample {quoted(path.name)} is no regular file.")
        yield stream


def _fault(file: Path, name: str, problem: str) -> SampleError:
    return SampleError(f"Sample {quoted(file.name)}, array {quoted(name)}: it {problem}.")
