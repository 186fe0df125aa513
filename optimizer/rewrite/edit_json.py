"""Edits as plain JSON data and back. Tensors are left to the caller, by hash."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import onnx
import onnx_ir as ir
from onnx_ir import serde

from optimizer.rewrite import edits
from optimizer.rewrite.edits import Edit

Json = dict[str, Any]
StoreTensor = Callable[[ir.TensorProtocol], str]
FetchTensor = Callable[[str], ir.TensorProtocol]

_PLAIN: Mapping[type, str] = {
    edits.RemoveNode: "remove_node",
    edits.SetInput: "set_input",
    edits.SetGraphOutput: "set_graph_output",
    edits.DropInitializer: "drop_initializer",
    edits.Rename: "rename",
    edits.ImportOpset: "import_opset",
}
"""Edits whose fields are JSON as they stand."""

_BY_NAME = {name: kind for kind, name in _PLAIN.items()}
_READABLE = {
    ir.AttributeType.INT,
    ir.AttributeType.INTS,
    ir.AttributeType.FLOAT,
    ir.AttributeType.FLOATS,
}


def edit_to_json(edit: Edit, store: StoreTensor) -> Json:
    """One edit as data; `store` keeps a tensor and returns its hash."""
    match edit:
        case edits.InsertNode():
            node = _node_to_json(edit.node)
            return {"edit": "insert_node", "graph": edit.graph, "before": edit.before, **node}
        case edits.AddInitializer():
            fields = _fields(edit)
            return {"edit": "add_initializer", **fields, "tensor": store(edit.tensor)}
        case edits.Retype():
            old, new = (_type_to_json(*known) for known in (edit.old, edit.new))
            return {"edit": "retype", "value": edit.value, "old": old, "new": new}
        case edits.SetAttributes():
            old, new = ([_attribute_to_json(a) for a in side] for side in (edit.old, edit.new))
            return {"edit": "set_attributes", "node": edit.node, "old": old, "new": new}
        case _:
            return {"edit": _PLAIN[type(edit)], **_fields(edit)}


def edit_from_json(data: Json, fetch: FetchTensor) -> Edit:
    """The inverse of `edit_to_json`."""
    fields: Json = {key: value for key, value in data.items() if key != "edit"}
    match data["edit"]:
        case "insert_node":
            return edits.InsertNode(fields["graph"], _node_from_json(fields), fields["before"])
        case "add_initializer":
            fields["tensor"] = fetch(fields["tensor"])
            return edits.AddInitializer(**fields)
        case "retype":
            old, new = (_type_from_json(fields[side]) for side in ("old", "new"))
            return edits.Retype(fields["value"], old, new)
        case "set_attributes":
            old, new = (tuple(map(_attribute_from_json, fields[s])) for s in ("old", "new"))
            return edits.SetAttributes(fields["node"], old, new)
        case "remove_node":
            fields["inputs"] = tuple(fields["inputs"])
            fields["inner"] = tuple(fields["inner"])
            return edits.RemoveNode(**fields)
        case kind:
            return _BY_NAME[kind](**fields)


def _fields(edit: Edit) -> Json:
    return {name: getattr(edit, name) for name in edit.__slots__}


def _node_to_json(spec: edits.NodeSpec) -> Json:
    return {
        "id": spec.id,
        "domain": spec.domain,
        "op_type": spec.op_type,
        "name": spec.name,
        "inputs": list(spec.inputs),
        "outputs": [
            {"id": o.id, "name": o.name, "type": _type_to_json(o.type, o.shape)}
            for o in spec.outputs
        ],
        "attributes": [_attribute_to_json(a) for a in spec.attributes],
    }


def _node_from_json(data: Json) -> edits.NodeSpec:
    return edits.NodeSpec(
        data["id"],
        data["domain"],
        data["op_type"],
        data["name"],
        tuple(data["inputs"]),
        tuple(
            edits.ValueSpec(o["id"], o["name"], *_type_from_json(o["type"]))
            for o in data["outputs"]
        ),
        tuple(_attribute_from_json(a) for a in data["attributes"]),
    )


def _type_to_json(kind: ir.TypeProtocol | None, shape: ir.Shape | None) -> Json | str | None:
    if kind is None and shape is None:
        return None
    if isinstance(kind, ir.TensorType) and not kind.denotation:
        dims = None if shape is None else [d if isinstance(d, int) else d.value for d in shape]
        return {"dtype": kind.dtype.name, "shape": dims}
    value = ir.Value(name="v", type=kind, shape=shape)
    return _packed(serde.serialize_value(value).SerializeToString(deterministic=True))


def _type_from_json(data: Json | str | None) -> tuple[ir.TypeProtocol | None, ir.Shape | None]:
    if data is None:
        return None, None
    if isinstance(data, str):
        info = onnx.ValueInfoProto.FromString(base64.b64decode(data))
        value = serde.deserialize_value_info_proto(info, None)
        return value.type, value.shape
    shape = None if data["shape"] is None else ir.Shape(data["shape"])
    return ir.TensorType(ir.DataType[data["dtype"]]), shape


def _attribute_to_json(attribute: ir.Attr) -> Json | str:
    if attribute.type in _READABLE:
        value: object = attribute.value
        plain = list(cast("Sequence[object]", value)) if isinstance(value, list | tuple) else value
        return {"name": attribute.name, "type": attribute.type.name, "value": plain}
    return _packed(serde.serialize_attribute(attribute).SerializeToString(deterministic=True))


def _attribute_from_json(data: Json | str) -> ir.Attr:
    if isinstance(data, str):
        return serde.deserialize_attribute(onnx.AttributeProto.FromString(base64.b64decode(data)))
    return ir.Attr(data["name"], ir.AttributeType[data["type"]], data["value"])


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
