"""All operators that something is known about."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.operators import (
    attention,
    control,
    elementwise,
    generated,
    generation,
    layouts,
    movement,
    normalization,
    products,
    quantization,
    reduction,
    reshaping,
    selection,
    windows,
)
from optimizer.operators.operator import Operator

STANDARD = frozenset({"", "ai.onnx"})
"""Names of the domain of ONNX itself."""

GROUPS = (
    elementwise, normalization, windows, products, reduction, reshaping, movement,
    selection, generation, quantization, control, attention, layouts,
)  # fmt: skip

CATALOGUE: Mapping[tuple[str, str], Operator] = {
    (operator.domain, operator.name): operator for group in GROUPS for operator in group.OPERATORS
}
"""By domain and name."""

UNARY = frozenset(name for (domain, name), op in CATALOGUE.items() if op.unary and not domain)
"""Operators of ONNX that work on one tensor, element by element, whatever its shape."""

COMMUTATIVE = frozenset(
    name for (domain, name), op in CATALOGUE.items() if op.commutes and not domain
)
"""Operators of ONNX whose two inputs may be swapped, to the bit."""

RESHAPING = frozenset(
    name
    for (_, name), op in CATALOGUE.items()
    if op.result == "view" and op.carries and not op.unary
)
"""Operators that give the same elements another shape."""

BROADCASTING = frozenset(
    name
    for (_, name), op in CATALOGUE.items()
    if op.types in (elementwise.binary, elementwise.comparison, elementwise.where)
)
"""Operators of two tensors, or three, that are broadcast together."""


def operator_of(node: ir.Node) -> Operator | None:
    """What is known about a node's operator; None for one that nobody described."""
    known = CATALOGUE.get((node.domain, node.op_type))
    if known is not None:
        return known
    return generated.OPERATOR if node.domain == generated.GENERATED else standard(node)


def standard(node: ir.Node) -> Operator | None:
    """As `operator_of`, for the operators of ONNX itself alone."""
    return CATALOGUE.get(("", node.op_type)) if node.domain in STANDARD else None


def decided_by_values(node: ir.Node, output: int, known: Callable[[ir.Value], bool]) -> bool:
    """Whether elements that only a run computes decide the sizes of an output.

    A Loop stacks as many results as it has rounds; what it carries is as large as before.

    Args:
        node: of any operator.
        output: which one.
        known: whether all elements of an input are known, as numbers or in terms of sizes.
    """
    operator = operator_of(node)
    if operator is None:
        return False
    if operator.name == "Loop":
        return output >= len(node.inputs) - 2
    deciding = (*operator.shape_inputs, *operator.decided_by)
    values = [node.inputs[index] for index in deciding if index < len(node.inputs)]
    return any(value is not None and not known(value) for value in values)


def is_random(node: ir.Node) -> bool:
    """Whether two runs of the node on the same inputs may give different outputs."""
    operator = operator_of(node)
    if operator is None or operator.name != "Dropout":
        return operator is not None and operator.random
    if node.graph is not None and node.graph.opset_imports.get("", 7) < 7:
        test = node.attributes.get("is_test")
        return test is None or not test.as_int()
    if len(node.inputs) < 3 or node.inputs[2] is None:
        return False
    training = constant_of(node.inputs[2])
    return training is None or bool(training.numpy().any())
