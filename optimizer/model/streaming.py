"""A model as one file in pieces: the bytes that protobuf would write, never all in memory.

protobuf writes the fields of a message in the order of their numbers, so what stands before and
after the large data of a tensor, an initializer or the graph can be written apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import onnx
import onnx_ir as ir
from google.protobuf.message import Message

from optimizer.model.outline import varint
from optimizer.model.storage import TensorSink, describe
from optimizer.stored import chunks_of

STREAMED_TENSOR_BYTES = 1 << 16
"""Smaller tensors are written as part of the rest."""

Piece = bytes | memoryview
_BEFORE_GRAPH = (
    "ir_version",
    "producer_name",
    "producer_version",
    "domain",
    "model_version",
    "doc_string",
)
_BEFORE_DATA = ("dims", "data_type", "name")


def streamed_tensors(graph: ir.Graph) -> dict[str, ir.TensorProtocol]:
    """The initializers of a main graph that are worth it, by name."""
    return {
        name: value.const_value
        for name, value in graph.initializers.items()
        if value.const_value is not None
        and value.const_value.dtype != ir.DataType.STRING
        and value.const_value.nbytes >= STREAMED_TENSOR_BYTES
    }


class LeftOut:
    """Describes some tensors without their data and hands on all others."""

    def __init__(self, tensors: Mapping[str, ir.TensorProtocol], others: TensorSink) -> None:
        self._tensors, self._others = tensors, others

    def __call__(self, proto: onnx.TensorProto, tensor: ir.TensorProtocol) -> None:
        """Store one tensor, or only describe it."""
        if self._tensors.get(proto.name) is tensor:
            describe(proto, tensor)
        else:
            self._others(proto, tensor)


def pieces(proto: onnx.ModelProto, left_out: Mapping[str, ir.TensorProtocol]) -> Iterator[Piece]:
    """The model's bytes, with what `LeftOut` left out put in; takes the message apart."""
    inside = [_Initializer(tensor, left_out) for tensor in proto.graph.initializer]
    del proto.graph.initializer[:]
    graph = _serialized(proto.graph)
    nodes = sum(_nested_size(node.ByteSize()) for node in proto.graph.node)
    nodes += _copy(proto.graph, ("name",)).ByteSize()
    size = len(graph) + sum(_nested_size(one.size) for one in inside)
    proto.ClearField("graph")
    rest = _serialized(proto)
    begin = _copy(proto, _BEFORE_GRAPH).ByteSize()
    yield rest[:begin] + b"\x3a" + varint(size) + graph[:nodes]
    for one in inside:
        yield b"\x2a" + varint(one.size)
        yield from one.pieces()
    yield graph[nodes:] + rest[begin:]


class _Initializer:
    """One tensor of the graph.

    Attributes:
        size: of its message.
    """

    def __init__(self, proto: onnx.TensorProto, left_out: Mapping[str, ir.TensorProtocol]) -> None:
        self._head, self._tail = _serialized(proto), b""
        self._tensor = left_out.get(proto.name)
        if self._tensor is not None:
            split = _copy(proto, _BEFORE_DATA).ByteSize()
            self._head, self._tail = self._head[:split], self._head[split:]
            self._head += b"\x4a" + varint(self._tensor.nbytes)
        data = 0 if self._tensor is None else self._tensor.nbytes
        self.size = len(self._head) + data + len(self._tail)

    def pieces(self) -> Iterator[Piece]:
        yield self._head
        if self._tensor is not None:
            yield from chunks_of(self._tensor)
            yield self._tail


def _copy(message: Any, fields: tuple[str, ...]) -> Message:
    """A message with some of the fields alone."""
    copied = type(message)()
    for name in fields:
        value = getattr(message, name)
        if name == "dims":
            copied.dims.extend(value)
        elif message.HasField(name):
            setattr(copied, name, value)
    return copied


def _nested_size(size: int) -> int:
    """Bytes of a message within another one, whose field number is small."""
    return 1 + len(varint(size)) + size


def _serialized(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)
