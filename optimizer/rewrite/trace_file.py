"""A trace as one file: a zip of `trace.json`, the source graph, and tensors by their hash.

It opens without the model's own files, unless their weights are too many for one file: then it
refers to the source's data files, and knows them by cheap evidence. Same trace, same bytes: entries
are sorted and undated. Where the source is at hand anyway (the studio's store) the file may go
without it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import zipfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx_ir as ir

from optimizer.codec import Format, Json
from optimizer.errors import LimitError, StudioError, TraceError, quoted
from optimizer.limits import Limits
from optimizer.model.graph import Model
from optimizer.model.loader import load_beside, load_bytes
from optimizer.model.new_file import replacement
from optimizer.model.placement import INLINE_BYTES, weights
from optimizer.model.storage import ByReference, TensorSink, data_file, store_inline
from optimizer.model.writer import model_pieces
from optimizer.numbers import bytes_text
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import DataReference, Trace
from optimizer.stored import StoredTensor, chunks_of, evidence
from optimizer.versions import versions

SCHEMA = "passlens.trace/1"
COMPRESS_BELOW = 1 << 16
"""Larger entries are weights; they hardly shrink and are stored as they are."""

_FORMAT = Format(Trace, SCHEMA, "trace", names={"state": None})


def save_trace(cursor: Cursor, path: Path, *, with_source: bool = True) -> None:
    """Write the trace of `cursor`, which ends where it stood.

    Raises:
        StudioError: it cannot be written; what was there is as it was.
    """
    trace, here = cursor.trace, cursor.step
    trace.versions = trace.versions or versions()
    with replacement(path) as target, zipfile.ZipFile(target, "w") as archive:
        trace.source_digest, trace.data = "", ()
        if with_source:
            trace.data = references(cursor.seek(0))
            trace.source_digest = _add_source(archive, cursor.model, trace.data)
            cursor.seek(here)
        document, tensors = trace_document(trace)
        _add(archive, "trace.json", json.dumps(document, allow_nan=False, indent=1).encode())
        for name in sorted(tensors):
            _stream(archive, f"tensors/{name}", chunks_of(tensors[name]))


def references(source: ir.Model) -> tuple[DataReference, ...]:
    """The data files that a trace of this model refers to; none where it carries all weights.

    Raises:
        LimitError: it has to, and cannot.
    """
    tensors = list(weights(source))
    if sum(tensor.nbytes for tensor in tensors) <= INLINE_BYTES:
        return ()
    carried = sum(tensor.nbytes for tensor in tensors if data_file(tensor) is None)
    if carried > INLINE_BYTES:
        raise LimitError(
            f"A trace would carry {bytes_text(carried)} of weights (limit "
            f"{bytes_text(INLINE_BYTES)}). Store the model's weights in a data file beside it."
        )
    files = {
        file: t.storage for t in tensors if isinstance(t, StoredTensor) and (file := data_file(t))
    }
    found = [DataReference(one.location, one.size, evidence(one)) for one in files.values()]
    return tuple(sorted(found, key=lambda one: one.location))


def carried_bytes(source: ir.Model) -> int:
    """Weights of this model that a trace of it carries.

    Raises:
        LimitError: they are too many.
    """
    referred = {one.location for one in references(source)}
    return sum(
        tensor.nbytes
        for tensor in weights(source)
        if not (isinstance(tensor, StoredTensor) and tensor.storage.location in referred)
    )


def open_trace(path: Path, *, data: Path | None = None, limits: Limits = Limits()) -> Cursor:
    """The trace in a file, standing at step 0.

    Args:
        path: the file.
        data: where the source's data files are, if the trace refers to them; by default beside it.
        limits: the bounds that apply to the source.

    Raises:
        TraceError: the file is not a trace, or damaged, or goes without its source, or the data
            files are not those it refers to.
    """
    with _opened(path) as archive:
        if "source.onnx" not in archive.namelist():
            raise TraceError(f"'{path.name}' goes without its source graph.")
        trace, source = _read(archive, path), archive.read("source.onnx")
    if hashlib.sha256(source).hexdigest() != trace.source_digest:
        raise TraceError(f"'{path.name}' is damaged: its source graph has changed.")
    if trace.data:
        model = load_beside(source, data or path.parent, name=trace.model_name, limits=limits)
        _check_data(model, trace, path)
    else:
        model = load_bytes(source, name=trace.model_name, limits=limits)
    return Cursor(GraphState(model.ir), trace, step=0)


def _check_data(source: Model, trace: Trace, path: Path) -> None:
    """That the source's data files are those that the trace was made with."""
    missing = source.statuses.optimizable
    if not missing.ok:
        raise TraceError(
            f"'{path.name}' refers to data files of its source: {missing.reason}"
            " Name their folder with --data."
        )
    here = {
        t.storage.location: t.storage for t in weights(source.ir) if isinstance(t, StoredTensor)
    }
    for one in trace.data:
        if one.location not in here or evidence(here[one.location]) != one.evidence:
            raise TraceError(
                f"The data file {quoted(one.location)} is not the one that '{path.name}' was made "
                "with. Name the folder of that one with --data."
            )


