"""What a graph computes, as terms: one for each element of each output, at small fixed sizes.

Nothing here knows any rule. What has known inputs, and where elements move to, is asked of ONNX
Runtime; arithmetic is the theory's; an operator that ONNX defines by others is its definition; any
other operator is some function of all elements it reads, the same one wherever operator and
attributes are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper

from optimizer.operators.catalogue import CATALOGUE, UNARY
from tests.optimizer.proofs import linear
from tests.optimizer.proofs.definitions import definition
from tests.optimizer.proofs.elementwise import elementwise
from tests.optimizer.proofs.movement import MOVING, computed, constant_of, places
from tests.optimizer.proofs.smt import Term, Unsupported, z3
from tests.optimizer.proofs.tensors import (
    Symbolic,
    Tensor,
    attributes_of,
    lifted,
    limited,
    mapped,
    present,
)
from tests.optimizer.proofs.theories import Theory, is_float

FEW = 40
UNKNOWN = "some "
"""How functions are called of which nothing is known."""


@dataclass(slots=True)
class Scope:
    """The values of a graph, and what the model around it says."""

    theory: Theory
    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str], onnx.FunctionProto]
    values: dict[str, Tensor | None] = field(default_factory=dict[str, "Tensor | None"])

    def below(self, values: Mapping[str, Tensor | None]) -> Scope:
        """Another scope of the same model with these values."""
        return Scope(self.theory, self.opsets, self.functions, dict(values))

    def at(self, name: str) -> Tensor | None:
        """A value; None for an input that is left out."""
        return self.values[name] if name else None


def outputs_of(
    model: onnx.ModelProto, inputs: Mapping[str, Tensor], theory: Theory
) -> list[Tensor]:
    """The outputs of a model.

    Raises:
        Unsupported: there is no term for something in it.
    """
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    functions = {(one.domain, one.name): one for one in model.functions}
    return graph_outputs(model.graph, Scope(theory, opsets, functions, dict(inputs)))


def graph_outputs(graph: onnx.GraphProto, scope: Scope) -> list[Tensor]:
    """The outputs of a graph over the values it sees."""
    for tensor in graph.initializer:
        scope.values.setdefault(tensor.name, constant_of(tensor))
    for node in graph.node:
        evaluate(node, scope)
    return [present(scope.at(value.name)) for value in graph.output]


def evaluate(node: onnx.NodeProto, scope: Scope) -> None:
    """Give the node's outputs their values."""
    inputs = [scope.at(name) for name in node.input]
    for name, value in zip(node.output, _results(node, inputs, scope), strict=False):
        if name:
            scope.values[name] = value


def _results(
    node: onnx.NodeProto, inputs: Sequence[Tensor | None], scope: Scope
) -> Sequence[Tensor]:
    known_as = CATALOGUE.get((node.domain, node.op_type))
    if known_as is not None and known_as.random and node.op_type != "Dropout":
        raise Unsupported(f"{node.op_type}, which is random")
    if (node.domain, node.op_type) in scope.functions:
        return _called(node, scope.functions[node.domain, node.op_type], inputs, scope)
    if node.op_type == "If":
        return _branch(node, inputs, scope)
    if any(one.type == onnx.AttributeProto.GRAPH for one in node.attribute):
        raise Unsupported(f"{node.op_type}, which has a body")
    if node.op_type == "CastLike" and isinstance(inputs[0], np.ndarray):
        like = lifted(present(inputs[1]), scope.theory)
        return [inputs[0].astype(helper.tensor_dtype_to_np_dtype(like.kind))]
    known = [one for one in inputs if isinstance(one, np.ndarray)]
    if len(known) == sum(one is not None for one in inputs):
        return computed(node, [*map(_known, inputs)], scope.opsets)
    if not node.domain and node.op_type == "Shape":
        stand_in = [_stand_in(one) for one in inputs]
        return computed(node, stand_in, scope.opsets)
    if not node.domain and (found := _understood(node, inputs, scope)) is not None:
        return found
    return _any_function(node, inputs, scope)


