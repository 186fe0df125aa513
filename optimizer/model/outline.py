"""A large model file without its large weights, which stay in the file.

The walk copies every field as it is, but the bytes of the main graph's large initializers: these
become external data that lies in the model's own file. What is odd in any way is left to whoever
reads the whole file and says what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from google.protobuf.message import DecodeError
from onnx import TensorProto

from optimizer.model.tensors import BITS, byte_count, element_count

OUTLINED_FILE_BYTES = 1 << 24
"""Smaller files are read whole: looking through one with many nodes takes as long."""
OUTLINED_TENSOR_BYTES = 1 << 16
"""Smaller tensors stay."""

_WINDOW_BYTES = 1 << 16
_GRAPH, _INITIALIZER, _RAW_DATA = 7, 5, 9
_STORED_ELSEWHERE = frozenset({3, 4, 5, 6, 7, 10, 11, 13})
_FIXED = {1: 8, 5: 4}

Read = Callable[[int, int], bytes]
"""`read(start, count)` of the file."""


def outlined(read: Read, size: int, location: str) -> bytes | None:
    """The file without its large weights; None where it has to be read whole.

    Args:
        read: gives pieces of it.
        size: of it.
        location: what its tensors call it.
    """
    try:
        return _Outline(read, size, location).model()
    except (IndexError, ValueError, DecodeError):
        return None


def outlined_file(path: Path) -> bytes | None:
    """The same of a file that refers to itself by its name; None of a small one, too."""
    with path.open("rb") as file:
        handle = file.fileno()
        size = os.fstat(handle).st_size
        if size < OUTLINED_FILE_BYTES:
            return None
        return outlined(lambda start, count: os.pread(handle, count, start), size, path.name)


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


class _Field(NamedTuple):
    number: int
    wire: int
    begin: int
    value: int
    end: int


class _Outline:
    def __init__(self, read: Read, size: int, location: str) -> None:
        self._read, self._size, self._location = read, size, location
        self._window, self._base = b"", 0

    def model(self) -> bytes:
        parts: list[bytes] = []
        graphs = 0
        for field in self._fields(0, self._size):
            if field.number == _GRAPH and field.wire == 2:
                graphs += 1
                graph = self._graph(field.value, field.end)
                parts += [b"\x3a", varint(len(graph)), graph]
            else:
                parts.append(self._read(field.begin, field.end - field.begin))
        if graphs != 1:
            raise ValueError
        return b"".join(parts)

    def _graph(self, begin: int, end: int) -> bytes:
        parts: list[bytes] = []
        kept = begin
        for field in self._fields(begin, end):
            if field.number != _INITIALIZER or field.end - field.value < OUTLINED_TENSOR_BYTES:
                continue
            tensor = self._tensor(field.value, field.end)
            if tensor:
                parts.append(self._read(kept, field.begin - kept))
                parts += [b"\x2a", varint(len(tensor)), tensor]
                kept = field.end
        return b"".join([*parts, self._read(kept, end - kept)])

    def _tensor(self, begin: int, end: int) -> bytes:
        """The tensor without its data; nothing where that is not plain raw data."""
        parts: list[bytes] = []
        raw: list[_Field] = []
        for field in self._fields(begin, end):
            if field.number in _STORED_ELSEWHERE:
                return b""
            if field.number == _RAW_DATA and field.wire == 2:
                raw.append(field)
            else:
                parts.append(self._read(field.begin, field.end - field.begin))
        kept = b"".join(parts)
        tensor = TensorProto.FromString(kept)
        if len(raw) != 1 or tensor.data_location != TensorProto.DEFAULT:
            return b""
        if tensor.data_type not in BITS or any(dim < 0 for dim in tensor.dims):
            return b""
        offset, length = raw[0].value, raw[0].end - raw[0].value
        if length != byte_count(tensor.data_type, element_count(tensor.dims)):
            return b""
        added = TensorProto(data_location=TensorProto.EXTERNAL)
        entries = {"location": self._location, "offset": str(offset), "length": str(length)}
        for key, value in entries.items():
            added.external_data.add(key=key, value=value)
        return kept + added.SerializeToString()

    def _fields(self, begin: int, end: int) -> Iterator[_Field]:
        pos = begin
        while pos < end:
            tag, value = self._varint(pos)
            wire, start = tag & 7, value
            if wire == 2:
                length, start = self._varint(value)
                stop = start + length
            elif wire == 0:
                stop = self._varint(value)[1]
            elif wire in _FIXED:
                stop = value + _FIXED[wire]
            else:
                raise ValueError
            if stop > end:
                raise IndexError
            yield _Field(tag >> 3, wire, pos, start, stop)
            pos = stop

    def _varint(self, pos: int) -> tuple[int, int]:
        at = pos - self._base
        if not 0 <= at <= len(self._window) - 10:
            self._window, self._base = self._read(pos, min(_WINDOW_BYTES, self._size - pos)), pos
            at = 0
        number = shift = 0
        while True:
            byte = self._window[at]
            number |= (byte & 0x7F) << shift
            at += 1
            if byte < 0x80:
                return number, self._base + at
            shift += 7
