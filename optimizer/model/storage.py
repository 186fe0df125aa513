"""Where the bytes of tensors go: into the model file, or into a data file beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import onnx
import onnx_ir as ir

from optimizer.stored import StoredTensor, chunks_of

if TYPE_CHECKING:
    from google.protobuf.internal.containers import RepeatedCompositeFieldContainer

SIDE_FILE_TENSOR_BYTES = 1024
"""Smaller tensors stay in the model file even where there is a side file."""

SIDE_FILE_ALIGNMENT = 64

TensorSink = Callable[[onnx.TensorProto, ir.TensorProtocol], None]
"""Fills a tensor message; its name is already set."""


def write_properties(
    entries: RepeatedCompositeFieldContainer[onnx.StringStringEntryProto],
    properties: Mapping[str, str],
) -> None:
    """Add the entries in the order of their keys."""
    for key in sorted(properties):
        entries.add(key=key, value=properties[key])


def describe(proto: onnx.TensorProto, tensor: ir.TensorProtocol) -> None:
    """Everything of the tensor but its elements."""
    proto.data_type = tensor.dtype.value
    proto.dims.extend(tensor.shape.numpy())
    if tensor.doc_string:
        proto.doc_string = tensor.doc_string
    write_properties(proto.metadata_props, tensor.metadata_props)


def store_inline(proto: onnx.TensorProto, tensor: ir.TensorProtocol) -> None:
    """Store the tensor in the message itself, as raw little-endian bytes."""
    describe(proto, tensor)
    if isinstance(tensor, ir.StringTensor):
        proto.string_data.extend(tensor.string_data())
    elif tensor.dtype == ir.DataType.STRING:
        proto.string_data.extend(tensor.numpy().ravel().tolist())
    else:
        proto.raw_data = tensor.tobytes()


class SideFile:
    """Stores large tensors in a data file and everything else inline."""

    def __init__(self, target: BinaryIO, *, location: str) -> None:
        self._target = target
        self._location = location
        self._end = 0

    def __call__(self, proto: onnx.TensorProto, tensor: ir.TensorProtocol) -> None:
        """Store one tensor, large ones in the data file."""
        if tensor.dtype == ir.DataType.STRING or tensor.nbytes < SIDE_FILE_TENSOR_BYTES:
            store_inline(proto, tensor)
            return
        offset = -(-self._end // SIDE_FILE_ALIGNMENT) * SIDE_FILE_ALIGNMENT
        self._target.write(bytes(offset - self._end))
        if isinstance(tensor, ir.ExternalTensor | StoredTensor):
            tensor.tofile(self._target)
        else:
            for chunk in chunks_of(tensor):
                self._target.write(chunk)
        self._end = offset + tensor.nbytes
        store_elsewhere(proto, tensor, self._location, offset)


class ByReference:
    """Leaves tensors in data files that other models have, and hands on all others.

    Args:
        locations: of these data files, by their paths.
        others: what becomes of all other tensors.
    """

    def __init__(self, locations: Mapping[Path, str], others: TensorSink) -> None:
        self._locations, self._others = locations, others

    def __call__(self, proto: onnx.TensorProto, tensor: ir.TensorProtocol) -> None:
        """Store one tensor, or say where it is."""
        path = data_file(tensor)
        location = None if path is None else self._locations.get(path)
        if location is None or not isinstance(tensor, StoredTensor):
            self._others(proto, tensor)
        else:
            store_elsewhere(proto, tensor, location, tensor.offset)


def data_file(tensor: ir.TensorProtocol) -> Path | None:
    """The data file that a tensor lies in, if other models may refer to it."""
    return tensor.storage.path if isinstance(tensor, StoredTensor) else None


def store_elsewhere(
    proto: onnx.TensorProto, tensor: ir.TensorProtocol, location: str, offset: int
) -> None:
    """Say where the elements are."""
    describe(proto, tensor)
    proto.data_location = onnx.TensorProto.EXTERNAL
    entries = {"location": location, "offset": str(offset), "length": str(tensor.nbytes)}
    for key, value in entries.items():
        proto.external_data.add(key=key, value=value)
