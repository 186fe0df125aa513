"""From the model in memory to a file: the same model gives the same bytes on every machine.

What is canonical here: initializers in the order of their names, operator sets in the order of
their domains, attributes as the node has them, tensors always as raw little-endian bytes, and
`value_info` of every typed intermediate value in node order. The runtime needs the latter:
without it, session creation is quadratic in the number of nodes. A size of an intermediate value
that is computed (`3136*batch`) is written for graphs of many nodes alone, for that reason: where
two values have one, the runtime plans one buffer for both, and the allocator that it asks otherwise
hands out what was freed last and still lies in a cache (Swin: 5 to 10 % of its time). `meta` (our
ids) is never written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import onnx
import onnx_ir as ir
from onnx_ir import serde

from optimizer.constants import tensor_in
from optimizer.errors import LimitError
from optimizer.model.graph import walk_graphs
from optimizer.model.interface import output_shapes
from optimizer.model.new_file import replacement
from optimizer.model.placement import INLINE_BYTES, Placement, place, weights
from optimizer.model.signatures import RUNTIME_IR_VERSION
from optimizer.model.storage import (
    ByReference,
    SideFile,
    TensorSink,
    store_inline,
    write_properties,
)
from optimizer.model.streaming import LeftOut, Piece, pieces, streamed_tensors
from optimizer.numbers import bytes_text

FEW_NODES = 1000
"""Up to so many, sizes that it does not know cost the runtime some hundredths of a second."""
_QUANTIZATION = "quant_parameter_tensor_names"  # where onnx_ir keeps a value's annotation
_NEEDS_IR_VERSION = {
    ir.DataType.FLOAT8E4M3FN: 9,
    ir.DataType.FLOAT8E4M3FNUZ: 9,
    ir.DataType.FLOAT8E5M2: 9,
    ir.DataType.FLOAT8E5M2FNUZ: 9,
    ir.DataType.UINT4: 10,
    ir.DataType.INT4: 10,
    ir.DataType.FLOAT4E2M1: 11,
    ir.DataType.FLOAT8E8M0: 12,
    ir.DataType.UINT2: 13,
    ir.DataType.INT2: 13,
}


def to_bytes(model: ir.Model) -> bytes:
    """The model as one ONNX file, weights included.

    Raises:
        LimitError: if the weights exceed `INLINE_BYTES`; `write` can store them beside the file.
    """
    size_bytes = weight_bytes(model)
    if size_bytes > INLINE_BYTES:
        raise LimitError(
            f"The model's weights take {bytes_text(size_bytes)}, more than fits in one ONNX file "
            f"({bytes_text(INLINE_BYTES)}). Write it to a folder, with a data file beside it."
        )
    return b"".join(model_pieces(model))


def write(
    model: ir.Model,
    path: Path | str,
    *,
    inline_bytes: int = INLINE_BYTES,
    placement: Placement | None = None,
) -> None:
    """Write the model to `path`, and large weights to `<name>.data` beside it.

    All files appear complete or not at all, and never a model with the data of another.

    Args:
        model: to write.
        path: of the model file.
        inline_bytes: more weights than this go to the file beside it. A person wants one file as
            long as it can be; a program reads and writes two several times as fast.
        placement: where weights go, if that is decided.

    Raises:
        StudioError: it cannot be written; what was there is as it was.
    """
    path = Path(path)
    placement = placement or place(model, path, inline_bytes=inline_bytes)
    side = path.parent / placement.side if placement.side else None
    with ExitStack() as files:
        target = files.enter_context(replacement(path))
        store: TensorSink = store_inline
        if side is not None:  # takes its name first
            store = SideFile(files.enter_context(replacement(side)), location=placement.side)
        store = ByReference(placement.references, store) if placement.references else store
        for piece in model_pieces(model, store):
            target.write(piece)
        if side is not None and side.exists():
            path.unlink(missing_ok=True)  # else it would stand for a moment beside the new data


def model_pieces(model: ir.Model, store: TensorSink = store_inline) -> Iterator[Piece]:
    """The bytes of the model's file in pieces; what `store` puts into it is not all in memory."""
    large = streamed_tensors(model.graph) if store is store_inline else {}
    if not large:
        yield _serialized(to_proto(model, store))
    else:
        yield from pieces(to_proto(model, LeftOut(large, store)), large)


def weight_bytes(model: ir.Model) -> int:
    """Bytes of all initializers of the model and its bodies."""
    return sum(tensor.nbytes for tensor in weights(model))


def _serialized(proto: onnx.ModelProto) -> bytes:
    return proto.SerializeToString(deterministic=True)


def to_proto(model: ir.Model, store: TensorSink) -> onnx.ModelProto:
    """The model as a message; `store` decides what becomes of each initializer's data."""
    proto = onnx.ModelProto(
        ir_version=_ir_version(model),
        producer_name=model.producer_name or "",
        producer_version=model.producer_version or "",
        domain=model.domain or "",
        model_version=model.model_version or 0,
        doc_string=model.doc_string or "",
    )
    for domain, version in sorted(model.opset_imports.items()):
        proto.opset_import.add(domain=domain, version=version)
    write_properties(proto.metadata_props, model.metadata_props)
    for configuration in model.device_configurations:
        proto.configuration.append(serde.serialize_model_configuration(configuration))
    _write_graph(proto.graph, model.graph, store)
    for function in model.functions.values():
        serde.serialize_function_into(
            proto.functions.add(),
            function,
            create_value_info=proto.ir_version >= 10,
            model_ir_version=proto.ir_version,
        )
    return proto


