"""Graphs for tests: ONNX text in, a model with ids and shapes out, and text again."""

from __future__ import annotations

import onnx
import onnx.parser
import onnx.printer
import onnx_ir as ir

from optimizer.model.graph import Model, identify
from optimizer.model.loader import load_bytes
from optimizer.model.symbolic import SymbolicValues
from optimizer.model.writer import to_bytes


def parsed(text: str) -> onnx.ModelProto:
    """A model from ONNX text."""
    return onnx.parser.parse_model(text)


def opened(source: str | onnx.ModelProto) -> Model:
    """A model as the optimizer gets it: ids given, types and shapes carried forward."""
    proto = parsed(source) if isinstance(source, str) else source
    model = ir.from_proto(proto)
    identify(model)
    SymbolicValues(model).propagate(model.graph)
    return Model(ir=model, name="test", digest="")


def loaded(proto: onnx.ModelProto) -> Model:
    """A model through the loader, as from a file: it may give names where there were none."""
    model = load_bytes(proto.SerializeToString(), name="test")
    SymbolicValues(model.ir).propagate(model.ir.graph)
    return model


def proto_of(model: ir.Model) -> onnx.ModelProto:
    """The model as it would be written to a file."""
    return onnx.load_model_from_string(to_bytes(model))


def printed(model: ir.Model) -> str:
    """ONNX text without inferred types, so that golden files show the graph itself."""
    proto = proto_of(model)
    opsets = ", ".join(f'"{entry.domain}" : {entry.version}' for entry in proto.opset_import)
    _forget_types(proto.graph)
    body = onnx.printer.to_text(proto.graph)
    lines = [line.rstrip() for line in body.strip().splitlines()]
    header = f"<ir_version: {proto.ir_version}, opset_import: [{opsets}]>"
    return "\n".join([header, *lines])


def _forget_types(graph: onnx.GraphProto) -> None:
    del graph.value_info[:]
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                _forget_types(attribute.g)