def _understood(
    node: onnx.NodeProto, inputs: Sequence[Tensor | None], scope: Scope
) -> Sequence[Tensor] | None:
    """An operator that moves, computes element by element, is linear, or is defined by others."""
    moves = node.op_type == "Concat" or node.op_type in MOVING
    if moves and (found := _moved(node, inputs, scope)) is not None:
        return found
    if node.op_type == "Dropout":
        return _kept(node, inputs)
    found = elementwise(node, inputs, scope.theory)
    if found is not None:
        return [found]
    operands = [None if one is None else lifted(one, scope.theory) for one in inputs]
    first = operands[0]
    if first is None or scope.theory.name != "reals" or not is_float(first.kind):
        return _by_element(node, first, scope)
    terms = linear.terms_of(node, [None if one is None else one.terms for one in operands], scope)
    if terms is not None:
        return [Symbolic(terms, first.kind)]
    return _by_definition(node, operands, scope) or _by_element(node, first, scope)


def _by_element(
    node: onnx.NodeProto, operand: Symbolic | None, scope: Scope
) -> Sequence[Tensor] | None:
    """Some function of each element."""
    if operand is None or len(node.input) != 1 or node.op_type not in UNARY:
        return None
    sort = scope.theory.sort(operand.kind)
    function = z3.Function(f"{UNKNOWN}{_title(node)}", sort, sort)
    return [mapped(function, [operand], operand.kind)]


def _moved(
    node: onnx.NodeProto, inputs: Sequence[Tensor | None], scope: Scope
) -> Sequence[Tensor] | None:
    moved = range(len(inputs)) if node.op_type == "Concat" else MOVING[node.op_type]
    if node.op_type == "Resize" and attributes_of(node).get("mode", b"nearest") != b"nearest":
        return None
    others = [one for place, one in enumerate(inputs) if place not in moved and one is not None]
    if not all(isinstance(one, np.ndarray) for one in others):
        return None
    data = [lifted(present(inputs[place]), scope.theory) for place in moved]
    filling = _filling(node, inputs, data[0], scope)
    flat = np.concatenate([*(one.terms.ravel() for one in data), [filling]])
    shapes: list[tuple[int, ...] | None] = [None] * len(inputs)
    for place, one in zip(moved, data, strict=True):
        shapes[place] = one.terms.shape
    found = places(node, shapes, [*map(_known, inputs)], scope.opsets)
    return [Symbolic(limited(flat[at]), data[0].kind) for at in found]


def _kept(node: onnx.NodeProto, inputs: Sequence[Tensor | None]) -> Sequence[Tensor]:
    """Dropout, where it drops nothing."""
    ratio = inputs[1] if len(inputs) > 1 else None
    trains = len(inputs) > 2 and inputs[2] is not None
    if len(node.output) > 1 or (trains and not (isinstance(ratio, np.ndarray) and ratio == 0)):
        raise Unsupported("Dropout in training, or its mask")
    return [present(inputs[0])]


def _filling(
    node: onnx.NodeProto, inputs: Sequence[Tensor | None], data: Symbolic, scope: Scope
) -> Term:
    """What Pad puts around; the place -1 is the last one."""
    if node.op_type != "Pad":
        return None
    if len(inputs) > 2 and inputs[2] is not None:
        return lifted(inputs[2], scope.theory).terms.ravel()[0]
    number = np.array(attributes_of(node).get("value", 0.0))
    kind = helper.tensor_dtype_to_np_dtype(data.kind)
    return scope.theory.constant(number.astype(kind), data.kind)


def _by_definition(
    node: onnx.NodeProto, inputs: Sequence[Symbolic | None], scope: Scope
) -> Sequence[Tensor] | None:
    """What ONNX's own function body says."""
    shaped = [None if one is None else (one.kind, one.terms.shape) for one in inputs]
    body = definition(node, shaped, scope.opsets.get("", 1))
    return None if body is None else _called(node, body, inputs, scope)


