"""Operators that compute element by element, as terms."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from tests.optimizer.proofs.smt import z3
from tests.optimizer.proofs.tensors import (
    Symbolic,
    Tensor,
    attributes_of,
    lifted,
    mapped,
    present,
)
from tests.optimizer.proofs.theories import LOGIC, Operation, Theory, integer_operations, is_float

_FOLDED = {"Sum": "Add", "Max": "Max", "Min": "Min"}
"""Operators of any number of operands, and what they do with two."""

_ROOTS_AND_INVERSES = {0.5: ["Sqrt"], -1: ["Reciprocal"], -0.5: ["Sqrt", "Reciprocal"]}
"""Exponents, and the operators that take their power one after another."""


def elementwise(
    node: onnx.NodeProto, inputs: Sequence[Tensor | None], theory: Theory
) -> Symbolic | None:
    """One term for each element, of one element of each operand."""
    operands = [lifted(one, theory) for one in inputs if one is not None]
    kinds = [one.kind for one in operands]
    made = _special(node, inputs, operands, theory)
    if made is not None:
        return made
    op, kind = node.op_type, kinds[0]
    if op in _FOLDED:
        return _combined(operands, _operation(_FOLDED[op], kind, theory))
    operation = _operation(op, kind, theory)
    if operation is not None:
        compares = op in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "IsNaN")
        return mapped(operation, operands, TensorProto.BOOL if compares else kind)
    if op == "Mean" and len(operands) == 1:
        return operands[0]
    return None


def _combined(operands: Sequence[Symbolic], step: Operation | None) -> Symbolic | None:
    """Any number of operands, two at a time."""
    if step is None:
        return None
    return reduce(lambda a, b: mapped(step, [a, b], a.kind), operands)


def _special(
    node: onnx.NodeProto,
    inputs: Sequence[Tensor | None],
    operands: Sequence[Symbolic],
    theory: Theory,
) -> Symbolic | None:
    """Operators whose types differ, or that take numbers from attributes."""
    op, attributes = node.op_type, attributes_of(node)
    if op == "Where":
        return mapped(z3.If, operands, operands[1].kind)
    if op in ("Cast", "CastLike"):
        to = attributes["to"] if op == "Cast" else operands[1].kind
        kind = operands[0].kind
        return mapped(partial(theory.cast, kind=kind, to=to), operands[:1], to)
    if op == "Clip":
        return _clipped(inputs, attributes, theory)
    if op == "Pow" and isinstance(inputs[1], np.ndarray) and inputs[1].size == 1:
        return _power(operands[0], inputs[1], theory)
    return None


def _clipped(
    inputs: Sequence[Tensor | None], attributes: Mapping[str, Any], theory: Theory
) -> Symbolic:
    """A number beyond a bound is that bound; one that equals it, zeros included, stays."""
    result = lifted(present(inputs[0]), theory)
    for place, name, op in ((1, "min", "Less"), (2, "max", "Greater")):
        bound = inputs[place] if len(inputs) > place else None
        if name in attributes:
            bound = np.array(attributes[name], np.float32)
        beyond = _operation(op, result.kind, theory)
        if bound is not None and beyond is not None:
            limit = lifted(bound, theory)
            outside = mapped(beyond, [result, limit], TensorProto.BOOL)
            result = mapped(z3.If, [outside, limit, result], result.kind)
    return result


def _power(base: Symbolic, exponent: np.ndarray, theory: Theory) -> Symbolic | None:
    number = float(exponent.ravel()[0])
    if number == 1 and exponent.ndim == 0:
        return base
    if theory.name != "reals" or not is_float(base.kind):
        return None
    if number in (2, 3):
        square = mapped(operator.mul, [base, base], base.kind)
        return square if number == 2 else mapped(operator.mul, [square, base], base.kind)
    if number in _ROOTS_AND_INVERSES:
        for op in _ROOTS_AND_INVERSES[number]:
            base = mapped(theory.floats[op], [base], base.kind)
        return base
    return None


def _operation(op: str, kind: int, theory: Theory) -> Operation | None:
    if is_float(kind):
        return theory.floats.get(op)
    if op == "Equal":
        return operator.eq
    return LOGIC.get(op) if kind == TensorProto.BOOL else integer_operations(kind).get(op)
