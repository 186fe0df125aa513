"""Puts right, in the parsed file, what the in-memory graph cannot hold but can be said otherwise.

`before_checks` runs on unchecked input; `after_checks` on a model without errors. Every repair is a
finding.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence
from typing import Any

import numpy as np
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
    numpy_helper,
)

from optimizer.errors import quoted
from optimizer.model.conformance import Facts
from optimizer.model.nesting import FreshNames, all_graphs, node_lists, value_names
from optimizer.model.report import Findings, Place
from optimizer.model.signatures import ALIAS
from optimizer.model.tensors import element_count, sparse_indices
from optimizer.model.versions import FREE_INITIALIZERS_SINCE, TYPED_ATTRIBUTES_SINCE
from optimizer.numbers import counted

REASON = "Some text in the model is not valid UTF-8; it is shown with replacement characters."
_SOUND = frozenset({str, int, float})
_STRING_ATTRIBUTES = frozenset({AttributeProto.STRING, AttributeProto.STRINGS})


def repair_text(proto: ModelProto, report: Findings) -> None:
    """Replace what is not UTF-8 in every string of the model, and report it once.

    The protobuf parser hands such a string out as `bytes`; everything else gets `str`.

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
            if type(value) in _SOUND:  # nearly all of a file
                continue
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


_FILLED_FIELD = {
    "f": AttributeProto.FLOAT,
    "i": AttributeProto.INT,
    "s": AttributeProto.STRING,
    "t": AttributeProto.TENSOR,
    "g": AttributeProto.GRAPH,
    "floats": AttributeProto.FLOATS,
    "ints": AttributeProto.INTS,
    "strings": AttributeProto.STRINGS,
}


def before_checks(proto: ModelProto, report: Findings) -> None:
    """Make the text, the domains and, in the oldest files, the attribute types readable."""
    repair_text(proto, report)
    for imports in (proto.opset_import, *(f.opset_import for f in proto.functions)):
        for entry in imports:
            if entry.domain == ALIAS:
                entry.domain = ""
    if 0 < proto.ir_version < TYPED_ATTRIBUTES_SINCE:
        for nodes in node_lists(proto):
            _infer_attribute_types(nodes)
        message = "It is older than attribute types; they were read from the content."
        report.note("model", message)


def after_checks(proto: ModelProto, facts: Facts, report: Findings) -> None:
    """Say in today's ONNX what older files, sparse tensors and returned outer values say."""
    _free_initializers(proto, report)
    if facts.sparse:
        for graph, place in all_graphs(proto):
            _densify_initializers(graph, place, report)
        for nodes in node_lists(proto):
            for node in nodes:
                _densify_attributes(node, report)
    if facts.borrowed_outputs:
        names = FreshNames(value_names(proto))
        for graph, name in facts.borrowed_outputs:
            _return_through_identity(graph, name, names=names, report=report)
    if proto.training_info:
        del proto.training_info[:]
        message = "Its training graphs are not shown, and are not kept when it is saved."
        report.warning("model", message)


def _infer_attribute_types(nodes: Iterable[NodeProto]) -> None:
    for attribute in (attribute for node in nodes for attribute in node.attribute):
        if attribute.type != AttributeProto.UNDEFINED:
            continue
        filled = [field.name for field, _ in attribute.ListFields()]
        kinds = [_FILLED_FIELD[name] for name in filled if name in _FILLED_FIELD]
        if len(kinds) == 1:
            attribute.type = kinds[0]


def _free_initializers(proto: ModelProto, report: Findings) -> None:
    """Before IR version 4 every initializer also had to be an input, without meaning one."""
    if proto.ir_version >= FREE_INITIALIZERS_SINCE:
        return
    constants = {tensor.name for tensor in proto.graph.initializer}
    kept = [info for info in proto.graph.input if info.name not in constants]
    removed = len(proto.graph.input) - len(kept)
    if removed:
        inputs = type(proto.graph)(input=kept).input
        del proto.graph.input[:]
        proto.graph.input.extend(inputs)
        report.note(
            "model",
            f"{counted(removed, 'initializer')} also listed as input, as IR version "
            f"{proto.ir_version} demands: constant, and no input any more.",
        )
    report.note(
        "model",
        f"IR version {proto.ir_version} was raised to {FREE_INITIALIZERS_SINCE}.",
    )
    proto.ir_version = FREE_INITIALIZERS_SINCE


def _densify_initializers(graph: GraphProto, place: Place | None, report: Findings) -> None:
    for sparse in graph.sparse_initializer:
        graph.initializer.append(_densify(sparse))
        where = Place("initializer", sparse.values.name, around=place)
        report.note(where, "It is sparse; it was made dense.")
    del graph.sparse_initializer[:]


def _densify_attributes(node: NodeProto, report: Findings) -> None:
    for attribute in node.attribute:
        if attribute.type == AttributeProto.SPARSE_TENSOR:
            attribute.t.CopyFrom(_densify(attribute.sparse_tensor))
            attribute.ClearField("sparse_tensor")
            attribute.type = AttributeProto.TENSOR
            if attribute.name == "sparse_value":
                attribute.name = "value"
            report.note(Place("node", node.name), "Its sparse constant was made dense.")


def _densify(sparse: SparseTensorProto) -> TensorProto:
    values = numpy_helper.to_array(sparse.values)
    dense = np.zeros(element_count(sparse.dims), values.dtype)
    dense[sparse_indices(sparse)] = values
    return TensorProto(
        name=sparse.values.name,
        data_type=sparse.values.data_type,
        dims=sparse.dims,
        raw_data=dense.tobytes(),
    )


def _return_through_identity(
    graph: GraphProto, name: str, *, names: FreshNames, report: Findings
) -> None:
    """A body must compute what it returns; a value from around it goes through an Identity."""
    own = names.make(name)
    graph.node.add(op_type="Identity", input=[name], output=[own])
    for info in graph.output:
        if info.name == name:
            info.name = own
    message = f"It returned {quoted(name)} from the graph around it; an Identity was added."
    report.note(Place("body", graph.name), message)
