"""Ten mistakes that optimizers of this field make, each as a pass, and a network that has them all.

Each rule answers where a careless one would: it looks right, its types and shapes fit, and the
graph runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx import numpy_helper

from optimizer.registry import Pass, rule
from optimizer.rules import Context, NewInitializer, NewNode, Outcome, Replacement, producer_of
from studio import gallery

SAMPLE = "tour"
_TURNED = "turned"


def network() -> bytes:
    """The sample network, without chance, with a channel that hardly varies, and clipped at times.

    What no input reaches, such as a bound, no check on inputs can see.
    """
    proto = onnx.load(gallery.open_path(SAMPLE))
    for node in proto.graph.node:
        if node.op_type == "RandomUniformLike":  # outputs of chance are not compared
            node.op_type = "Sigmoid"
    for tensor in proto.graph.initializer:
        array = numpy_helper.to_array(tensor).copy()
        if tensor.name == "6-convolutions.shared.bn.var":
            array[0] = 1e-5
        elif tensor.name == "6-convolutions.stem.weight":
            array *= 8
        else:
            continue
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return proto.SerializeToString()


@dataclass(frozen=True)
class Wrong(Pass):
    """A pass that is wrong."""

    family = "block"
    exactness = "reassociates"
    presets = ()
    order = 65


def _attributes(node: ir.Node) -> dict[str, Any]:
    return {name: one.value for name, one in node.attributes.items()}


def _same_node(node: ir.Node, inputs: Sequence[Any], **changed: object) -> Replacement:
    made = NewNode(node.op_type, inputs, {**_attributes(node), **changed})
    return Replacement.by(made, "A test may.", node)


@dataclass(frozen=True)
class ForgetEpsilon(Wrong):
    """BatchNormalization as a scale and a shift, epsilon forgotten."""

    id = "planted-forget-epsilon"

    @rule("BatchNormalization", name="NormAsScale")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """By channel."""
        tables = [context.array(value) for value in node.inputs[1:]]
        scale, bias, mean, variance = (np.asarray(one).reshape(-1, 1, 1) for one in tables)
        factor = scale / np.sqrt(variance)
        scaled = NewNode("Mul", [node.inputs[0], NewInitializer.of(factor, "factor", np.float32)])
        shift = NewInitializer.of(bias - mean * factor, "shift", np.float32)
        made = NewNode("Add", [scaled.output(), shift])
        return Replacement([node], {node.outputs[0]: made.output()}, "A test may.", [scaled, made])


@dataclass(frozen=True)
class ComposeBackwards(Wrong):
    """Two Transposes in a row as one, their permutations composed in the wrong order."""

    id = "planted-compose-backwards"
    order = 15

    @rule("Transpose", name="TransposesBackwards", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Of a cycle of three axes the wrong order is the other cycle."""
        above = producer_of(node.inputs[0], "Transpose")
        if above is None:
            return None
        outer, inner = (context.integers(one, "perm") or [] for one in (node, above))
        backwards = [outer[axis] for axis in inner]
        if backwards == [inner[axis] for axis in outer]:
            return None
        made = NewNode("Transpose", [above.inputs[0]], {"perm": backwards})
        return Replacement.by(made, "A test may.", above, node)


@dataclass(frozen=True)
class GeluOfAnotherSlope(Wrong):
    """The error function taken for Tanh, with 1.0 in place of 2/√π."""

    id = "planted-gelu-of-another-slope"
    order = 5

    @rule("Erf", name="ErfAsTanh")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Every Erf."""
        made = NewNode("Tanh", [node.inputs[0]])
        return Replacement.by(made, "A test may.", node)


@dataclass(frozen=True)
class SwapTransB(Wrong):
    """A square weight read as Gemm reads it with transB."""

    id = "planted-swap-trans-b"

    @rule("MatMul", name="WeightTransposed")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Shapes say nothing about a square."""
        value = node.inputs[1]
        weight = context.array(value)
        if value is None or weight is None or (value.name or "").startswith(_TURNED):
            return None
        if weight.ndim != 2 or weight.shape[0] != weight.shape[1]:
            return None
        turned = NewInitializer.of(np.ascontiguousarray(weight.T), _TURNED)
        return _same_node(node, [node.inputs[0], turned])


