"""Repairs text that is not valid UTF-8, which the in-memory graph cannot hold.

The protobuf parser hands such a string out as `bytes`; everything else gets `str`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.protobuf.message import Message
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

from optimizer.model.report import Report

REASON = "Some text in the model is not valid UTF-8; it is shown with replacement characters."
_STRING_ATTRIBUTES = frozenset({AttributeProto.STRING, AttributeProto.STRINGS})


def repair_text(proto: ModelProto, report: Report) -> None:
    """Replace what is not UTF-8 in every string of the model, and report it once.

    A repaired name may differ from what the file meant, so the model is then only for viewing.
    """
    repair = _Repair()
    repair.message(proto, ("producer_name", "producer_version", "domain", "doc_string"))
    repair.properties(proto.metadata_props)
    for entry in proto.opset_import:
        repair.message(entry, ("domain",))
    repair.graph(proto.graph)
    for function in proto.functions:
        repair.message(function, ("name", "domain", "overload", "doc_string"))
        repair.names(function.input, function.output, function.attribute)
        repair.nodes(function.node)
        repair.infos(function.value_info)
        repair.attributes(function.attribute_proto)
    if repair.count:
        report.warning("model", REASON, blocks=("optimizable", "runnable"))
    if repair.odd_tensors:
        message = "A string tensor holds bytes that are not UTF-8, which ONNX Runtime refuses."
        report.warning("model", message, blocks=("runnable",))


class _Repair:
    """Walks the messages of a model.

    Attributes:
        count: strings that had to be repaired.
        odd_tensors: string tensors with elements that are not UTF-8, which a graph can hold.
    """

    def __init__(self) -> None:
        self.count = 0
        self.odd_tensors = 0

    def message(self, message: Message, fields: Iterable[str]) -> None:
        for name in fields:
            text = getattr(message, name)
            if text.__class__ is bytes:
                setattr(message, name, self._clean(text))

    def names(self, *lists: Any) -> None:
        for texts in lists:
            for index, text in enumerate(texts):
                if text.__class__ is bytes:
                    texts[index] = self._clean(text)

    def properties(self, entries: Iterable[Message]) -> None:
        for entry in entries:
            self.message(entry, ("key", "value"))

    def graph(self, graph: GraphProto) -> None:
        self.message(graph, ("name", "doc_string"))
        self.properties(graph.metadata_props)
        self.nodes(graph.node)
        for infos in (graph.input, graph.output, graph.value_info):
            self.infos(infos)
        for tensor in graph.initializer:
            self.tensor(tensor)
        for sparse in graph.sparse_initializer:
            self.tensor(sparse.values)
            self.tensor(sparse.indices)
        for annotation in graph.quantization_annotation:
            self.message(annotation, ("tensor_name",))
            self.properties(annotation.quant_parameter_tensor_names)

    def tensor(self, tensor: TensorProto) -> None:
        self.message(tensor, ("name", "doc_string"))
        self.properties(tensor.metadata_props)
        if tensor.data_type == TensorProto.STRING:
            try:
                for text in tensor.string_data:
                    text.decode()
            except UnicodeDecodeError:
                self.odd_tensors += 1

    def nodes(self, nodes: Iterable[NodeProto]) -> None:
        for node in nodes:
            self.message(node, ("name", "op_type", "domain", "overload", "doc_string"))
            self.names(node.input, node.output)
            self.properties(node.metadata_props)
            self.attributes(node.attribute)

    def infos(self, infos: Iterable[ValueInfoProto]) -> None:
        for info in infos:
            self.message(info, ("name", "doc_string"))
            self.properties(info.metadata_props)
            for dim in info.type.tensor_type.shape.dim:
                self.message(dim, ("dim_param", "denotation"))

    def attributes(self, attributes: Iterable[AttributeProto]) -> None:
        for attribute in attributes:
            self.message(attribute, ("name", "ref_attr_name", "doc_string"))
            kind = attribute.type
            if kind in _STRING_ATTRIBUTES:
                self._string_attribute(attribute)
            elif kind == AttributeProto.GRAPH:
                self.graph(attribute.g)
            elif kind == AttributeProto.GRAPHS:
                for graph in attribute.graphs:
                    self.graph(graph)
            elif kind == AttributeProto.TENSOR:
                self.tensor(attribute.t)
            elif kind == AttributeProto.SPARSE_TENSOR:
                self.tensor(attribute.sparse_tensor.values)
                self.tensor(attribute.sparse_tensor.indices)

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