def open_trace_over(path: Path, source: ir.Model) -> Cursor:
    """The trace in a file that goes without its source, standing at step 0 over `source`.

    Raises:
        TraceError: the file is not a trace, or damaged.
    """
    with _opened(path) as archive:
        trace = _read(archive, path)
    return Cursor(GraphState(source), trace, step=0)


def _read(archive: zipfile.ZipFile, path: Path) -> Trace:
    document = json.loads(archive.read("trace.json"))
    if document.get("schema") != SCHEMA:
        raise TraceError(f"'{path.name}' is not a trace of this version ({SCHEMA}).")
    tensors = document["tensors"]
    for edit in _with_tensors(document):
        name = edit["tensor"]
        edit["tensor"] = _tensor(archive.read(f"tensors/{name}"), tensors[name])
    return _FORMAT.from_json(document)


@contextmanager
def _opened(path: Path) -> Generator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except TraceError:
        raise
    except (StudioError, OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        reason = str(error).removesuffix(".")
        raise TraceError(f"'{path.name}' cannot be opened as a trace: {reason}.") from error


def _add_source(archive: zipfile.ZipFile, source: ir.Model, data: tuple[DataReference, ...]) -> str:
    """Add the source graph; its sha256 (hex)."""
    known = hashlib.sha256()

    def noted(pieces: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
        for piece in pieces:
            known.update(piece)
            yield piece

    store: TensorSink = store_inline
    if data:
        files = ((data_file(t), t.storage) for t in weights(source) if isinstance(t, StoredTensor))
        locations = {path: storage.location for path, storage in files if path is not None}
        store = ByReference(locations, store_inline)
    _stream(archive, "source.onnx", noted(model_pieces(source, store)))
    return known.hexdigest()


def _stream(archive: zipfile.ZipFile, name: str, pieces: Iterable[bytes | memoryview]) -> None:
    """Add an entry that need not be in memory as a whole."""
    rest = iter(pieces)
    first, second = next(rest, b""), next(rest, None)
    if second is None:
        _add(archive, name, bytes(first))
        return
    with archive.open(_entry(name), "w", force_zip64=True) as entry:
        for piece in itertools.chain((first, second), rest):
            entry.write(piece)


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = _entry(name)
    small = len(data) < COMPRESS_BELOW or name.endswith(".json")
    entry.compress_type = zipfile.ZIP_DEFLATED if small else zipfile.ZIP_STORED
    archive.writestr(entry, data)


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))


def trace_document(trace: Trace) -> tuple[Json, dict[str, ir.TensorProtocol]]:
    """A trace as plain data, and its tensors by hash."""
    document = _FORMAT.to_json(trace)
    tensors: dict[str, ir.TensorProtocol] = {}
    described: dict[str, Json] = {}
    for edit in _with_tensors(document):
        tensor: ir.TensorProtocol = edit["tensor"]
        known = hashlib.sha256(f"{tensor.dtype.name}{tuple(tensor.shape)}".encode() + b"\0")
        for chunk in chunks_of(tensor):
            known.update(chunk)
        name = edit["tensor"] = known.hexdigest()
        tensors[name] = tensor
        described[name] = {"dtype": tensor.dtype.name, "shape": list(tensor.shape.numpy())}
    if not trace.data:  # what carries its source is the same file as ever
        del document["data"]
    if not trace.failed:  # what did not fail is the same file as ever
        del document["failed"]
    rewrites = document.pop("rewrites")
    for edit in (edit for rewrite in rewrites for edit in rewrite["edits"]):
        if not edit.get("bodies", True):  # so is what carries no bodies
            del edit["bodies"]
    for rewrite in rewrites:
        if rewrite["inferred"] is None:  # so is what no foreign tool had a hand in
            del rewrite["inferred"]
    return {**document, "tensors": dict(sorted(described.items())), "rewrites": rewrites}, tensors


def _with_tensors(document: Json) -> Iterator[Json]:
    """The edits that hold a tensor."""
    for rewrite in document["rewrites"]:
        yield from (edit for edit in rewrite["edits"] if "tensor" in edit)


def _tensor(data: bytes, described: Json) -> ir.TensorProtocol:
    dtype = ir.DataType[described["dtype"]]
    shape = described["shape"]
    if dtype in (ir.DataType.INT4, ir.DataType.UINT4, ir.DataType.FLOAT4E2M1):
        packed = np.frombuffer(data, dtype=np.uint8)
        return ir.PackedTensor(packed, dtype, shape=ir.Shape(shape))
    array = np.frombuffer(data, dtype=dtype.numpy()).reshape(shape)
    return ir.Tensor(array, dtype=dtype)
