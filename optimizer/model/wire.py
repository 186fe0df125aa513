"""A first look at the bytes of a model, before protobuf builds anything from them.

Two bytes on the wire can become a hundred in memory, and nested messages can overflow a parser.
This walk builds nothing: it counts nodes, values and fields, measures depth, and stops as soon as
a limit is passed or the bytes cannot be what they claim. Messages too small to matter are skipped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from onnx import AttributeProto, ModelProto

from optimizer.errors import LimitError, NotOnnx, Truncated
from optimizer.limits import Limits

MOST_FIELDS = 4_000_000
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


_NAMES = {
    "ModelProto": "model", "GraphProto": "graph", "NodeProto": "node",
    "AttributeProto": "attribute", "TensorProto": "tensor", "ValueInfoProto": "value",
    "FunctionProto": "function", "SparseTensorProto": "sparse", "TrainingInfoProto": "training",
    "TypeProto": "type", "Tensor": "tensor type", "SparseTensor": "tensor type",
    "TensorShapeProto": "shape", "Sequence": "element", "Optional": "element", "Map": "map",
}  # fmt: skip
"""Messages that may be large or hold others; the rest cost no more than their bytes."""


_KINDS: dict[str, _Message] = {}


def _kind(descriptor: Any) -> _Message:
    """A kind of message, from what ONNX's own schema says of it."""
    known = _KINDS.get(descriptor.full_name)
    if known is None:
        known = _KINDS[descriptor.full_name] = _Message(_NAMES[descriptor.name])
        known.children = {
            field.number << 3 | 2: _kind(field.message_type)
            for field in descriptor.fields
            if field.message_type is not None and field.message_type.name in _NAMES
        }
    return known


_model, _attribute = _kind(ModelProto.DESCRIPTOR), _kind(AttributeProto.DESCRIPTOR)

_FIXED = {1: 8, 5: 4}
_NOT_PROTOBUF = (
    "This is not an ONNX model, nor any other format known here. "
    "Check the download, or export the model to ONNX first."
)


class _Tally:
    """Counts what the walk passes by, and stops it at the limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._fields = 0
        self._seen: dict[str, int] = {}

    def room(self, message: _Message) -> int:
        """Fields that `message` may have."""
        left = MOST_FIELDS - self._fields
        return min(left, self._limits.attribute_items + 16) if message is _attribute else left

    def add(self, message: _Message, fields: int, counts: dict[int, int]) -> None:
        """Take account of one message, `counts` being its nested messages by tag."""
        if fields > self.room(message):
            raise self._too_many_fields(message)
        self._fields += fields
        for tag, count in counts.items():
            name = message.children[tag].name
            self._seen[name] = self._seen.get(name, 0) + count
            most = self._limits.nodes if name == "node" else self._limits.values
            if self._seen[name] > most:
                raise LimitError(
                    f"The model has more than {most:,} {name}s (limit {most:,}). "
                    "Split the model, or raise the limit."
                )

    def _too_many_fields(self, message: _Message) -> LimitError:
        if message is _attribute and MOST_FIELDS - self._fields > self._limits.attribute_items:
            most = self._limits.attribute_items
            return LimitError(
                f"An attribute has more than {most:,} items (limit {most:,}). "
                "Store large constants as tensors."
            )
        return LimitError(
            f"The file has more than {MOST_FIELDS:,} fields (limit {MOST_FIELDS:,}). "
            "Split the model, or store its weights as raw data."
        )


def survey(data: bytes, limits: Limits) -> None:
    """Walk the bytes of a model file and stop at the first limit or lie.

    Args:
        data: the whole file.
        limits: `nodes`, `values`, `attribute_items` and `depth` are checked here.

    Raises:
        LimitError: too many nodes, values or fields, or bodies nested too deeply.
        Truncated: a part claims more bytes than there are.
        NotOnnx: the bytes are no protobuf message.
    """
    # A model is 1 deep, its graph 2, a body 3 more.
    deepest = min(PROTOBUF_DEPTH, 2 + LEVELS_PER_BODY * (limits.depth + 1))
    most = max(limits.nodes, limits.values)
    tally = _Tally(limits)
    stack = [(0, len(data), _model, 1)]
    while stack:
        start, end, message, depth = stack.pop()
        if depth > deepest:
            raise LimitError(
                f"Bodies are nested too deeply (limit {limits.depth}). "
                "Flatten the If and Loop bodies."
            )
        walk = _Walk(data, most_fields=tally.room(message), most_children=most)
        try:
            walk.run(start, end, message.children)
        except IndexError:
            raise _cut(message, end, len(data)) from None
        tally.add(message, walk.fields, walk.counts)
        stack.extend((begin, stop, child, depth + 1) for child, begin, stop in walk.large)


class _Walk:
    """Steps over the fields of one message.

    Attributes:
        fields: how many there are; the walk ends early when it passes `most_fields`.
        counts: nested messages by tag; the walk ends early at `most_children` of one kind.
        large: nested messages worth looking into, as (kind, start, end).
    """

    __slots__ = ("_data", "_most_children", "_most_fields", "counts", "fields", "large")

    def __init__(self, data: bytes, *, most_fields: int, most_children: int) -> None:
        self._data = data
        self._most_fields = most_fields
        self._most_children = most_children
        self.fields = 0
        self.counts: dict[int, int] = {}
        self.large: list[tuple[_Message, int, int]] = []

    def run(self, pos: int, end: int, wanted: dict[int, _Message]) -> None:
        """Walk from `pos` to `end`. One-byte tags and lengths take the short way.

        Raises:
            IndexError: a field reaches past `end`.
            NotOnnx: a tag or number that protobuf cannot have written.
        """
        data, fields, room = self._data, 0, self._most_fields
        while pos < end and fields <= room:
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
                if tag in wanted and not self._nested(wanted[tag], tag, (pos, pos + length)):
                    break
                pos += length
            elif wire == 0:
                while data[pos] > 0x7F:
                    pos += 1
                pos += 1
            else:
                pos += _FIXED.get(wire) or _refuse()
            if tag < 8:  # field number 0 does not exist
                _refuse()
        self.fields = fields
        if pos > end:
            raise IndexError

    def _nested(self, child: _Message, tag: int, span: tuple[int, int]) -> bool:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if span[1] - span[0] > SMALL:
            self.large.append((child, *span))
        return self.counts[tag] <= self._most_children


def _refuse() -> int:
    raise NotOnnx(_NOT_PROTOBUF)


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
            _refuse()


def _cut(message: _Message, end: int, size: int) -> Truncated:
    if end < size:  # a nested message lies about its own parts
        return Truncated(
            f"The file is damaged: a {message.name} near byte {end:,} is cut short. "
            "Download or export the model again."
        )
    return Truncated(
        f"The file ends too early, after {size:,} bytes. Download or export the model again."
    )
