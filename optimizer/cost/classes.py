"""Operators by what limits them: nodes of one class run at one rate on one device."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.cost.node import is_view
from optimizer.cost.sizes import Sizes
from optimizer.operators.call import Call
from optimizer.operators.catalogue import STANDARD, operator_of
from optimizer.operators.operator import OperatorClass

__all__ = ["MATRIX", "MOVING", "PER_ELEMENT", "OperatorClass", "operator_class"]


MATRIX = frozenset(
    {OperatorClass.DENSE_CONV, OperatorClass.POINTWISE_CONV, OperatorClass.GROUPED_CONV,
     OperatorClass.GEMM, OperatorClass.BATCHED_MATMUL, OperatorClass.ATTENTION,
     OperatorClass.RECURRENT}
)  # fmt: skip
"""Classes that run on matrix units where there are some; 16-bit numbers are faster there."""

PER_ELEMENT = frozenset({OperatorClass.ELEMENTWISE, OperatorClass.TRANSCENDENTAL})
"""Classes that compute every element of their output by itself."""

MOVING = frozenset(
    {OperatorClass.TRANSPOSE, OperatorClass.BLOCK_TRANSPOSE, OperatorClass.COPY,
     OperatorClass.GATHER}
)  # fmt: skip
"""Classes that only move data."""


def operator_class(node: ir.Node, sizes: Sizes | None = None) -> OperatorClass | None:
    """The class of a node; None for an operator of an unknown domain, or an unknown shape.

    Convolutions, matrix products and transposes are told apart by their shapes; every standard
    operator that is not named counts as elementwise.
    """
    if is_view(node):
        return OperatorClass.VIEW
    operator = operator_of(node)
    kind = None if operator is None else operator.kind
    if kind is None:
        return OperatorClass.ELEMENTWISE if node.domain in STANDARD else None
    if isinstance(kind, OperatorClass):
        return kind
    return kind(Call(node, (sizes or Sizes()).fact))