def _called(
    node: onnx.NodeProto,
    function: onnx.FunctionProto,
    inputs: Sequence[Tensor | None],
    scope: Scope,
) -> Sequence[Tensor]:
    """A call of a function of nodes."""
    names = function.input
    given = {name: value for name, value in zip(names, inputs, strict=False)}
    inner = scope.below({**{name: None for name in names}, **given})
    inner.opsets = {**scope.opsets, **{one.domain: one.version for one in function.opset_import}}
    passed = {one.name: one for one in (*function.attribute_proto, *node.attribute)}
    for one in function.node:
        evaluate(_with_attributes(one, passed), inner)
    return [present(inner.at(name)) for name in function.output[: len(node.output)]]


def _with_attributes(
    node: onnx.NodeProto, passed: Mapping[str, onnx.AttributeProto]
) -> onnx.NodeProto:
    made = onnx.NodeProto()
    made.CopyFrom(node)
    del made.attribute[:]
    for one in node.attribute:
        if one.ref_attr_name and one.ref_attr_name not in passed:
            continue
        made.attribute.add().CopyFrom(passed[one.ref_attr_name] if one.ref_attr_name else one)
        made.attribute[-1].name = one.name
    return made


def _branch(
    node: onnx.NodeProto, inputs: Sequence[Tensor | None], scope: Scope
) -> Sequence[Tensor]:
    """The branch that a known condition takes, or both, chosen between."""
    condition = present(inputs[0])
    bodies = {one.name: one.g for one in node.attribute}
    branches = (bodies["then_branch"], bodies["else_branch"])
    found = [graph_outputs(body, scope.below(scope.values)) for body in branches]
    if isinstance(condition, np.ndarray):
        return found[0] if bool(condition.ravel()[0]) else found[1]
    pairs = [[lifted(one, scope.theory) for one in pair] for pair in zip(*found, strict=True)]
    if any(a.terms.shape != b.terms.shape for a, b in pairs):
        raise Unsupported("If, whose branches have different shapes")
    return [mapped(z3.If, [condition, a, b], a.kind) for a, b in pairs]


def _any_function(
    node: onnx.NodeProto, inputs: Sequence[Tensor | None], scope: Scope
) -> Sequence[Tensor]:
    """Some function of every element that is read."""
    operands = [None if one is None else lifted(one, scope.theory) for one in inputs]
    shaped = computed(node, [*map(_stand_in, inputs)], scope.opsets)
    arguments = [term for one in operands if one is not None for term in one.terms.ravel()]
    sorts = [term.sort() for term in arguments]
    shapes = ", ".join("-" if one is None else f"{one.terms.shape}" for one in operands)
    results: list[Tensor] = []
    for number, array in enumerate(shaped):
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        terms = limited(np.empty(array.shape, object))
        title = f"{UNKNOWN}{_title(node)} of {shapes}, output {number} at "
        if len(arguments) > FEW:  # a function of so many is slow: the same terms, the same unknown
            title += f"{hash(tuple(term.get_id() for term in arguments))} "
        for place in np.ndindex(terms.shape):
            at, sort = f"{title}{list(place)}", scope.theory.sort(kind)
            made = z3.Function(at, *sorts, sort) if len(arguments) <= FEW else None
            terms[place] = z3.Const(at, sort) if made is None else made(*arguments)
        results.append(Symbolic(terms, kind))
    scope.theory.kept.append(arguments)
    return results


def _title(node: onnx.NodeProto) -> str:
    """Operator and attributes, defaults included."""
    attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    if not node.domain:
        for name, one in onnx.defs.get_schema(node.op_type).attributes.items():
            if one.default_value.name:
                attributes.setdefault(name, helper.get_attribute_value(one.default_value))
    return f"{node.domain}{node.op_type}{sorted(attributes.items()) or ''}"


def _known(tensor: Tensor | None) -> np.ndarray | None:
    return tensor if isinstance(tensor, np.ndarray) else None


def _stand_in(tensor: Tensor | None) -> np.ndarray | None:
    if tensor is None or isinstance(tensor, np.ndarray):
        return tensor
    return np.ones(tensor.terms.shape, helper.tensor_dtype_to_np_dtype(tensor.kind))