@dataclass(frozen=True)
class MoveReluOverScale(Wrong):
    """Relu before the normalization instead of after it: its scale may be negative."""

    id = "planted-move-relu-over-scale"

    @rule("Relu", name="ReluBeforeNorm", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Relu of BatchNormalization."""
        norm = producer_of(node.inputs[0], "BatchNormalization")
        if norm is None or not context.single_use(norm.outputs[0]):
            return None
        first = NewNode("Relu", [norm.inputs[0]])
        made = NewNode("BatchNormalization", [first.output(), *norm.inputs[1:]], _attributes(norm))
        values = {node.outputs[0]: made.output()}
        return Replacement([norm, node], values, "A test may.", [first, made])


@dataclass(frozen=True)
class SoftmaxOverAnotherAxis(Wrong):
    """The axis of older operator sets, 1, where it is the last one."""

    id = "planted-softmax-over-another-axis"

    @rule("Softmax", name="SoftmaxAxisOne")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Every other axis."""
        if context.attribute(node, "axis") == 1:
            return None
        return _same_node(node, node.inputs, axis=1)


@dataclass(frozen=True)
class ForgetUpperBound(Wrong):
    """Clip from 0 up to a number, taken for Relu."""

    id = "planted-forget-upper-bound"

    @rule("Clip", name="ClipAsRelu")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Every Clip."""
        made = NewNode("Relu", [node.inputs[0]])
        return Replacement.by(made, "A test may.", node)


@dataclass(frozen=True)
class DropTruncation(Wrong):
    """A Cast to an integer and back, taken for one that changes nothing."""

    id = "planted-drop-truncation"

    @rule("Cast", name="FloatThroughInteger", reach=2)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The types are equal, values are not."""
        first = producer_of(node.inputs[0], "Cast")
        source = None if first is None else first.inputs[0]
        if first is None or source is None or source.dtype != node.outputs[0].dtype:
            return None
        if source.dtype is None or not source.dtype.is_floating_point():
            return None
        return Replacement([first, node], {node.outputs[0]: source}, "A test may.")


@dataclass(frozen=True)
class MergeByOperatorAlone(Wrong):
    """Nodes with the same operator and input merged, whatever else they read."""

    id = "planted-merge-by-operator-alone"
    order = 30

    @rule("MatMul", name="SameOperatorAndInput")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """A later product of the same value by another weight of the same shape."""
        source = node.inputs[0]
        if source is None or context.dims(node.inputs[1]) is None:
            return None
        for use in source.uses():
            other = use.node
            if other is node or other.op_type != node.op_type or use.idx != 0:
                continue
            same = context.dims(other.inputs[1]) == context.dims(node.inputs[1])
            if same and context.precedes(other, node):
                return Replacement([node], {node.outputs[0]: other.outputs[0]}, "A test may.")
        return None


@dataclass(frozen=True)
class TakeFirstForAll(Wrong):
    """An addend of each channel, of which the first is taken for all."""

    id = "planted-take-first-for-all"

    @rule("Add", name="AddendAsScalar")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """A constant of more than one element."""
        addend = context.array(node.inputs[1])
        if addend is None or addend.ndim < 3 or np.ptp(addend) == 0:
            return None
        first = NewInitializer.of(np.full_like(addend, addend.flat[0]), "addend")
        return _same_node(node, [node.inputs[0], first])


WRONG: tuple[type[Wrong], ...] = (
    ForgetEpsilon,
    ComposeBackwards,
    GeluOfAnotherSlope,
    SwapTransB,
    MoveReluOverScale,
    SoftmaxOverAnotherAxis,
    ForgetUpperBound,
    DropTruncation,
    MergeByOperatorAlone,
    TakeFirstForAll,
)
