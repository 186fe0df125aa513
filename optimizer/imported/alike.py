"""Which nodes, constants and bodies of two graphs are the same, whatever their order and names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import cast

import onnx_ir as ir

from optimizer.constants import constant_of, constant_tensor, is_constant_node, tensor_in
from optimizer.model.graph import bodies, walk_nodes

_GRAPHS = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)


def same_tensor(one: ir.TensorProtocol, other: ir.TensorProtocol) -> bool:
    """Whether two tensors have the same type, shape and bits."""
    if one is other:
        return True
    shape = list(one.shape.numpy()) == list(other.shape.numpy())
    if one.dtype != other.dtype or not shape:
        return False
    if one.dtype == ir.DataType.STRING:
        return one.numpy().tolist() == other.numpy().tolist()
    return one.tobytes() == other.tobytes()


def held_by(value: ir.Value) -> ir.TensorProtocol | None:
    """What a constant holds, an initializer that may be overridden included."""
    return value.const_value if value.is_initializer() else constant_of(value)


def makes_constant(node: ir.Node) -> bool:
    """Whether a node is a Constant that holds a tensor, which an initializer could be as well."""
    return is_constant_node(node) and constant_tensor(node) is not None


def same_operator(one: ir.Node, other: ir.Node) -> bool:
    """Whether two nodes do the same with their inputs, bodies included."""
    if one.op_identifier() != other.op_identifier():
        return False
    mine, others = one.attributes, other.attributes
    return mine.keys() == others.keys() and all(
        _same_attribute(attribute, others[name]) for name, attribute in mine.items()
    )


def _same_attribute(one: ir.Attr, other: ir.Attr) -> bool:
    if one.type != other.type or one.is_ref() or other.is_ref():
        return False
    if one.type == ir.AttributeType.TENSOR:
        return same_tensor(tensor_in(one), tensor_in(other))
    if one.type in _GRAPHS:
        mine, others = _graphs(one), _graphs(other)
        return len(mine) == len(others) and all(map(_same_body, mine, others))
    return _plain(one) == _plain(other)


def _graphs(attribute: ir.Attr) -> Sequence[ir.Graph]:
    if attribute.type == ir.AttributeType.GRAPH:
        return [attribute.as_graph()]
    return attribute.as_graphs()


def _plain(attribute: ir.Attr) -> object:
    value: object = attribute.value
    return tuple(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else value


def _same_body(one: ir.Graph, other: ir.Graph) -> bool:
    """Node by node; a Constant node is the same as an initializer."""
    mine, others = ([node for node in body if not makes_constant(node)] for body in (one, other))
    if len(mine) != len(others) or len(one.inputs) != len(other.inputs):
        return False
    known = dict(zip(other.inputs, one.inputs, strict=True))

    def same(value: ir.Value | None, twin: ir.Value | None) -> bool:
        if value is None or twin is None:
            return value is twin
        if twin in known:
            return known[twin] is value
        tensor, held = held_by(twin), held_by(value)
        if tensor is not None and held is not None:
            return same_tensor(tensor, held)
        return value.name == twin.name and not _made_in(one, value) and not _made_in(other, twin)

    for node, twin in zip(mine, others, strict=True):
        if not same_operator(node, twin) or len(node.outputs) != len(twin.outputs):
            return False
        inputs, twins = _given(node), _given(twin)
        if len(inputs) != len(twins) or not all(map(same, inputs, twins)):
            return False
        known.update(zip(twin.outputs, node.outputs, strict=True))
    return len(one.outputs) == len(other.outputs) and all(map(same, one.outputs, other.outputs))


def _made_in(body: ir.Graph, value: ir.Value) -> bool:
    producer = value.producer()
    return producer is not None and producer.graph is body


def _given(node: ir.Node) -> list[ir.Value | None]:
    """Inputs without those left out at the end."""
    inputs = list(node.inputs)
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs


def captured(node: ir.Node) -> Iterator[ir.Value]:
    """Values of the node's own graph that its bodies read."""
    for body in bodies(node):
        read = [value for inner in walk_nodes(body) for value in inner.inputs]
        for value in (*read, *body.outputs):
            if value is not None and _home(value) is node.graph:
                yield value


def _home(value: ir.Value) -> ir.Graph | ir.Function | None:
    producer = value.producer()
    return value.graph if producer is None else producer.graph


def fingerprint(node: ir.Node, inputs: Sequence[object]) -> tuple[object, ...] | None:
    """What two nodes share that compute the same of the same; None where bodies are involved."""
    if any(bodies(node)):
        return None
    attributes: list[tuple[str, object]] = []
    for name, attribute in sorted(node.attributes.items()):
        if attribute.is_ref():
            return None
        if attribute.type == ir.AttributeType.TENSOR:
            tensor = tensor_in(attribute)
            digest = hashlib.sha256(tensor.tobytes()).digest()
            attributes.append((name, (tensor.dtype, tuple(tensor.shape.numpy()), digest)))
        else:
            attributes.append((name, _hashable(_plain(attribute))))
    return (node.op_identifier(), tuple(attributes), *map(_identity, inputs))


def _hashable(value: object) -> object:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def _identity(value: object) -> int:
    return 0 if value is None else id(value)
