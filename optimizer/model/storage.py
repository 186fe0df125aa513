"""Where the bytes of tensors go: into the model file, or into a data file beside it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import onnx
import onnx_ir as ir

from optimizer.errors import StudioError, quoted

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


def _describe(proto: onnx.TensorProto, tensor: ir.TensorProtocol) -> None:
    proto.data_type = tensor.dtype.value
    proto.dims.extend(tensor.shape.numpy())
    if tensor.doc_string:
        proto.doc_string = tensor.doc_string
    write_properties(proto.metadata_props, tensor.metadata_props)


def store_inline(proto: onnx.TensorProto, tensor: ir.TensorProtocol) -> None:
    """Store the tensor in the message itself, as raw little-endian bytes."""
    _describe(proto, tensor)
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
        _describe(proto, tensor)
        offset = -(-self._end // SIDE_FILE_ALIGNMENT) * SIDE_FILE_ALIGNMENT
        self._target.write(bytes(offset - self._end))
        if isinstance(tensor, ir.ExternalTensor):  # else each maps the whole file anew
            tensor.tofile(self._target)
        else:
            self._target.write(tensor.tobytes())
        self._end = offset + tensor.nbytes
        proto.data_location = onnx.TensorProto.EXTERNAL
        entries = {"location": self._location, "offset": str(offset), "length": str(tensor.nbytes)}
        for key, value in entries.items():
            proto.external_data.add(key=key, value=value)


@contextmanager
def replacement(path: Path) -> Generator[BinaryIO]:
    """A new file that takes the place of `path` once it is complete."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
    except OSError as error:
        raise StudioError(
            f"Cannot write {quoted(path)}: {error.strerror}. Choose a folder you may write to."
        ) from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as target:
            yield target
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise StudioError(f"Cannot write {quoted(path)}: {error.strerror}.") from error
    finally:
        temporary.unlink(missing_ok=True)
