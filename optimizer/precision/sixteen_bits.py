"""Which inputs and outputs of a node change with its type, and why a node stays float32."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

import onnx
import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.model.graph import bodies, node_id
from optimizer.operators.catalogue import STANDARD, operator_of
from optimizer.operators.operator import OperatorClass
from optimizer.precision.float_formats import FloatFormat, magnitude
from optimizer.precision.masks import bounded

FLOAT = ir.DataType.FLOAT
_HEAVY = frozenset({OperatorClass.ATTENTION, OperatorClass.RECURRENT})


@dataclass(frozen=True, slots=True)
class TypedPositions:
    """Where a node's type of numbers stands: all these change together.

    Attributes:
        inputs: their positions.
        outputs: their positions.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


def signature(node: ir.Node, opsets: Mapping[str, int]) -> TypedPositions | None:
    """The inputs that share an element type with the first output, and such outputs.

    What else has a type with a point (scales of a Resize, statistics of a BatchNormalization)
    keeps it. Of ONNX Runtime's own operators all tensors share one.

    Returns: None where nothing is known of the operator in 16 bits.
    """
    operator = operator_of(node)
    if operator is None or operator.precision is None:
        return None
    if operator.domain:
        floats = tuple(i for i, value in enumerate(node.inputs) if value and value.dtype == FLOAT)
        return TypedPositions(
            floats, tuple(i for i, v in enumerate(node.outputs) if v.dtype == FLOAT)
        )
    found = _declared(node.op_type, opsets.get("", 1))
    if found is None:
        return None
    if operator.result == "metadata":
        return TypedPositions((0,), ())
    inputs, outputs, _ = found
    shared = outputs[0]
    return TypedPositions(
        tuple(i for i in range(len(node.inputs)) if inputs[min(i, len(inputs) - 1)] == shared),
        tuple(i for i in range(len(node.outputs)) if outputs[min(i, len(outputs) - 1)] == shared),
    )


def type_of(node: ir.Node, found: TypedPositions) -> ir.DataType | None:
    """The element type of a node's signature, as far as any of its values tells."""
    values = [node.inputs[i] for i in found.inputs] + [node.outputs[i] for i in found.outputs]
    return next((value.dtype for value in values if value is not None and value.dtype), None)


def reason_to_stay(
    node: ir.Node, form: FloatFormat, opsets: Mapping[str, int], keep: Collection[str]
) -> str:
    """Why a node that computes in float32 must go on so; empty if it need not."""
    operator = operator_of(node)
    if any(True for _ in bodies(node)):
        return "what has a body stays float32"
    if is_kept(node_id(node), keep):
        return "it is on the keep-list"
    found = signature(node, opsets)
    if operator is None or found is None:
        return f"nothing is known of {node.op_type} in 16 bits"
    if operator.precision == "range-critical" or _is_square(node):
        return f"{node.op_type} asks for more range or digits than 16 bits have"
    if not _takes(node, form, opsets):
        return f"{node.op_type} does not take {form.name} in this operator set"
    read = [value for value in (node.inputs[i] for i in found.inputs) if value is not None]
    if any(value.dtype is None for value in (*read, *(node.outputs[i] for i in found.outputs))):
        return "the type of what it reads or gives is not known"
    if any(_is_dequantized(value) for value in read):
        return "it computes on quantized numbers"
    return next((why for value in read if (why := _unfit(value, form))), "")


def is_heavy(node: ir.Node) -> bool:
    """Whether computing in 16 bits pays at any price of casts: products, attention, recurrence."""
    operator = operator_of(node)
    return operator is not None and (operator.product or operator.kind in _HEAVY)


def is_kept(identity: str, keep: Collection[str]) -> bool:
    """Whether a node is listed, itself or as the one that it was derived from."""
    return identity in keep or identity.partition("~")[0] in keep


def _is_dequantized(value: ir.Value) -> bool:
    maker = value.producer()
    return maker is not None and maker.op_type == "DequantizeLinear"


def _is_square(node: ir.Node) -> bool:
    return node.op_type == "Mul" and node.inputs[0] is node.inputs[1]


def _unfit(value: ir.Value, form: FloatFormat) -> str:
    """Why a constant does not fit; empty if it does, or will once it is bounded."""
    tensor = constant_of(value)
    if tensor is None or tensor.dtype != FLOAT:
        return ""
    most = magnitude(tensor)
    if most >= form.overflow and bounded(value, form) is None:
        return f"a constant of it reaches {most:.3g}, {form.name} ends at {form.largest:.5g}"
    if 0 < most <= form.smallest / 2:
        return f"a constant of it, {most:.3g}, would be 0 in {form.name}"
    return ""


def _takes(node: ir.Node, form: FloatFormat, opsets: Mapping[str, int]) -> bool:
    if node.domain not in STANDARD:
        return form.dtype == ir.DataType.FLOAT16
    found = _declared(node.op_type, opsets.get("", 1))
    return found is not None and f"tensor({form.name})" in found[2]


@lru_cache(maxsize=4096)
def _declared(
    name: str, opset: int
) -> tuple[tuple[str, ...], tuple[str, ...], frozenset[str]] | None:
    """An operator's type variables by input and by output, and what the first input's may be."""
    try:
        schema = onnx.defs.get_schema(name, opset, "")
    except onnx.defs.SchemaError:
        return None
    inputs = tuple(one.type_str for one in schema.inputs)
    outputs = tuple(one.type_str for one in schema.outputs)
    operator_type = outputs[0] if outputs[0] in inputs else inputs[0] if inputs else ""
    kinds = {one.type_param_str: one.allowed_type_strs for one in schema.type_constraints}
    return inputs, outputs, frozenset(kinds.get(operator_type, ()))
