"""Whether the runtime runs the same graph of two files: its own rewrites make many forms equal."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

import onnx_ir as ir

from profiling.config import RunConfig
from profiling.execution.session import open_session


def graph_fingerprint(model: Path, config: RunConfig) -> str:
    """Hash of the graph that runs of a file under these options. In a worker.

    Names do not count, nor the order of nodes that do not need each other; weights do.

    Raises:
        SessionError: the runtime refuses the file.
    """
    copy = Path("ran.onnx").absolute()
    open_session(model, config, copy=copy)
    return fingerprint(ir.load(copy).graph)


def fingerprint(graph: ir.Graph) -> str:
    """Hash of what a graph computes and how, without its names."""
    known: dict[ir.Value | None, str] = {None: ""}
    for place, value in enumerate(graph.inputs):
        known[value] = _hash("input", place, value.type, value.shape)
    for value in graph.initializers.values():
        if value.const_value is not None:
            known[value] = _tensor(value.const_value)
    nodes: list[str] = []
    for node in graph:
        read = [known.get(value, value.name if value is not None else "") for value in node.inputs]
        attributes = sorted(map(_attribute, node.attributes.values()))
        made = _hash(node.domain, node.op_type, *read, *attributes)
        nodes.append(made)
        known.update({value: _hash(made, place) for place, value in enumerate(node.outputs)})
    return _hash(*(known.get(value, "") for value in graph.outputs), *sorted(nodes))


def _attribute(attribute: ir.Attr) -> str:
    value = attribute.value
    if isinstance(value, ir.TensorProtocol):
        return _hash(attribute.name, _tensor(value))
    if isinstance(value, ir.Graph):
        return _hash(attribute.name, fingerprint(value))
    return _hash(attribute.name, repr(value))


def _tensor(tensor: ir.TensorProtocol) -> str:
    return _hash("tensor", tensor.dtype, tuple(tensor.shape), _content(tensor))


def _content(tensor: ir.TensorProtocol) -> str:
    """Hash of the bytes of a tensor."""
    if not isinstance(tensor, ir.ExternalTensor):
        return hashlib.sha256(tensor.tobytes()).hexdigest()
    digest = hashlib.sha256()
    tensor.tofile(SimpleNamespace(write=digest.update))  # `tobytes` maps the whole file each time
    return digest.hexdigest()


def _hash(*parts: object) -> str:
    return hashlib.sha256("\0".join(_texts(parts)).encode()).hexdigest()


def _texts(parts: Iterable[object]) -> Iterable[str]:
    return (part if isinstance(part, str) else repr(part) for part in parts)
