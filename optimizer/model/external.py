"""Tensors whose data is in another file: which files may be read, and checks of what they hold.

An upload may name only files that came with it, looked up by their exact name; nothing is joined
to a path. A model on disk may name only regular files inside its own folder. Weights are never read
here: data on disk stays there until a tensor is used, and uploaded bytes are used in place.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import onnx_ir as ir
from onnx import TensorProto

from optimizer.errors import ExternalDataRefused, LimitError, quoted
from optimizer.model.limits import Limits
from optimizer.model.report import Place, Report
from optimizer.model.tensors import byte_count, element_count, size_text

_KEYS = frozenset({"location", "offset", "length", "checksum"})
_NUMBER = re.compile(r"[0-9]{1,19}", re.ASCII)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[A-Za-z]:")


class _RefusedError(Exception):
    """Why a data file cannot be used; `remedy` says what to do."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that tensors may be read from.

    Attributes:
        size: its bytes.
        path: where it is, if on disk.
        content: the bytes themselves, if in memory.
        linked: whether it was reached through a link, which only `follow_links` allows.
    """

    size: int
    path: Path | None = None
    content: memoryview | None = None
    linked: bool = False


class Sources(Protocol):
    """Finds data files by the location a tensor names."""

    def find(self, location: str) -> DataFile:
        """The file at `location`.

        Raises:
            _RefusedError: it may not or cannot be read.
        """
        ...


class UploadedFiles:
    """The files that were uploaded together with the model, by their exact names."""

    def __init__(self, companions: Mapping[str, bytes | Path]) -> None:
        self._companions = companions

    def find(self, location: str) -> DataFile:
        """The uploaded file of that very name."""
        companion = self._companions.get(location)
        if companion is None:
            raise _RefusedError(
                f"The data file {quoted(location)} was not uploaded.",
                "Upload it together with the model, under this very name.",
            )
        if isinstance(companion, Path):
            return DataFile(_regular_file_size(companion, location, links=False), path=companion)
        return DataFile(len(companion), content=memoryview(companion).toreadonly())


class FolderFiles:
    """The files in the folder of a model on disk.

    Args:
        folder: the model's folder; nothing outside of it is opened.
        follow_links: also accept symbolic and hard links, wherever they lead. For folders that the
            person at the keyboard chose, such as a Hugging Face cache; never for a server.
    """

    def __init__(self, folder: Path, *, follow_links: bool) -> None:
        self._folder = folder.absolute()
        self._real_folder = Path(os.path.realpath(folder))
        self._follow_links = follow_links

    def find(self, location: str) -> DataFile:
        """The regular file at `location` inside the folder."""
        reason = _location_problem(location)
        if reason:
            raise _RefusedError(reason, "Only files inside the model's own folder are read.")
        path = self._folder / location
        real = Path(os.path.realpath(path))
        linked = real != self._real_folder / location
        if linked and not self._follow_links:
            raise _RefusedError(
                f"The data file {quoted(location)} is reached through a symbolic link.",
                "Copy the file into the model's folder.",
            )
        size = _regular_file_size(real, location, links=self._follow_links)
        return DataFile(size, path=real if linked else path, linked=linked or self._follow_links)


class ExternalData:
    """Resolves a model's external tensors: first all checks, then the binding of data."""

    def __init__(self, sources: Sources, *, limits: Limits, report: Report) -> None:
        self._sources = sources
        self._limits = limits
        self._report = report
        self._files: dict[str, DataFile | _RefusedError] = {}

    def check(self, tensors: Iterable[tuple[TensorProto, Place]]) -> None:
        """Report every external tensor whose data may not be read or does not fit."""
        for tensor, where in tensors:
            try:
                _locate(_entries(tensor), tensor, self._file)
            except _RefusedError as refused:
                self._report.error(ExternalDataRefused, where, str(refused), remedy=refused.remedy)
        found = [file.size for file in self._files.values() if isinstance(file, DataFile)]
        if sum(found) > self._limits.external_bytes:
            limit = size_text(self._limits.external_bytes)
            message = f"Its data files take {size_text(sum(found))} (limit {limit})."
            self._report.error(LimitError, "model", message)

    def bind(self, model: ir.Model) -> None:
        """Give every external tensor of a checked model its data."""
        for holder in _external_holders(model):
            holder.replace(self._bound(holder.tensor))

    def _bound(self, tensor: ir.ExternalTensor) -> ir.TensorProtocol:
        file = self._file(f"{tensor.location}")
        if file.content is not None:
            return _in_memory(tensor, file.content)
        path = file.path or Path()
        # Without a base folder onnx_ir follows links, which have been allowed by then.
        location = str(path) if file.linked else path.name
        return ir.ExternalTensor(
            location,
            tensor.offset,
            tensor.length,
            tensor.dtype,
            shape=ir.Shape(tensor.shape),
            name=tensor.name or "",
            doc_string=tensor.doc_string,
            metadata_props=dict(tensor.metadata_props),
            base_dir="" if file.linked else str(path.parent),
        )

    def _file(self, location: str) -> DataFile:
        if location not in self._files:
            try:
                self._files[location] = self._sources.find(location)
            except _RefusedError as refused:
                self._files[location] = refused
        found = self._files[location]
        if isinstance(found, _RefusedError):
            raise found
        return found


