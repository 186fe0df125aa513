"""Messages between two processes over a Unix socket.

Small parts travel as a pickle; large byte strings and array buffers go into one anonymous memory
file whose descriptor is passed along, so that a 400 MB model costs one copy. What comes back from
a worker is read with `_PlainUnpickler`: a worker has run native code on a stranger's file, hence it
may name data classes but no functions.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import socket
import struct
import time
from typing import cast

BLOB_BYTES = 1 << 18
"""Byte strings and buffers from this size on do not go through the pickle."""

MAX_PICKLE_BYTES = 1 << 30
_ALIGNMENT = 64
_HEADER = struct.Struct("!QII")  # bytes of pickle, number of byte strings, number of buffers
_OUR_PACKAGES = frozenset({"ml_dtypes", "optimizer", "profiling", "studio", "tests"})
_PLAIN = frozenset(
    {
        ("_codecs", "encode"),
        ("builtins", "bytearray"),
        ("builtins", "complex"),
        ("builtins", "frozenset"),
        ("builtins", "range"),
        ("builtins", "set"),
        ("builtins", "slice"),
        ("collections", "Counter"),
        ("collections", "OrderedDict"),
        ("collections", "deque"),
        ("datetime", "datetime"),
        ("datetime", "timedelta"),
        ("datetime", "timezone"),
        ("fractions", "Fraction"),
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "scalar"),
        ("numpy._core.numeric", "_frombuffer"),
        ("pathlib", "PosixPath"),
        ("pathlib", "PurePosixPath"),
    }
)


class Channel:
    """One end of a connection.

    Args:
        connection: a connected stream socket; the channel owns it.
        trusted: whether the other end may name any importable object.
    """

    def __init__(self, connection: socket.socket, *, trusted: bool) -> None:
        self._socket = connection
        self._trusted = trusted

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close this end."""
        self._socket.close()

    def send(self, message: object, *, timeout_s: float | None = None) -> None:
        """Send `message` whole.

        Raises:
            OSError: the other end is gone, or does not read within `timeout_s`.
        """
        target = io.BytesIO()
        pickler = _Pickler(target)
        pickler.dump(message)
        payload, blobs = target.getbuffer(), pickler.strings + pickler.buffers
        sizes = struct.pack(f"!{len(blobs)}Q", *(blob.nbytes for blob in blobs))
        header = _HEADER.pack(len(payload), len(pickler.strings), len(pickler.buffers))
        self._socket.settimeout(timeout_s)
        if blobs:
            descriptor = _memory_file(blobs)
            try:
                socket.send_fds(self._socket, [header], [descriptor])
            finally:
                os.close(descriptor)
        else:
            self._socket.sendall(header)
        self._socket.sendall(sizes)
        self._socket.sendall(payload)

    def receive(self, *, timeout_s: float | None = None) -> object:
        """The next message.

        Raises:
            EOFError: the other end is gone.
            TimeoutError: the message is not complete within `timeout_s`.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        header, descriptors = self._read_header(deadline)
        try:
            length, string_count, buffer_count = _HEADER.unpack(header)
            blob_count = string_count + buffer_count
            if length > MAX_PICKLE_BYTES or len(descriptors) != bool(blob_count):
                raise EOFError("malformed message")
            sizes = struct.unpack(f"!{blob_count}Q", self._read(8 * blob_count, deadline))
            payload = self._read(length, deadline)
            blobs = _mapped(descriptors[0], sizes) if blob_count else []
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        unpickler = _Unpickler if self._trusted else _PlainUnpickler
        return unpickler(io.BytesIO(payload), blobs[:string_count], blobs[string_count:]).load()

    def _read_header(self, deadline: float | None) -> tuple[bytes, list[int]]:
        self._arm(deadline)
        data, descriptors, _, _ = socket.recv_fds(self._socket, _HEADER.size, 1)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        if not data:
            raise EOFError
        return data + self._read(_HEADER.size - len(data), deadline), descriptors

    def _read(self, length: int, deadline: float | None) -> bytes:
        buffer = bytearray(length)
        view = memoryview(buffer)
        while view:
            self._arm(deadline)
            count = self._socket.recv_into(view)
            if not count:
                raise EOFError
            view = view[count:]
        return bytes(buffer)

    def _arm(self, deadline: float | None) -> None:
        left = None if deadline is None else max(0.001, deadline - time.monotonic())
        self._socket.settimeout(left)


class _Pickler(pickle.Pickler):
    def __init__(self, target: io.BytesIO) -> None:
        super().__init__(target, protocol=5, buffer_callback=self._take_buffer)
        self.strings: list[memoryview] = []
        self.buffers: list[memoryview] = []

    def persistent_id(self, obj: object) -> int | None:
        if type(obj) is not bytes or len(obj) < BLOB_BYTES:
            return None
        self.strings.append(memoryview(obj))
        return len(self.strings) - 1

    def _take_buffer(self, buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < BLOB_BYTES:
            return True  # stays in the pickle
        self.buffers.append(raw)
        return False


class _Unpickler(pickle.Unpickler):
    def __init__(
        self, source: io.BytesIO, strings: list[memoryview], buffers: list[memoryview]
    ) -> None:
        super().__init__(source, buffers=buffers)
        self._strings = strings

    def persistent_load(self, pid: int) -> bytes:
        return bytes(self._strings[pid])


class _PlainUnpickler(_Unpickler):
    def find_class(self, module_name: str, global_name: str) -> object:
        if (module_name, global_name) in _PLAIN:
            return super().find_class(module_name, global_name)
        if module_name.split(".")[0] in _OUR_PACKAGES:
            found = super().find_class(module_name, global_name)
            if isinstance(found, type) and found.__module__.split(".")[0] in _OUR_PACKAGES:
                return cast("object", found)
        raise pickle.UnpicklingError(f"a worker may not send {module_name}.{global_name}")


def _memory_file(blobs: list[memoryview]) -> int:
    descriptor = os.memfd_create("passlens", os.MFD_CLOEXEC)
    offset = 0
    for blob in blobs:
        view = blob.cast("B")
        while view:
            written = os.pwrite(descriptor, view, offset)
            offset += written
            view = view[written:]
        offset = _aligned(offset)
    os.ftruncate(descriptor, max(offset, 1))
    return descriptor


def _mapped(descriptor: int, sizes: tuple[int, ...]) -> list[memoryview]:
    if os.fstat(descriptor).st_size < sum(_aligned(size) for size in sizes):
        raise EOFError("malformed message")
    view = memoryview(mmap.mmap(descriptor, 0, flags=mmap.MAP_PRIVATE))
    blobs: list[memoryview] = []
    offset = 0
    for size in sizes:
        blobs.append(view[offset : offset + size])
        offset = _aligned(offset + size)
    return blobs


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT
