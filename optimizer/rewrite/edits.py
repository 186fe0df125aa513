"""The primitive, invertible changes every rewrite is made of, and how they are written.

An edit names nodes and values by id, so that it means the same on every copy of the source graph
and can be written to a file. `GraphState` finds the objects behind the ids, applies and reverts
(`graph_state`).
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import onnx
import onnx_ir as ir
from onnx_ir import serde

from optimizer.codec import Json, one_of, written_as
from optimizer.frozen import frozen


class Known(NamedTuple):
    """What is known of a value's type; dimensions may be free."""

    type: ir.TypeProtocol | None
    shape: ir.Shape | None


@frozen()
class ValueSpec:
    """A value to create: id, ONNX name, and what is known of its type."""

    id: str
    name: str
    type: Known


@frozen()
class EmptyBody:
    """A graph to create in an attribute of a node; what is in it, edits of their own put there."""

    attribute: str
    graph: str
    name: str | None
    inputs: tuple[ValueSpec, ...]


@frozen()
class InsertNode:
    """Put a new node into a graph, right before the live node `before`, at the end without one.

    Inputs are value ids, None where an optional input is missing.
    """

    graph: str
    before: str | None
    id: str
    domain: str
    op_type: str
    name: str
    inputs: tuple[str | None, ...]
    outputs: tuple[ValueSpec, ...]
    attributes: tuple[ir.Attr, ...]
    bodies: tuple[EmptyBody, ...] = ()


@frozen()
class RemoveNode:
    """Take a node out, and with it the nodes `inner` of its bodies.

    `before` is the live node that followed it, None at the end of the list.
    """

    graph: str
    node: str
    before: str | None
    inputs: tuple[str | None, ...]
    inner: tuple[str, ...] = ()


@frozen()
class MoveNode:
    """Put a node elsewhere in its graph, right before the live node `before`.

    `follower` is the live node that followed it, None at the end of the list.
    """

    graph: str
    node: str
    before: str
    follower: str | None


@frozen()
class SetInput:
    """Let input `index` of a node read another value."""

    node: str
    index: int
    old: str | None
    new: str | None


@frozen()
class SetGraphOutput:
    """Let graph output `index` be another value; `old` is None where there was none."""

    graph: str
    index: int
    old: str | None
    new: str


@frozen()
class DropInput:
    """Take a graph input from the list; its default stays as a constant."""

    graph: str
    value: str
    index: int


@frozen()
class AddInitializer:
    """Add a constant to a graph."""

    graph: str
    value: str
    name: str
    tensor: ir.TensorProtocol


@frozen()
class DropInitializer:
    """Remove an unused constant from a graph."""

    graph: str
    value: str
    name: str


@frozen()
class Rename:
    """Change the ONNX name of a value."""

    value: str
    old: str
    new: str


@frozen()
class Retype:
    """Write down what has become known about a value's type and shape."""

    value: str
    old: Known
    new: Known


@frozen()
class SetAttributes:
    """Change the attributes of a node that stays."""

    node: str
    old: tuple[ir.Attr, ...]
    new: tuple[ir.Attr, ...]


@frozen()
class ImportOpset:
    """Declare an operator set, or another version of it; `old` is None where there was none."""

    domain: str
    version: int
    old: int | None = None


@frozen()
class AddFunction:
    """Give the model a function of its own."""

    function: ir.Function


@frozen()
class DropFunction:
    """Take from the model a function of its own that nothing calls."""

    function: ir.Function


Edit = (
    InsertNode
    | RemoveNode
    | MoveNode
    | SetInput
    | SetGraphOutput
    | DropInput
    | AddInitializer
    | DropInitializer
    | Rename
    | Retype
    | SetAttributes
    | ImportOpset
    | AddFunction
    | DropFunction
)


_READABLE = {
    ir.AttributeType.INT,
    ir.AttributeType.INTS,
    ir.AttributeType.FLOAT,
    ir.AttributeType.FLOATS,
}


def _known_to_json(known: Known) -> Json | str | None:
    kind, shape = known
    if kind is None and shape is None:
        return None
    if isinstance(kind, ir.TensorType) and not kind.denotation:
        dims = None if shape is None else [d if isinstance(d, int) else d.value for d in shape]
        return {"dtype": kind.dtype.name, "shape": dims}
    return _packed(serde.serialize_value(ir.Value(name="v", type=kind, shape=shape)))


def _known_from_json(data: Json | str | None) -> Known:
    if data is None:
        return Known(None, None)
    if isinstance(data, str):
        info = onnx.ValueInfoProto.FromString(base64.b64decode(data))
        value = serde.deserialize_value_info_proto(info, None)
        return Known(value.type, value.shape)
    shape = None if data["shape"] is None else ir.Shape(data["shape"])
    return Known(ir.TensorType(ir.DataType[data["dtype"]]), shape)


def _attribute_to_json(attribute: ir.Attr) -> Json | str:
    if attribute.type in _READABLE:
        value: object = attribute.value
        plain = list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else value
        return {"name": attribute.name, "type": attribute.type.name, "value": plain}
    return _packed(serde.serialize_attribute(attribute))


def _attribute_from_json(data: Json | str) -> ir.Attr:
    if isinstance(data, str):
        return serde.deserialize_attribute(onnx.AttributeProto.FromString(base64.b64decode(data)))
    return ir.Attr(data["name"], ir.AttributeType[data["type"]], data["value"])


def _function_to_json(function: ir.Function) -> str:
    return _packed(serde.serialize_function(function))


def _function_from_json(data: str) -> ir.Function:
    return serde.deserialize_function(onnx.FunctionProto.FromString(base64.b64decode(data)))


def _packed(message: onnx.ValueInfoProto | onnx.AttributeProto | onnx.FunctionProto) -> str:
    return base64.b64encode(message.SerializeToString(deterministic=True)).decode("ascii")


def _as_it_is(tensor: Any) -> Any:
    """Tensors are left to who writes the file: by hash."""
    return tensor


written_as(Known, _known_to_json, _known_from_json)
written_as(ir.Attr, _attribute_to_json, _attribute_from_json)
written_as(ir.Function, _function_to_json, _function_from_json)
written_as(ir.TensorProtocol, _as_it_is, _as_it_is)
one_of(Edit, "edit")