@dataclass(frozen=True, slots=True)
class _Holder:
    """An external tensor in the graph, and what holds it."""

    tensor: ir.ExternalTensor
    owner: ir.Value | ir.Node
    attribute: ir.Attr | None = None

    def replace(self, tensor: ir.TensorProtocol) -> None:
        """Put `tensor` in its place."""
        if isinstance(self.owner, ir.Value):
            self.owner.const_value = tensor
            return
        if self.attribute is None:
            return
        attribute = self.attribute
        if attribute.type == ir.AttributeType.TENSOR:
            new = ir.AttrTensor(attribute.name, tensor, doc_string=attribute.doc_string)
        else:
            tensors = [tensor if old is self.tensor else old for old in attribute.as_tensors()]
            new = ir.AttrTensors(attribute.name, tensors, doc_string=attribute.doc_string)
        self.owner.attributes[attribute.name] = new


def _external_holders(model: ir.Model) -> Iterator[_Holder]:
    bodies: list[ir.Graph] = [model.graph, *(f.graph for f in model.functions.values())]
    while bodies:
        graph = bodies.pop()
        for value in list(graph.initializers.values()):
            if isinstance(value.const_value, ir.ExternalTensor):
                yield _Holder(value.const_value, value)
        for node in graph:
            for attribute in list(node.attributes.values()):
                if attribute.is_ref():
                    continue
                match attribute.type:
                    case ir.AttributeType.GRAPH:
                        bodies.append(attribute.as_graph())
                    case ir.AttributeType.GRAPHS:
                        bodies.extend(attribute.as_graphs())
                    case ir.AttributeType.TENSOR | ir.AttributeType.TENSORS:
                        yield from _in_attribute(node, attribute.name)
                    case _:
                        pass


def _in_attribute(node: ir.Node, name: str) -> Iterator[_Holder]:
    attribute = node.attributes[name]
    single = attribute.type == ir.AttributeType.TENSOR
    for tensor in [attribute.as_tensor()] if single else list(attribute.as_tensors()):
        if isinstance(tensor, ir.ExternalTensor):
            # Read anew each time: an earlier replacement has made a new attribute.
            yield _Holder(tensor, node, node.attributes[name])


def _in_memory(tensor: ir.ExternalTensor, content: memoryview) -> ir.TensorProtocol:
    data = content[tensor.offset or 0 :][: tensor.nbytes]
    dtype, shape = tensor.dtype, ir.Shape(tensor.shape)
    if dtype.bitwidth >= 8:
        array = np.frombuffer(data, dtype.numpy().newbyteorder("<")).reshape(shape.numpy())
        return ir.Tensor(array, dtype=dtype, shape=shape, name=tensor.name)
    # Packed types: onnx_ir unpacks them from a message.
    packed = TensorProto(
        name=tensor.name or "", data_type=dtype.value, dims=shape.numpy(), raw_data=bytes(data)
    )
    return ir.from_proto(packed)


def _entries(tensor: TensorProto) -> dict[str, str]:
    entries: dict[str, str] = {}
    for entry in tensor.external_data:
        if entry.key in entries:
            raise _RefusedError(f"{quoted(entry.key)} is given twice.", "Export the model again.")
        entries[entry.key] = entry.value
    unknown = sorted(str(key) for key in entries.keys() - _KEYS)
    if unknown:
        reason = f"Its external data has the unknown key {quoted(unknown[0])}."
        raise _RefusedError(reason, "Export the model again.")
    if not isinstance(entries.get("location", b""), str):
        raise _RefusedError("It names no data file.", "Export the model again.")
    return entries


def _locate(
    entries: Mapping[str, str], tensor: TensorProto, find: Callable[[str], DataFile]
) -> None:
    offset = _number(entries, "offset") or 0
    length = _number(entries, "length")
    needed = byte_count(tensor.data_type, element_count(tensor.dims))
    if length is not None and length != needed:
        raise _RefusedError(
            f"Its shape needs {needed:,} bytes, but its external data has {length:,}.",
            "Export the model again.",
        )
    file = find(entries["location"])
    if offset + needed > file.size:
        raise _RefusedError(
            f"It takes bytes {offset:,} to {offset + needed:,} of {quoted(entries['location'])}, "
            f"which has only {file.size:,}.",
            "The data file is cut short, or belongs to another model; fetch it again.",
        )


def _number(entries: Mapping[str, str], key: str) -> int | None:
    text = entries.get(key)
    if text is None or text == "":
        return None
    if not _NUMBER.fullmatch(text):
        reason = f"The {key} of its external data, {quoted(text)}, is no number of bytes."
        raise _RefusedError(reason, "Export the model again.")
    return int(text)


def _location_problem(location: str) -> str:
    shown = quoted(location)
    if not location or not location.isprintable():
        return f"The data file {shown} has an impossible name."
    if _URL.match(location):
        return f"The data file {shown} is an address, not a file in the model's folder."
    if "\\" in location or location.startswith(("/", "~", "*")):
        return f"The data file {shown} is not a plain path inside the model's folder."
    if ".." in location.split("/"):
        return f"The data file {shown} lies outside the model's folder."
    return ""


def _regular_file_size(path: Path, location: str, *, links: bool) -> int:
    """The size of a regular file, found out without ever waiting on a pipe or a device."""
    shown = quoted(location)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        remedy = "Put it into the model's folder, under this very name."
        raise _RefusedError(f"The data file {shown} is missing.", remedy) from None
    except (OSError, ValueError):
        remedy = "Check the file's permissions."
        raise _RefusedError(f"The data file {shown} cannot be opened.", remedy) from None
    try:
        info = os.fstat(handle)
    finally:
        os.close(handle)
    if not stat.S_ISREG(info.st_mode):
        raise _RefusedError(f"{shown} is not a regular file.", "Put the data itself there.")
    if info.st_nlink > 1 and not links:
        raise _RefusedError(
            f"The data file {shown} is a hard link.", "Copy the file into the model's folder."
        )
    return info.st_size
