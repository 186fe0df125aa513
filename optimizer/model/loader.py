"""Opens models: from the bytes of a file to a checked graph with stable ids.

Pure Python and protobuf. No native checker, shape inference or runtime sees the model here, no
weights are read, and the time taken is linear in the size of the file. The weights of a large file
are left in it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType

import onnx_ir as ir
from google.protobuf.message import DecodeError
from onnx import ModelProto

from optimizer.collection import collection_paused
from optimizer.errors import (
    LimitError,
    LoadError,
    NotOnnx,
    StudioError,
    Truncated,
    Unsupported,
    quoted,
)
from optimizer.findings import Finding
from optimizer.limits import Limits
from optimizer.model.conformance import Facts
from optimizer.model.contradictions import find_contradictions
from optimizer.model.data_files import FolderFiles, Sources, UploadedFiles, WithOwnFile
from optimizer.model.external import ExternalData
from optimizer.model.graph import Model, identify
from optimizer.model.inline import inline_functions
from optimizer.model.interface import keep_declared
from optimizer.model.messages import decode_once
from optimizer.model.names import name_nodes, name_values
from optimizer.model.outline import OUTLINED_FILE_BYTES, outlined
from optimizer.model.repair import after_checks, before_checks
from optimizer.model.report import Findings
from optimizer.model.sniff import HEAD_BYTES, refuse_other_formats
from optimizer.model.validate import validate
from optimizer.model.wire import survey
from optimizer.numbers import bytes_text
from optimizer.stored import FileStorage, Storage, held_open

_NO_COMPANIONS: Mapping[str, bytes | Path] = MappingProxyType({})
_DEFAULT_LIMITS = Limits()


def load_path(
    path: str | Path, *, limits: Limits = _DEFAULT_LIMITS, follow_links: bool = False
) -> Model:
    """Open a model on this machine; its data files must lie in its own folder.

    Args:
        path: the .onnx file.
        limits: the bounds that apply.
        follow_links: accept data files that are symbolic or hard links, wherever they lead. Only
            for folders of our own; those of a Hugging Face cache are accepted without.

    Raises:
        LoadError: the file cannot be opened as a model.
        LimitError: a limit is exceeded.
        InvalidGraph: the graph breaks ONNX's rules.
    """
    path = Path(path)
    with _every_error_a_finding():
        sources = FolderFiles(path.parent, follow_links=follow_links)
        with _opened(path, limits) as file:
            size = os.fstat(file.fileno()).st_size
            parts = _outlined(file, size) if size >= OUTLINED_FILE_BYTES else None
            if parts is None:
                data = file.read(limits.file_bytes + 1)
                return _load(data, path.name, sources, limits)
        data, digest, location, own = parts
        return _load(data, path.name, WithOwnFile(location, own, sources), limits, digest=digest)


def load_beside(data: bytes, folder: Path, *, name: str, limits: Limits = _DEFAULT_LIMITS) -> Model:
    """Open a model given as bytes, whose data files lie in a folder.

    Raises:
        LoadError: the file cannot be opened as a model.
        LimitError: a limit is exceeded.
        InvalidGraph: the graph breaks ONNX's rules.
    """
    with _every_error_a_finding():
        _check_size(len(data), limits)
        return _load(data, name, FolderFiles(folder, follow_links=False), limits)


def load_bytes(
    data: bytes,
    *,
    name: str,
    companions: Mapping[str, bytes | Path] = _NO_COMPANIONS,
    limits: Limits = _DEFAULT_LIMITS,
) -> Model:
    """Open an uploaded model; its data files must have been uploaded with it.

    Args:
        data: the bytes of the .onnx file.
        name: the file's name, for display.
        companions: the other uploaded files by their exact names, as bytes or where they lie.
        limits: the bounds that apply.

    Raises:
        LoadError: the file cannot be opened as a model.
        LimitError: a limit is exceeded.
        InvalidGraph: the graph breaks ONNX's rules.
    """
    with _every_error_a_finding():
        _check_size(len(data), limits)
        return _load(data, name, UploadedFiles(companions), limits)


@contextmanager
def _every_error_a_finding() -> Generator[None]:
    try:
        yield
    except StudioError as error:
        error.findings = error.findings or (Finding("error", "", error.message),)
        raise


@contextmanager
def _opened(path: Path, limits: Limits) -> Generator[BufferedReader]:
    """The file at its beginning, once it looks like a model of a size that is allowed."""
    shown = quoted(path.name)
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for ever.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise LoadError(f"There is no file {shown}. Check the path.") from None
    except (OSError, ValueError):
        raise LoadError(f"The file {shown} cannot be opened. Check its permissions.") from None
    with os.fdopen(handle, "rb") as file:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise LoadError(f"{shown} is not a regular file. Choose the .onnx file itself.")
        refuse_other_formats(file.read(HEAD_BYTES))
        _check_size(info.st_size, limits)
        file.seek(0)
        yield file


def _outlined(file: BufferedReader, size: int) -> tuple[bytes, str, str, Storage] | None:
    """A file without its weights, its digest, and where the weights are; None if it is odd."""
    location = secrets.token_hex(16)  # which no model can name
    own = FileStorage(held_open(os.dup(file.fileno())), "the model itself")
    data = outlined(own.read, size, location)
    if data is None:
        return None
    return data, hashlib.file_digest(file, "sha256").hexdigest(), location, own


def _check_size(size: int, limits: Limits) -> None:
    if size > limits.file_bytes:
        raise LimitError(
            f"The file is {bytes_text(size)} (limit {bytes_text(limits.file_bytes)}). "
            "Save its weights as external data."
        )


@collection_paused()
def _load(data: bytes, name: str, sources: Sources, limits: Limits, *, digest: str = "") -> Model:
    """The model; `digest` is that of its file where `data` is only part of it."""
    report = Findings()
    refuse_other_formats(data[:HEAD_BYTES])
    survey(data, limits)
    proto = _parse(data)
    before_checks(proto, report)
    facts = validate(proto, limits, report)
    external = ExternalData(sources, limits=limits, report=report)
    external.check(facts.external)
    report.raise_if_refused()
    after_checks(proto, facts, report)
    _inline(proto, limits, report)
    find_contradictions(proto, has_bodies=facts.bodies, report=report)
    report.raise_if_refused()
    model = _to_ir(proto)
    decode_once(model)
    if facts.external:
        external.bind(model)
    _normalize(model, facts, limits=limits, report=report)
    digest = digest or hashlib.sha256(data).hexdigest()
    return Model(model, name, digest, findings=report.findings, statuses=report.statuses)


def _parse(data: bytes) -> ModelProto:
    try:
        proto = ModelProto.FromString(data)
    except DecodeError:
        raise Truncated(
            "The file does not parse as ONNX: it is damaged. Download or export the model again."
        ) from None
    if not proto.HasField("graph"):
        raise NotOnnx("The file parses but holds no graph. Export the model again.")
    return proto


def _inline(proto: ModelProto, limits: Limits, report: Findings) -> None:
    if not proto.functions:
        return
    inline_functions(proto, report)
    # A function's text can be sound and still lack what this call did not give it.
    again = Findings()
    validate(proto, replace(limits, nodes=limits.expanded_nodes), again)
    again.raise_if_refused()


def _to_ir(proto: ModelProto) -> ir.Model:
    try:
        return ir.from_proto(proto)
    except Exception as error:  # onnx_ir wraps what it meets in many kinds of exception
        cause = error.__cause__ or error
        raise Unsupported(
            f"The graph holds something that cannot be represented: {quoted(str(cause))}."
        ) from error


def _normalize(model: ir.Model, facts: Facts, *, limits: Limits, report: Findings) -> None:
    if facts.unsorted:
        model.graph.sort()
        report.note("model", "Its nodes were not in topological order and were sorted.")
    name_nodes(model, limits=limits, report=report)
    name_values(model, limits=limits, report=report)
    identify(model)
    keep_declared(model)
