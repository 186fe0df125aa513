"""Tensors whose bytes stay where they are, in a file, until somebody needs them.

Who compares, hashes or copies reads in pieces and keeps none of them. An array of a large tensor is
mapped for as long as somebody holds it: what was looked at does not stay resident.
"""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import tempfile
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import onnx_ir as ir
from onnx import TensorProto

from optimizer.errors import ExternalDataRefused, StudioError, quoted
from optimizer.transposed_tensor import TransposedTensor, solid

CHUNK_BYTES = 1 << 18
"""In larger pieces Linux takes up to four times as long to write the same to a file."""

MAPPED_BYTES = 1 << 16
"""Smaller arrays are read, larger ones mapped."""

NEW_IN_MEMORY_BYTES = 64 << 20
"""New weights beyond this lie in a temporary file."""

_SAMPLES, _SAMPLE_BYTES = 256, 4096

_NO_KERNEL_COPY = {errno.EXDEV, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EPERM}


class Storage(Protocol):
    """Where bytes of tensors are.

    Attributes:
        size: in bytes.
        path: of a data file that other models may refer to; None where there is none.
        location: what the model calls it.
    """

    size: int
    path: Path | None
    location: str

    def read(self, start: int, count: int) -> bytes | memoryview:
        """A piece of it."""
        ...

    def view(self, start: int, count: int) -> bytes | memoryview:
        """A piece of it that is not copied."""
        ...

    def copy_to(self, target: BinaryIO, start: int, count: int) -> None:
        """Append a piece of it to a file."""
        ...


class MemoryStorage:
    """Bytes in memory: an uploaded data file."""

    def __init__(self, data: bytes, location: str) -> None:
        self._data = memoryview(data).toreadonly()
        self.size, self.location = len(data), location
        self.path: Path | None = None

    def read(self, start: int, count: int) -> memoryview:
        """A piece of it."""
        return self._data[start : start + count]

    view = read

    def copy_to(self, target: BinaryIO, start: int, count: int) -> None:
        """Append a piece of it to a file."""
        target.write(self.read(start, count))


class FileStorage:
    """A file, which is opened anew whenever it is read, and must not have changed since.

    Args:
        opened: opens it.
        location: what the model calls it.
        path: where other models find it; None where they may not refer to it.
    """

    def __init__(
        self,
        opened: Callable[[], AbstractContextManager[int]],
        location: str,
        path: Path | None = None,
    ) -> None:
        self._opened = opened
        with opened() as handle:
            self._state = _state(handle)
        self.size, self.path, self.location = self._state[2], path, location

    def read(self, start: int, count: int) -> bytes:
        """A piece of it.

        Raises:
            ExternalDataRefused: the file is not what it was.
        """
        with self._checked() as handle:
            return _read(handle, start, count)

    def view(self, start: int, count: int) -> bytes | memoryview:
        """A piece of it, mapped for as long as somebody holds it; a small one is read.

        Raises:
            ExternalDataRefused: the file is not what it was.
        """
        with self._checked() as handle:
            if count < MAPPED_BYTES:
                return _read(handle, start, count)
            begin = start - start % mmap.ALLOCATIONGRANULARITY
            mapped = mmap.mmap(handle, start + count - begin, access=mmap.ACCESS_READ, offset=begin)
            return memoryview(mapped)[start - begin :]

    def copy_to(self, target: BinaryIO, start: int, count: int) -> None:
        """Append a piece of it to a file; holes stay holes.

        Raises:
            ExternalDataRefused: the file is not what it was.
        """
        target.flush()
        end = target.tell() + count
        with self._checked() as handle:
            for begin, length in _data_ranges(handle, start, start + count):
                _copy(handle, begin, length, target.fileno(), end - (start + count - begin))
        target.seek(end)
        target.truncate(end)

    def allocated_bytes(self) -> int:
        """Bytes it takes on the disk: fewer than its size if it has holes."""
        with self._checked() as handle:
            return min(self.size, os.fstat(handle).st_blocks * 512)

    @contextmanager
    def _checked(self) -> Generator[int]:
        with self._opened() as handle:
            now = _state(handle)
            if now != self._state:
                how = "was cut short" if now[2] < self.size else "has changed"
                raise ExternalDataRefused(
                    f"The data file {quoted(self.location)} {how} meanwhile; open the model again."
                )
            yield handle