def _ir_version(model: ir.Model) -> int:
    """The model's own version, raised to what its features need, never above the runtime's."""
    needed = max(model.ir_version or 0, 3)
    inputs = {id(value) for value in model.graph.inputs}
    for graph in walk_graphs(model.graph):
        for value in graph.initializers.values():
            if id(value) not in inputs:
                needed = max(needed, 4)
            if value.dtype is not None:
                needed = max(needed, _NEEDS_IR_VERSION.get(value.dtype, 3))
    for function in model.functions.values():
        needed = max(needed, 10 if function.metadata_props else 8)
    return min(needed, RUNTIME_IR_VERSION)


def _write_graph(proto: onnx.GraphProto, graph: ir.Graph, store: TensorSink) -> None:
    # The recursion is as deep as bodies are nested; the loader bounds that.
    proto.name = graph.name or ""
    proto.doc_string = graph.doc_string or ""
    write_properties(proto.metadata_props, graph.metadata_props)
    for value in graph.inputs:
        serde.serialize_value_into(proto.input.add(), value)
    for value in sorted(graph.initializers.values(), key=lambda value: value.name or ""):
        if value.const_value is not None:
            tensor = proto.initializer.add(name=value.name)
            store(tensor, value.const_value)
    computed_sizes = len(graph) > FEW_NODES
    for node in graph:
        _write_node(proto.node.add(), node, store)
        for value in node.outputs:
            if value.name and value.type is not None and not value.is_graph_output():
                _write_value(proto.value_info.add(name=value.name), value, computed_sizes)
    for value, shape in zip(graph.outputs, output_shapes(graph), strict=True):
        output = proto.output.add()
        serde.serialize_value_into(output, value)
        if shape is not None and shape != value.shape:
            serde.serialize_shape_into(output.type, shape)
    for value in _annotated(graph):
        annotation = proto.quantization_annotation.add(tensor_name=value.name)
        names = cast("Mapping[str, str]", value.meta[_QUANTIZATION])
        write_properties(annotation.quant_parameter_tensor_names, names)


def _annotated(graph: ir.Graph) -> Iterator[ir.Value]:
    """Values with a quantization annotation, each once."""
    seen: set[int] = set()
    groups = (
        graph.inputs,
        graph.initializers.values(),
        (output for node in graph for output in node.outputs),
    )
    for value in (value for group in groups for value in group):
        if value.meta.data.get(_QUANTIZATION) and id(value) not in seen:
            seen.add(id(value))
            yield value


def _write_node(proto: onnx.NodeProto, node: ir.Node, store: TensorSink) -> None:
    proto.op_type = node.op_type
    if node.domain:
        proto.domain = node.domain
    if node.name:
        proto.name = node.name
    if node.overload:
        proto.overload = node.overload
    if node.doc_string:
        proto.doc_string = node.doc_string
    proto.input.extend("" if value is None else value.name or "" for value in node.inputs)
    names = [value.name or "" for value in node.outputs]
    while names and not names[-1]:
        names.pop()
    proto.output.extend(names)
    for attribute in node.attributes.values():
        _write_attribute(proto.attribute.add(), attribute, store)
    write_properties(proto.metadata_props, node.metadata_props)
    for configuration in node.device_configurations:
        proto.device_configurations.append(serde.serialize_node_device_configuration(configuration))


def _write_attribute(proto: onnx.AttributeProto, attribute: ir.Attr, store: TensorSink) -> None:
    if attribute.is_ref():
        serde.serialize_reference_attribute_into(proto, attribute)
        return
    match attribute.type:
        case ir.AttributeType.GRAPH:
            proto.type = onnx.AttributeProto.GRAPH
            _write_graph(proto.g, attribute.as_graph(), store)
        case ir.AttributeType.GRAPHS:
            proto.type = onnx.AttributeProto.GRAPHS
            for graph in attribute.as_graphs():
                _write_graph(proto.graphs.add(), graph, store)
        case ir.AttributeType.TENSOR:
            proto.type = onnx.AttributeProto.TENSOR
            tensor = tensor_in(attribute)
            proto.t.name = tensor.name or ""
            store_inline(proto.t, tensor)
        case ir.AttributeType.TENSORS:
            proto.type = onnx.AttributeProto.TENSORS
            for tensor in attribute.as_tensors():
                store_inline(proto.tensors.add(name=tensor.name or ""), tensor)
        case _:
            serde.serialize_attribute_into(proto, attribute)
            return
    proto.name = attribute.name
    if attribute.doc_string:
        proto.doc_string = attribute.doc_string


def _write_value(proto: onnx.ValueInfoProto, value: ir.Value, computed_sizes: bool) -> None:
    if type(value.type) is not ir.TensorType or value.type.denotation:
        serde.serialize_value_into(proto, value)
        return
    # The common case, written out: half the time of a large model is spent here.
    tensor = proto.type.tensor_type
    tensor.elem_type = value.type.dtype.value
    shape = value.shape
    if shape is not None:
        tensor.shape.SetInParent()
        for axis, dim in enumerate(shape):
            target = tensor.shape.dim.add()
            if isinstance(dim, int):
                target.dim_value = dim
            elif dim.value is not None and (computed_sizes or dim.value.isidentifier()):
                target.dim_param = dim.value
            if denotation := shape.get_denotation(axis):
                target.denotation = denotation
    write_properties(proto.metadata_props, value.metadata_props)
    if value.doc_string:
        proto.doc_string = value.doc_string
