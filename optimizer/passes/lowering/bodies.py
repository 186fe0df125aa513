"""Operators that ONNX itself defines by others: its function bodies, put in their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import onnx
import onnx_ir as ir
from onnx import FunctionProto, NodeProto, TypeProto, defs

from optimizer.constants import tensor_in
from optimizer.hardware.meaning import means_the_same
from optimizer.model.graph import is_used
from optimizer.model.inline import expanded
from optimizer.passes.draft import NotHere
from optimizer.passes.lowering.lowering import Lowering, lowers
from optimizer.registry import Pass, register
from optimizer.rules import NewInitializer, NewOutput, Operand, Replacement

DEFINED = (
    "AffineGrid", "Attention", "BlackmanWindow", "CastLike", "Celu", "CenterCropPad",
    "DynamicQuantizeLinear", "Elu", "Gelu", "GreaterOrEqual", "HammingWindow", "HannWindow",
    "HardSigmoid", "HardSwish", "LeakyRelu", "LessOrEqual", "LogSoftmax",
    "MeanVarianceNormalization", "Mish", "NegativeLogLikelihoodLoss", "PRelu", "ReduceL1",
    "ReduceL2", "ReduceLogSum", "ReduceSumSquare", "Relu", "RotaryEmbedding",
    "Selu", "Shrink", "Softmax", "SoftmaxCrossEntropyLoss", "Softsign", "Swish", "ThresholdedRelu",
)  # fmt: skip
"""Those that have a body. Left out are what is random (Bernoulli), what holds control flow (Range,
SequenceMap), what is newer than any runtime, and what other passes of this folder write better:
Clip, DepthToSpace, GroupNormalization, LayerNormalization, ReduceLogSumExp, RMSNormalization,
Softplus."""


@register
class InlineFunctionBodies(Pass):
    """Inline operators that ONNX defines by others.

    What it does:
        The body that the ONNX standard gives an operator takes its place, constants in the type of
        the input.
    Before:
        HardSwish
    After:
        HardSigmoid → Mul
    When it is safe:
        The standard has a body for the operator as it is in the model's operator set, or for a
        newer form that means the same, and the operators in the body mean the same in the model's
        set. Types of the inputs are known; the body has no control flow.
    Numerics:
        The standard's definition; a kernel may round elsewhere.
    Source:
        ONNX operator specification, function bodies.
    """

    id = "inline-function-bodies"
    exactness = "reassociates"

    profile: str = "matrix-engine"

    @lowers(*DEFINED, name="FunctionBody")
    def match(self, lowering: Lowering) -> Replacement | None:
        """One operator."""
        problems: list[str] = []
        for version, call, body in _bodies(lowering):
            try:
                return _Body(lowering, version).inlined(call, body)
            except NotHere as why:
                problems.append(str(why))
                del lowering.made[:]
        if not problems:
            return None
        raise NotHere(problems[0])


def _bodies(lowering: Lowering) -> Iterator[tuple[int, NodeProto, FunctionProto]]:
    """Versions that bodies of the operator are written in, the nearest first; a call; the body."""
    node, opset = lowering.node, lowering.opset
    versions = range(opset, defs.onnx_opset_version() + 1)
    seen: set[int] = set()
    for version in versions:
        schema: Any = defs.get_schema(node.op_type, version)
        if schema.since_version in seen:
            continue
        seen.add(schema.since_version)
        if not means_the_same(node, now=opset, then=version):
            return
        contextual = [*schema.context_dependent_function_opset_versions]
        known = [*schema.function_opset_versions, *contextual]
        older = sorted((v for v in known if v <= opset), reverse=True)
        for written in [*older, *sorted(v for v in known if v > opset)]:
            call = _call(lowering, schema)
            if written not in contextual:
                body = schema.get_function_with_opset_version(written)
            else:
                types = [_type(value) for value in node.inputs]
                body = schema.get_context_dependent_function_with_opset_version(
                    written, call.SerializeToString(), types
                )
            parsed = FunctionProto.FromString(body) if isinstance(body, bytes) else body
            yield written, call, parsed


def _call(lowering: Lowering, schema: Any) -> NodeProto:
    """The node with names of our own and plain attributes, defaults among them."""
    node = lowering.node
    call = NodeProto(op_type=node.op_type, name=lowering.base[:80])
    call.input.extend("" if v is None else f"in{i}" for i, v in enumerate(node.inputs))
    call.output.extend(f"out{i}" for i in range(len(node.outputs)))
    for attribute in node.attributes.values():
        if attribute.type not in _PLAIN:
            raise NotHere(f"its attribute {attribute.name} is no number")
        call.attribute.append(ir.serde.serialize_attribute(attribute))
    for name, attribute in schema.attributes.items():
        if name not in node.attributes and attribute.default_value.name:
            call.attribute.append(attribute.default_value)
    return call


_PLAIN = (
    ir.AttributeType.INT, ir.AttributeType.FLOAT, ir.AttributeType.INTS,
    ir.AttributeType.FLOATS, ir.AttributeType.STRING,
)  # fmt: skip
_BODIES = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)


def _type(value: ir.Value | None) -> bytes:
    if value is None:
        return TypeProto().SerializeToString()
    if value.dtype is None:
        raise NotHere("the type of its input is not known")
    shape = None
    if value.shape is not None and 0 not in value.shape:
        shape = [dim if isinstance(dim, int) else None for dim in value.shape]
    return onnx.helper.make_tensor_type_proto(int(value.dtype), shape).SerializeToString()


class _Body:
    """A body on its way into a replacement."""

    def __init__(self, lowering: Lowering, version: int) -> None:
        self.lowering, self.version = lowering, version
        self.known: dict[str, Operand | None] = {"": None}
        self.known |= {f"in{i}": value for i, value in enumerate(lowering.node.inputs)}

    def inlined(self, call: NodeProto, body: FunctionProto) -> Replacement:
        """The replacement."""
        body.domain, body.name = "", self.lowering.node.op_type
        for node in expanded(call, body):
            self._add(node)
        values: dict[ir.Value, Operand] = {}
        for index, old in enumerate(self.lowering.node.outputs):
            new = self.known.get(f"out{index}")
            if new is not None:
                values[old] = new
            elif is_used(old):
                raise NotHere("its definition leaves an output out")
        return Replacement(
            [self.lowering.node], values, "ONNX defines it so.", tuple(self.lowering.made)
        )

    def _add(self, node: NodeProto) -> None:
        """One node of the body; what is constant, and casts to the type there is, need none."""
        inputs = [self.known[name] for name in node.input]
        attributes = {a.name: ir.serde.deserialize_attribute(a) for a in node.attribute}
        if any(
            a.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS) for a in attributes.values()
        ):
            raise NotHere("its definition holds control flow")
        if node.op_type == "Constant":
            self.known[node.output[0]] = self.lowering.weight(_constant(attributes))
            return
        if node.op_type in ("Cast", "CastLike") and self._cast(node, inputs, attributes):
            return
        self._check(node, attributes)
        made = self.lowering.news(
            node.op_type, *inputs, count=len(node.output), **cast("dict[str, Any]", attributes)
        )
        self.known.update(zip(node.output, made, strict=True))

    def _cast(
        self, node: NodeProto, inputs: list[Operand | None], attributes: dict[str, ir.Attr]
    ) -> bool:
        """Whether a cast could be left out, or became a plain one."""
        source = inputs[0]
        if node.op_type == "Cast":
            wanted = ir.DataType(attributes["to"].as_int())
        else:
            wanted = _dtype(inputs[1])
        if wanted is None or source is None:
            return False
        if isinstance(source, NewInitializer):
            data = source.tensor.numpy().astype(wanted.numpy())
            self.known[node.output[0]] = self.lowering.weight(data)
        elif _dtype(source) == wanted:
            self.known[node.output[0]] = source
        else:
            self.known[node.output[0]] = self.lowering.new("Cast", source, to=int(wanted))
        return True

    def _check(self, node: NodeProto, attributes: dict[str, ir.Attr]) -> None:
        """Guard: the operator means the same in the model's operator set.

        Raises:
            NotHere: it does not.
        """
        inputs = [ir.Value() if name else None for name in node.input]
        plain = ir.Node("", node.op_type, inputs, attributes.values(), num_outputs=len(node.output))
        if not means_the_same(plain, now=self.version, then=self.lowering.opset):
            raise NotHere(f"{node.op_type} of its definition needs operator set {self.version}")


def _dtype(operand: Operand | None) -> ir.DataType | None:
    if operand is None or isinstance(operand, NewOutput):
        return None
    return operand.tensor.dtype if isinstance(operand, NewInitializer) else operand.dtype


def _constant(attributes: dict[str, ir.Attr]) -> np.ndarray:
    (attribute,) = attributes.values()
    if attribute.name == "value":
        return tensor_in(attribute).numpy()
    kind = np.float32 if attribute.name.startswith("value_float") else np.int64
    return np.asarray(attribute.value, kind)