def held_open(handle: int) -> Callable[[], AbstractContextManager[int]]:
    """Opens a file that stays the same one though another takes its name; closed when let go."""
    holder = _Holder()
    weakref.finalize(holder, os.close, handle)
    return partial(_lent, holder, handle)


class _Holder:
    """Lives as long as whoever may read a file."""


def _lent(holder: _Holder, handle: int) -> AbstractContextManager[int]:
    del holder
    return nullcontext(handle)


class Scratch(FileStorage):
    """A nameless file for new weights that are too many to be kept in memory."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile() as file:
            self._handle = os.dup(file.fileno())
        super().__init__(held_open(self._handle), "")

    def keep(self, tensor: ir.TensorProtocol) -> StoredTensor:
        """The same tensor, its bytes here.

        Raises:
            OSError: there is no room.
        """
        start = self.size
        at = start
        for chunk in chunks_of(tensor):
            rest = memoryview(chunk)
            while rest:
                written = os.pwrite(self._handle, rest, at)
                rest, at = rest[written:], at + written
        self._state = _state(self._handle)
        self.size = self._state[2]
        return StoredTensor(self, start, tensor)


class NewWeights:
    """What rewrites make: in memory as long as it is little, else large tensors on the disk."""

    def __init__(self) -> None:
        self._bytes = 0
        self._scratch: Scratch | None = None

    def keep(self, tensor: ir.TensorProtocol) -> ir.TensorProtocol:
        """The same tensor, wherever its bytes are from now on.

        Raises:
            StudioError: there is no room for it.
        """
        if isinstance(tensor, StoredTensor | TransposedTensor):
            return tensor
        if tensor.dtype == ir.DataType.STRING:
            return tensor
        self._bytes += tensor.nbytes
        if self._bytes <= NEW_IN_MEMORY_BYTES or tensor.nbytes < MAPPED_BYTES:
            return tensor
        try:
            self._scratch = self._scratch or Scratch()
            return self._scratch.keep(tensor)
        except OSError as error:
            raise StudioError(
                f"New weights go to {quoted(tempfile.gettempdir())}, and writing there failed "
                f"({error.strerror}). Name another folder in TMPDIR."
            ) from error


def evidence(storage: Storage) -> str:
    """Whether a data file is the same one, cheaply: a hash (hex) of its size and of samples.

    The samples are its first and last 4 KiB, and 255 pieces evenly between; of a file of up to
    1 MiB they are all there is.
    """
    known = hashlib.sha256(f"{storage.size}\0".encode())
    step = max(_SAMPLE_BYTES, storage.size // _SAMPLES)
    for start in range(0, storage.size, step):
        known.update(storage.read(start, min(_SAMPLE_BYTES, storage.size - start)))
    known.update(storage.read(max(0, storage.size - _SAMPLE_BYTES), _SAMPLE_BYTES))
    return known.hexdigest()


class StoredTensor(ir.LazyTensor):
    """A tensor that begins at some byte of a storage.

    Args:
        storage: where.
        offset: its first byte there.
        like: a tensor of the same type, shape, name and documentation.
    """

    __slots__ = ("offset", "storage")

    def __init__(self, storage: Storage, offset: int, like: ir.TensorProtocol) -> None:
        shape = ir.Shape(like.shape.numpy())
        super().__init__(
            partial(_tensor, storage, offset, like.dtype, shape),
            like.dtype,
            shape,
            name=like.name or "",
            doc_string=like.doc_string,
            metadata_props=dict(like.metadata_props),
        )
        self.storage, self.offset = storage, offset

    def read(self, start: int, count: int) -> bytes | memoryview:
        """Bytes `start` to `start + count` of it, fewer at its end."""
        count = min(count, self.nbytes - start)
        return self.storage.read(self.offset + start, count)

    def tobytes(self) -> bytes:
        """All of it, little-endian, as ONNX stores it."""
        return bytes(self.read(0, self.nbytes))

    def tofile(self, file: BinaryIO) -> None:
        """Append it to a file."""
        self.storage.copy_to(file, self.offset, self.nbytes)


def chunks_of(tensor: ir.TensorProtocol) -> Iterator[bytes | memoryview]:
    """The bytes of a tensor as ONNX stores them, in pieces of `CHUNK_BYTES`."""
    if isinstance(tensor, StoredTensor):
        for start in range(0, tensor.nbytes, CHUNK_BYTES):
            yield tensor.read(start, CHUNK_BYTES)
        return
    data = memoryview(bytes_in_memory(tensor))
    for start in range(0, len(data), CHUNK_BYTES):
        yield data[start : start + CHUNK_BYTES]


def bytes_in_memory(tensor: ir.TensorProtocol) -> bytes | memoryview:
    """The bytes of a tensor as ONNX stores them; not copied where they lie so in memory."""
    if isinstance(tensor, TransposedTensor):
        array = solid(tensor.numpy())
    elif tensor.dtype.bitwidth < 8 or not isinstance(tensor, ir.Tensor):
        return tensor.tobytes()
    else:
        array = tensor.numpy()
    if not array.flags.c_contiguous or array.dtype.byteorder == ">":
        return tensor.tobytes()
    return array.reshape(-1).view(np.uint8).data


def _tensor(
    storage: Storage, offset: int, dtype: ir.DataType, shape: ir.Shape
) -> ir.TensorProtocol:
    """The tensor with its data, which stays where it is."""
    count = (dtype.bitwidth * int(np.prod(shape.numpy(), dtype=object)) + 7) // 8
    data = storage.view(offset, count)
    if dtype.bitwidth >= 8:
        array = np.frombuffer(data, dtype.numpy().newbyteorder("<")).reshape(shape.numpy())
        return ir.Tensor(array, dtype=dtype, shape=shape)
    # Packed types: onnx_ir unpacks them from a message.
    return ir.from_proto(
        TensorProto(data_type=dtype.value, dims=shape.numpy(), raw_data=bytes(data))
    )


def _state(handle: int) -> tuple[int, int, int, int]:
    info = os.fstat(handle)
    return info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns


def _read(handle: int, start: int, count: int) -> bytes:
    data = os.pread(handle, count, start)
    if len(data) == count:
        return data
    parts = [data]
    while data and sum(map(len, parts)) < count:
        read = sum(map(len, parts))
        data = os.pread(handle, count - read, start + read)
        parts.append(data)
    return b"".join(parts)


def _data_ranges(handle: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Beginning and length of what lies between the holes of a file."""
    while start < end:
        try:
            begin = os.lseek(handle, start, os.SEEK_DATA)
            stop = os.lseek(handle, begin, os.SEEK_HOLE)
        except OSError as error:
            if error.errno != errno.ENXIO:  # a file system that knows no holes
                yield start, end - start
            return
        if begin >= end:
            return
        yield begin, min(stop, end) - begin
        start = stop


def _copy(source: int, start: int, count: int, target: int, at: int) -> None:
    """Copy within the kernel, where that is possible."""
    while count:
        try:
            copied = os.copy_file_range(source, target, count, start, at)
        except OSError as error:
            if error.errno not in _NO_KERNEL_COPY:
                raise
            copied = os.pwrite(target, os.pread(source, min(count, CHUNK_BYTES), start), at)
        if not copied:
            raise ExternalDataRefused("A data file was cut short while it was copied.")
        start, at, count = start + copied, at + copied, count - copied
