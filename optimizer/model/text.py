"""Repairs text that is not valid UTF-8, which the in-memory graph cannot hold.

The protobuf parser hands such a string out as `bytes`; everything else gets `str`.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import AttributeProto, ModelProto, TensorProto

from optimizer.model.report import Report

REASON = "Some text in the model is not valid UTF-8; it is shown with replacement characters."
_STRING_ATTRIBUTES = frozenset({AttributeProto.STRING, AttributeProto.STRINGS})


def repair_text(proto: ModelProto, report: Report) -> None:
    """Replace what is not UTF-8 in every string of the model, and report it once.

    A repaired name may differ from what the file meant, so the model is then only for viewing.
    """
    repair = _Repair()
    stack: list[Message] = [proto]
    while stack:
        message = stack.pop()
        if isinstance(message, TensorProto):
            stack.extend(repair.tensor(message))
        else:
            stack.extend(repair.fields(message))
    if repair.count:
        report.warning("model", REASON, blocks=("optimizable", "runnable"))
    if repair.odd_tensors:
        message = "A string tensor holds bytes that are not UTF-8, which ONNX Runtime refuses."
        report.warning("model", message, blocks=("runnable",))


class _Repair:
    """Repairs single messages; each method hands on those inside.

    Attributes:
        count: strings that had to be repaired.
        odd_tensors: string tensors with elements that are not UTF-8, which a graph can hold.
    """

    def __init__(self) -> None:
        self.count = 0
        self.odd_tensors = 0

    def fields(self, message: Message) -> list[Message]:
        inside: list[Message] = []
        for field, value in message.ListFields():
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                inside.extend([value] if isinstance(value, Message) else value)
            elif field.type == FieldDescriptor.TYPE_STRING:
                self._text(message, field.name, value)
        if isinstance(message, AttributeProto) and message.type in _STRING_ATTRIBUTES:
            self._string_attribute(message)
        return inside

    def tensor(self, tensor: TensorProto) -> list[Message]:
        """As `fields`, but for the data, which must not be copied."""
        for name in ("name", "doc_string"):
            self._text(tensor, name, getattr(tensor, name))
        if tensor.data_type == TensorProto.STRING:
            try:
                for text in tensor.string_data:
                    text.decode()
            except UnicodeDecodeError:
                self.odd_tensors += 1
        return list(tensor.metadata_props)

    def _text(self, message: Message, name: str, text: str | bytes | MutableSequence[Any]) -> None:
        if isinstance(text, bytes):
            setattr(message, name, self._clean(text))
        elif not isinstance(text, str):
            for index, one in enumerate(text):
                if isinstance(one, bytes):
                    text[index] = self._clean(one)

    def _string_attribute(self, attribute: AttributeProto) -> None:
        try:
            attribute.s.decode()
            for text in attribute.strings:
                text.decode()
        except UnicodeDecodeError:
            clean = [self._clean(text).encode() for text in attribute.strings]
            attribute.s = self._clean(attribute.s).encode()
            del attribute.strings[:]
            attribute.strings.extend(clean)

    def _clean(self, text: bytes) -> str:
        self.count += 1
        return text.decode(errors="replace")
