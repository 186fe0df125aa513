"""Types and shapes that contradict each other, found without shape inference.

One forward walk over the main graph carries what is certain: declared inputs and initializers, and
through the simplest operators. Where anything is unknown, nothing is claimed. What is declared of
an output is not compared: the runtime runs a model with a wrong claim, and `symbolic` tells of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
)

from optimizer.dimension import Dimension
from optimizer.errors import InvalidGraph, quoted
from optimizer.model.nesting import bodies_below
from optimizer.model.operands import Contents, Shape, check_operands
from optimizer.model.report import EXPORT_AGAIN, Findings, Place
from optimizer.model.signatures import ALIAS, Formal, Signature, signature
from optimizer.model.tensors import type_name
from optimizer.operators.broadcasting import broadcast, like_first
from optimizer.operators.call import Contradiction
from optimizer.operators.catalogue import CATALOGUE
from optimizer.operators.elementwise import binary, comparison, predicate
from optimizer.operators.operator import TypeRule
from optimizer.operators.products import matmul, matmul_shape

_TYPES = {
    f"tensor({name.lower()})": value
    for name, value in TensorProto.DataType.items()
    if value != TensorProto.UNDEFINED
}
_TYPE_TEXTS = {value: text for text, value in _TYPES.items()}
_RULES = {name: op.types for (domain, name), op in CATALOGUE.items() if not domain}
_ONE_SHAPE = frozenset({like_first, predicate})
_TWO_SHAPES = frozenset({binary, comparison})
_KEEP_FIRST = frozenset({"BatchNormalization", "Cast", "Dropout", "LayerNormalization"})
"""Operators whose rules look at more, while their first output is shaped like the first input."""
_BROADCASTS_SINCE = 7


def find_contradictions(proto: ModelProto, *, has_bodies: bool, report: Findings) -> None:
    """Report what cannot be: in the main graph, and node by node in its bodies.

    The model has passed `validate`, and its functions are inlined.
    """
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    _walk(proto.graph, None, versions=versions, report=report)
    for body, place in bodies_below(proto.graph.node) if has_bodies else ():
        _walk(body, place, versions=versions, report=report)


def _walk(
    graph: GraphProto, around: Place | None, *, versions: Mapping[str, int], report: Findings
) -> None:
    known = _known_at_start(graph)
    opset = versions.get("", 0)
    for number, node in enumerate(graph.node, 1):
        where = Place("node", node.name, around=around, number=number)
        check_operands(node, where, known, report)
        domain = "" if node.domain == ALIAS else node.domain
        definition = signature(domain, node.op_type, versions.get(domain, 0))
        if definition is not None:
            _check_types(node, definition, where, known=known, report=report)
        if domain == "":
            _learn(node, known)
            problem = _shape_problem(node, known, opset)
            if problem:
                report.error(InvalidGraph, where, problem)


def _known_at_start(graph: GraphProto) -> Contents:
    known, inputs = Contents(), {info.name for info in graph.input}
    for info in graph.input:
        tensor = info.type.tensor_type
        if info.type.HasField("tensor_type"):
            known.types[info.name] = tensor.elem_type
            if tensor.HasField("shape"):
                known.shapes[info.name] = _declared_shape(info)
    for tensor in graph.initializer:
        if tensor.name not in inputs:
            known.types[tensor.name] = tensor.data_type
            known.shapes[tensor.name] = tuple(tensor.dims)
            known.constants[tensor.name] = tensor
    return known


def _declared_shape(info: ValueInfoProto) -> Shape:
    dims = info.type.tensor_type.shape.dim
    return tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in dims)


def _learn(node: NodeProto, known: Contents) -> None:
    """Take in what the attributes of Constant and Cast say about the output."""
    if node.op_type == "Constant" and node.output:
        for attribute in node.attribute:
            if attribute.name == "value" and attribute.type == AttributeProto.TENSOR:
                known.constants[node.output[0]] = attribute.t
                known.types[node.output[0]] = attribute.t.data_type
                known.shapes[node.output[0]] = tuple(attribute.t.dims)
    elif node.op_type == "Cast" and node.output:
        known.types.pop(node.output[0], None)
        for attribute in node.attribute:
            if attribute.name == "to" and attribute.i in _TYPE_TEXTS:
                known.types[node.output[0]] = attribute.i


def _formal(formals: Sequence[Formal], position: int) -> Formal | None:
    if position < len(formals):
        return formals[position]
    return formals[-1] if formals and formals[-1].variadic else None


def _check_types(
    node: NodeProto, definition: Signature, where: Place, *, known: Contents, report: Findings
) -> None:
    types = known.types
    bound: dict[str, tuple[int, str]] = {}
    for position, name in enumerate(node.input):
        given = types.get(name)
        formal = _formal(definition.formal_inputs, position) if given is not None else None
        if given is None or formal is None or (formal.variadic and not formal.same):
            continue
        first, first_name = bound.setdefault(formal.type_name, (given, name))
        if first != given:
            message = (
                f"The inputs {quoted(first_name)} and {quoted(name)} of {node.op_type} must have "
                f"one type, but are {type_name(first)} and {type_name(given)}."
            )
            report.error(InvalidGraph, where, message)
        elif _TYPE_TEXTS[given] not in formal.allowed:
            message = (
                f"{node.op_type} of opset {definition.since} does not take {type_name(given)} "
                f"as {quoted(formal.name)}."
            )
            report.warning(where, message, remedy=EXPORT_AGAIN, blocks=("runnable",))
    for name, formal in zip(node.output, definition.formal_outputs, strict=False):
        if formal.variadic:
            break
        given = bound[formal.type_name][0] if formal.type_name in bound else _only_type(formal)
        if given is not None and name:
            types[name] = given


def _only_type(formal: Formal) -> int | None:
    return _TYPES.get(next(iter(formal.allowed))) if len(formal.allowed) == 1 else None


def _shape_problem(node: NodeProto, known: Contents, opset: int) -> str:
    """Why the shapes of the inputs do not fit; if they do, the output's shape becomes known."""
    shapes = [known.shapes.get(name) for name in node.input]
    if not node.output or not shapes or shapes[0] is None:
        return ""
    rule = _RULES.get(node.op_type)
    if rule in _ONE_SHAPE or node.op_type in _KEEP_FIRST:
        known.shapes[node.output[0]] = shapes[0]
        return ""
    if len(shapes) < 2 or shapes[1] is None:
        return ""
    try:
        result = _of_two(rule, shapes[0], shapes[1], opset)
    except Contradiction as error:
        left, right = _text(shapes[0]), _text(shapes[1])
        return f"{node.op_type} cannot take the shapes {left} and {right}: {error}."
    if result is not None:
        known.shapes[node.output[0]] = tuple(d if isinstance(d, int) else None for d in result)
    return ""


def _of_two(
    rule: TypeRule | None, left: Shape, right: Shape, opset: int
) -> Sequence[Dimension | None] | None:
    """The output's shape; None for operators that this walk does not follow.

    Raises:
        Contradiction: the two do not fit.
    """
    if rule in _TWO_SHAPES and opset >= _BROADCASTS_SINCE:
        return broadcast(left, right)
    return matmul_shape(left, right) if rule is matmul and left and right else None


def _text(shape: Shape) -> str:
    return "×".join("?" if dim is None else str(dim) for dim in shape[:12]) or "scalar"
