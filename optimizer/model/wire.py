"""A first look at the bytes of a model, before protobuf builds anything from them.

Two bytes on the wire can become a hundred in memory, and nested messages can overflow a parser.
This walk builds nothing: it counts nodes, values and fields, measures depth, and stops as soon as
a limit is passed or the bytes cannot be what they claim. Messages too small to matter are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from optimizer.errors import LimitError, NotOnnx, Truncated
from optimizer.model.limits import Limits

MOST_FIELDS = 6_000_000
"""Fields in one file; the walk takes about 0.3 µs each."""
LEVELS_PER_BODY = 3
"""Messages from a graph to a body in one of its nodes: node, attribute, graph."""
PROTOBUF_DEPTH = 100
"""Messages within messages that the protobuf parser itself accepts."""
SMALL = 256
"""Bytes below which a nested message is not looked into: its cost is bounded by its size."""


@dataclass(slots=True)
class _Message:
    """What the walk needs to know about one kind of protobuf message."""

    name: str
    children: dict[int, _Message] = field(default_factory=dict[int, "_Message"])  # by tag


_model, _graph, _node = _Message("model"), _Message("graph"), _Message("node")
_attribute, _tensor, _value = _Message("attribute"), _Message("tensor"), _Message("value")
_function, _sparse, _training = _Message("function"), _Message("sparse"), _Message("training")
_type, _tensor_type, _shape = _Message("type"), _Message("tensor type"), _Message("shape")
_element, _map = _Message("element"), _Message("map")


def _nested(message: _Message, fields: dict[int, _Message]) -> None:
    message.children = {number << 3 | 2: child for number, child in fields.items()}


_nested(_model, {7: _graph, 20: _training, 25: _function})
_nested(_training, {1: _graph, 2: _graph})
_nested(
    _graph, {1: _node, 5: _tensor, 15: _sparse, 11: _value, 12: _value, 13: _value, 14: _value}
)
_nested(_function, {7: _node, 11: _attribute, 12: _value})
_nested(_node, {5: _attribute})
_nested(
    _attribute,
    {5: _tensor, 6: _graph, 10: _tensor, 11: _graph, 14: _type, 15: _type, 22: _sparse, 23: _sparse},
)
_nested(_sparse, {1: _tensor, 2: _tensor})
_nested(_value, {2: _type})
_nested(_type, {1: _tensor_type, 4: _element, 5: _map, 8: _tensor_type, 9: _element})
_nested(_tensor_type, {2: _shape})
_nested(_element, {1: _type})
_nested(_map, {2: _type})

_NOT_PROTOBUF = (
    "This is not an ONNX model, nor any other format known here. "
    "Check the download, or export the model to ONNX first."
)


class _Tally:
    """Counts what the walk passes by, and stops it at the limits."""

    def __init__(self, limits: Limits) -> None:
        self.seen: dict[str, int] = {}
        self.fields = 0
        self._most = {
            "node": (limits.nodes, "nodes"),
            "value": (limits.values, "declared values"),
            "tensor": (limits.values, "tensors"),
        }

    def add(self, message: _Message, fields: int, children: list[tuple[_Message, int, int]]) -> None:
        self.fields += fields
        if self.fields > MOST_FIELDS:
            raise LimitError(
                f"The file has more than {MOST_FIELDS:,} fields (limit {MOST_FIELDS:,}). "
                "Split the model, or store its weights as raw data."
            )
        for child, _, _ in children:
            self.seen[child.name] = self.seen.get(child.name, 0) + 1
        for name, (most, words) in self._most.items():
            if self.seen.get(name, 0) > most:
                raise LimitError(
                    f"The model has {self.seen[name]:,} {words} or more (limit {most:,}). "
                    "Split the model, or raise the limit."
                )


def survey(data: bytes, limits: Limits) -> None:
    """Walk the bytes of a model file and stop at the first limit or lie.

    Args:
        data: the whole file.
        limits: `nodes`, `values` and `depth` are checked here.

    Raises:
        LimitError: too many nodes, values or fields, or bodies nested too deeply.
        Truncated: a part claims more bytes than the file has.
        NotOnnx: the bytes are no protobuf message.
    """
    # A model is 1 deep, its graph 2, a body 3 more.
    deepest = min(PROTOBUF_DEPTH, 2 + LEVELS_PER_BODY * (limits.depth + 1))
    tally = _Tally(limits)
    stack = [(0, len(data), _model, 1)]
    while stack:
        start, end, message, depth = stack.pop()
        if depth > deepest:
            raise LimitError(
                f"Bodies are nested too deeply (limit {limits.depth}). "
                "Flatten the If and Loop bodies."
            )
        try:
            fields, children = _read_fields(data, start, end, message)
        except IndexError:
            raise _cut(message, end, len(data)) from None
        tally.add(message, fields, children)
        stack.extend(
            (begin, begin + length, child, depth + 1)
            for child, begin, length in children
            if length > SMALL and child.children
        )


def _read_fields(
    data: bytes, pos: int, end: int, message: _Message
) -> tuple[int, list[tuple[_Message, int, int]]]:
    """The number of fields of one message, and its nested messages as (kind, start, length).

    The hot loop: one-byte tags and lengths, by far the most common, take the short way.

    Raises:
        IndexError: a field reaches past `end`.
        NotOnnx: a tag or number that protobuf cannot have written.
    """
    wanted = message.children
    children: list[tuple[_Message, int, int]] = []
    fields = 0
    while pos < end:
        fields += 1
        tag = data[pos]
        pos += 1
        if tag > 0x7F:
            tag, pos = _varint(data, pos - 1)
        wire = tag & 7
        if wire == 2:
            length = data[pos]
            pos += 1
            if length > 0x7F:
                length, pos = _varint(data, pos - 1)
            if tag in wanted:
                children.append((wanted[tag], pos, length))
            pos += length
        elif wire == 0:
            while data[pos] > 0x7F:
                pos += 1
            pos += 1
        elif wire == 5 or wire == 1:
            pos += 4 if wire == 5 else 8
        else:
            raise NotOnnx(_NOT_PROTOBUF)
        if tag < 8:  # field number 0 does not exist
            raise NotOnnx(_NOT_PROTOBUF)
    if pos > end:
        raise IndexError
    return fields, children


def _varint(data: bytes, pos: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, pos
        shift += 7
        if shift > 63:
            raise NotOnnx(_NOT_PROTOBUF)


def _cut(message: _Message, end: int, size: int) -> Truncated | NotOnnx:
    if end < size:  # a nested message lies about its own parts: damage, not a short file
        return Truncated(
            f"The file is damaged: a {message.name} near byte {end:,} is cut short. "
            "Download or export the model again."
        )
    return Truncated(
        f"The file ends too early, after {size:,} bytes. Download or export the model again."
    )
