"""A trace as one file: a zip of `trace.json`, the source graph, and tensors by their hash.

It opens without the model's own files. Same trace, same bytes: entries are sorted and undated.
Where the source is at hand anyway (the studio's store) the file may go without it.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx_ir as ir

from optimizer.codec import Format, Json
from optimizer.errors import StudioError, TraceError
from optimizer.limits import Limits
from optimizer.model.loader import load_bytes
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace

SCHEMA = "passlens.trace/1"
COMPRESS_BELOW = 1 << 16
"""Larger entries are weights; they hardly shrink and are stored as they are."""

_FORMAT = Format(Trace, SCHEMA, "trace", names={"state": None})


def save_trace(cursor: Cursor, path: Path, *, with_source: bool = True) -> None:
    """Write the trace of `cursor`, which ends where it stood."""
    trace, here = cursor.trace, cursor.step
    source = cursor.materialize(0) if with_source else b""
    cursor.seek(here)
    trace.source_digest = hashlib.sha256(source).hexdigest() if with_source else ""
    document, tensors = trace_document(trace)
    with zipfile.ZipFile(path, "w") as archive:
        _add(archive, "trace.json", json.dumps(document, allow_nan=False, indent=1).encode())
        if with_source:
            _add(archive, "source.onnx", source)
        for name in sorted(tensors):
            _add(archive, f"tensors/{name}", tensors[name])


def open_trace(path: Path, *, limits: Limits = Limits()) -> Cursor:
    """The trace in a file, standing at step 0.

    Raises:
        TraceError: the file is not a trace, or damaged, or goes without its source.
    """
    with _opened(path) as archive:
        if "source.onnx" not in archive.namelist():
            raise TraceError(f"'{path.name}' goes without its source graph.")
        trace, source = _read(archive, path), archive.read("source.onnx")
    if hashlib.sha256(source).hexdigest() != trace.source_digest:
        raise TraceError(f"'{path.name}' is damaged: its source graph has changed.")
    model = load_bytes(source, name=trace.model_name, limits=limits)
    return Cursor(GraphState(model.ir), trace, step=0)


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


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    small = len(data) < COMPRESS_BELOW or name.endswith(".json")
    entry.compress_type = zipfile.ZIP_DEFLATED if small else zipfile.ZIP_STORED
    archive.writestr(entry, data)


def trace_document(trace: Trace) -> tuple[Json, dict[str, bytes]]:
    """A trace as plain data, and the bytes of its tensors by hash."""
    document = _FORMAT.to_json(trace)
    tensors: dict[str, bytes] = {}
    described: dict[str, Json] = {}
    for edit in _with_tensors(document):
        tensor: ir.TensorProtocol = edit["tensor"]
        data = tensor.tobytes()
        head = f"{tensor.dtype.name}{tuple(tensor.shape)}".encode()
        name = edit["tensor"] = hashlib.sha256(head + b"\0" + data).hexdigest()
        tensors[name] = data
        described[name] = {"dtype": tensor.dtype.name, "shape": list(tensor.shape.numpy())}
    if not trace.failed:  # what did not fail is the same file as ever
        del document["failed"]
    rewrites = document.pop("rewrites")
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
