"""A trace as one file: a zip of `trace.json`, the source graph, and tensors by their hash.

It opens without the model's own files. Same trace, same bytes: entries are sorted and undated.
Where the source is at hand anyway (the studio's store) the file may go without it.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir

from optimizer.errors import StudioError, TraceError
from optimizer.limits import Limits
from optimizer.model.loader import load_bytes
from optimizer.rewrite.edit_json import FetchTensor, StoreTensor, edit_from_json, edit_to_json
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import (
    DeclinedMatch,
    FailedMatch,
    PassTiming,
    Rewrite,
    Trace,
    VetoedMatch,
)

SCHEMA = "passlens.trace/1"
COMPRESS_BELOW = 1 << 16
"""Larger entries are weights; they hardly shrink and are stored as they are."""


def save_trace(cursor: Cursor, path: Path, *, with_source: bool = True) -> None:
    """Write the trace of `cursor`, which ends where it stood."""
    trace, here = cursor.trace, cursor.step
    source = cursor.materialize(0) if with_source else b""
    cursor.seek(here)
    trace.source_digest = hashlib.sha256(source).hexdigest() if with_source else ""
    tensors: dict[str, bytes] = {}
    document = _to_json(trace, tensors)
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

    def fetch(name: str) -> ir.TensorProtocol:
        return _tensor(archive.read(f"tensors/{name}"), tensors[name])

    return _from_json(document, fetch)


@contextmanager
def _opened(path: Path) -> Generator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except StudioError:
        raise
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise TraceError(f"'{path.name}' cannot be opened as a trace: {error}.") from error


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    small = len(data) < COMPRESS_BELOW or name.endswith(".json")
    entry.compress_type = zipfile.ZIP_DEFLATED if small else zipfile.ZIP_STORED
    archive.writestr(entry, data)


def _to_json(trace: Trace, tensors: dict[str, bytes]) -> dict[str, Any]:
    described: dict[str, dict[str, Any]] = {}

    def store(tensor: ir.TensorProtocol) -> str:
        data = tensor.tobytes()
        head = f"{tensor.dtype.name}{tuple(tensor.shape)}".encode()
        name = hashlib.sha256(head + b"\0" + data).hexdigest()
        tensors[name] = data
        described[name] = {"dtype": tensor.dtype.name, "shape": list(tensor.shape.numpy())}
        return name

    rewrites = [_rewrite_to_json(rewrite, store) for rewrite in trace.rewrites]
    # Only where there is something: what did not fail is the same file as ever.
    failed = {"failed": [asdict(failed) for failed in trace.failed]} if trace.failed else {}
    return {
        "schema": SCHEMA,
        "source_digest": trace.source_digest,
        "model_name": trace.model_name,
        "pipeline": trace.pipeline,
        "versions": dict(trace.versions),
        "seconds": trace.seconds,
        "stopped": trace.stopped,
        "timings": {key: asdict(timing) for key, timing in trace.timings.items()},
        "declined": [asdict(declined) for declined in trace.declined],
        **failed,
        "vetoed": [asdict(vetoed) for vetoed in trace.vetoed],
        "tensors": dict(sorted(described.items())),
        "rewrites": rewrites,
    }


def _rewrite_to_json(rewrite: Rewrite, store: StoreTensor) -> dict[str, Any]:
    plain = {name: getattr(rewrite, name) for name in rewrite.__slots__ if name != "edits"}
    return {**plain, "edits": [edit_to_json(edit, store) for edit in rewrite.edits]}


def _from_json(document: dict[str, Any], fetch: FetchTensor) -> Trace:
    return Trace(
        source_digest=document["source_digest"],
        model_name=document["model_name"],
        pipeline=document["pipeline"],
        rewrites=[_rewrite_from_json(data, fetch) for data in document["rewrites"]],
        declined=[DeclinedMatch(**_frozen(data)) for data in document["declined"]],
        failed=[FailedMatch(**_frozen(data)) for data in document.get("failed", ())],
        vetoed=[VetoedMatch(**_frozen(data)) for data in document.get("vetoed", ())],
        timings={key: PassTiming(**timing) for key, timing in document["timings"].items()},
        seconds=document["seconds"],
        versions=document["versions"],
        stopped=document["stopped"],
    )


def _rewrite_from_json(data: dict[str, Any], fetch: FetchTensor) -> Rewrite:
    edits = [edit_from_json(edit, fetch) for edit in data["edits"]]
    return Rewrite(**_frozen({**data, "edits": edits}))


def _frozen(data: dict[str, Any]) -> dict[str, Any]:
    """Fields of a record of the trace, in which what JSON has as a list is a tuple."""
    return {name: tuple(v) if isinstance(v, list) else v for name, v in data.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - any list


def _tensor(data: bytes, described: dict[str, Any]) -> ir.TensorProtocol:
    dtype = ir.DataType[described["dtype"]]
    shape = described["shape"]
    if dtype in (ir.DataType.INT4, ir.DataType.UINT4, ir.DataType.FLOAT4E2M1):
        packed = np.frombuffer(data, dtype=np.uint8)
        return ir.PackedTensor(packed, dtype, shape=ir.Shape(shape))
    array = np.frombuffer(data, dtype=dtype.numpy()).reshape(shape)
    return ir.Tensor(array, dtype=dtype)
