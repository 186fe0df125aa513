"""Tensors whose data is in another file: every check of what they claim, then their binding.

No weights are read here: data on disk stays there until a tensor is used (`optimizer.stored`), and
uploaded bytes are used in place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import onnx_ir as ir
from onnx import TensorProto

from optimizer.constants import AbsentTensor
from optimizer.errors import ExternalDataRefused, LimitError, quoted
from optimizer.limits import Limits
from optimizer.model.data_files import DataFileRefused, Missing, Sources
from optimizer.model.graph import walk_graphs
from optimizer.model.report import EXPORT_AGAIN, Findings, Place
from optimizer.model.tensors import byte_count, element_count
from optimizer.numbers import bytes_text
from optimizer.stored import Storage, StoredTensor

_KEYS = frozenset({"location", "offset", "length", "checksum"})
SHOWN_PLACES = 3
_NUMBER = re.compile(r"[0-9]{1,19}", re.ASCII)


class ExternalData:
    """Resolves a model's external tensors: first all checks, then the binding of data.

    A file that is merely not there leaves a model that can be looked at; one that may not be read,
    or does not fit, refuses it.
    """

    def __init__(self, sources: Sources, *, limits: Limits, report: Findings) -> None:
        self._sources = sources
        self._limits = limits
        self._report = report
        self._files: dict[str, Storage | DataFileRefused] = {}

    def check(self, tensors: Iterable[tuple[TensorProto, Place]]) -> None:
        """Report every external tensor whose data may not be read or does not fit."""
        absent: list[tuple[Place, Missing]] = []
        for tensor, where in tensors:
            try:
                _locate(_entries(tensor), tensor, self._file)
            except Missing as missing:
                absent.append((where, missing))
            except DataFileRefused as refused:
                self._report.error(ExternalDataRefused, where, str(refused), remedy=refused.remedy)
        found = [
            file.size for file in self._files.values() if not isinstance(file, DataFileRefused)
        ]
        if sum(found) > self._limits.external_bytes:
            limit = bytes_text(self._limits.external_bytes)
            message = f"Its data files take {bytes_text(sum(found))} (limit {limit})."
            self._report.error(LimitError, "model", message, remedy="")

        if absent:
            self._say_absent(absent)

    def _say_absent(self, absent: Sequence[tuple[Place, Missing]]) -> None:
        """Once for all tensors: a large model has hundreds, often in a file each."""
        files = sum(isinstance(found, Missing) for found in self._files.values())
        others = f" and {files - 1} more" if files > 1 else ""
        places = ", ".join(str(where) for where, _ in absent[:SHOWN_PLACES])
        more = ", …" if len(absent) > SHOWN_PLACES else ""
        first = absent[0][1]
        have = "tensor has" if len(absent) == 1 else "tensors have"
        self._report.warning(
            "",
            f"{str(first).removesuffix('.')}{others}: {len(absent):,} {have} no values "
            f"({places}{more}). Folding, optimizing, verifying and running need them; the graph "
            "can be looked at.",
            remedy=first.remedy,
            blocks=("optimizable", "runnable"),
        )

    def bind(self, model: ir.Model) -> None:
        """Give every external tensor of a checked model its data."""
        for top in (model.graph, *(function.graph for function in model.functions.values())):
            for graph in walk_graphs(top):
                for value in graph.initializers.values():
                    if value.const_value is not None:
                        value.const_value = self._bound(value.const_value)
                for node in graph:
                    self._bind_attributes(node)

    def _bind_attributes(self, node: ir.Node) -> None:
        for name, old in list(node.attributes.items()):
            if old.type == ir.AttributeType.TENSOR and not old.is_ref():
                new = ir.AttrTensor(name, self._bound(old.value), doc_string=old.doc_string)
            elif old.type == ir.AttributeType.TENSORS and not old.is_ref():
                tensors = [self._bound(tensor) for tensor in old.as_tensors()]
                new = ir.AttrTensors(name, tensors, doc_string=old.doc_string)
            else:
                continue
            node.attributes[name] = new

    def _bound(self, tensor: ir.TensorProtocol) -> ir.TensorProtocol:
        if not isinstance(tensor, ir.ExternalTensor):
            return tensor
        try:
            file = self._file(f"{tensor.location}")
        except Missing:
            return AbsentTensor(tensor)
        # Not the library's own external tensors: each maps the whole file, and hundreds of mappings
        # of one large file are more than a worker's address space may hold.
        return StoredTensor(file, tensor.offset or 0, tensor)

    def _file(self, location: str) -> Storage:
        if location not in self._files:
            try:
                self._files[location] = self._sources.find(location)
            except DataFileRefused as refused:
                self._files[location] = refused
        found = self._files[location]
        if isinstance(found, DataFileRefused):
            raise found
        return found


def _entries(tensor: TensorProto) -> dict[str, str]:
    entries: dict[str, str] = {}
    for entry in tensor.external_data:
        if not (_is_text(entry.key) and _is_text(entry.value)):
            raise DataFileRefused("Its external data is not valid text.", EXPORT_AGAIN)
        if entry.key in entries:
            raise DataFileRefused(f"{quoted(entry.key)} is given twice.", EXPORT_AGAIN)
        entries[entry.key] = entry.value
    unknown = sorted(entries.keys() - _KEYS)
    if unknown:
        reason = f"Its external data has the unknown key {quoted(unknown[0])}."
        raise DataFileRefused(reason, EXPORT_AGAIN)
    if "location" not in entries:
        raise DataFileRefused("It names no data file.", EXPORT_AGAIN)
    return entries


def _is_text(value: object) -> bool:
    return isinstance(value, str)  # protobuf hands out text that is not UTF-8 as bytes


def _locate(
    entries: Mapping[str, str], tensor: TensorProto, find: Callable[[str], Storage]
) -> None:
    offset = _number(entries, "offset") or 0
    length = _number(entries, "length")
    needed = byte_count(tensor.data_type, element_count(tensor.dims))
    if length is not None and length != needed:
        raise DataFileRefused(
            f"Its shape needs {needed:,} bytes, but its external data has {length:,}.",
            EXPORT_AGAIN,
        )
    file = find(entries["location"])
    if offset + needed > file.size:
        raise DataFileRefused(
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
        raise DataFileRefused(reason, EXPORT_AGAIN)
    return int(text)
