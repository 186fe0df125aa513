"""Operators that Passlens writes for regions of a graph: each is a function of its model.

The function's body (`optimizer.model.generated_functions`) runs anywhere; where a library has been
built from it, ONNX Runtime takes the library's kernel in its place.
"""

from __future__ import annotations

import re

from optimizer.operators import flops
from optimizer.operators.operator import Operator, OperatorClass

GENERATED = "passlens.generated"
"""Their domain."""

OPERATOR = Operator(
    domain=GENERATED, category="elem", flops=flops.per_element, kind=OperatorClass.ELEMENTWISE
)
"""What is known of every one of them."""

_HASH_DIGITS = 16
_SCHEDULED = re.compile(r"(.+_[0-9a-f]{16})_[0-9a-f]{16}")
_TOLD = (("Softmax", "softmax"), ("Normalization", "norm"))
"""Endings of operators that say what a region is."""


def unscheduled(name: str) -> str:
    """Name of a kernel in its default order; any other name but one with a schedule stays."""
    found = _SCHEDULED.fullmatch(name)
    return found[1] if found else name


def region_title(name: str) -> str:
    """What a generated kernel computes, for people: `softmax of 5 nodes: Mul, Add, Softmax, …`.

    Args:
        name: of its function, which tells some of its operators, their number, and a hash; any
            other name is given back as it is.
    """
    told, _, digits = unscheduled(name).rpartition("_")
    if len(digits) != _HASH_DIGITS or not told:
        return name
    operators = told.split("_")
    count = int(operators.pop()) if operators[-1].isdecimal() else len(operators)
    if not operators:
        return name
    kinds = (kind for ending, kind in _TOLD for one in operators if one.endswith(ending))
    listed = ", ".join([*operators, *(["…"] if count > len(operators) else [])])
    if count == 1:
        return f"kernel of {listed}"
    return f"{next(kinds, 'kernel')} of {count} nodes: {listed}"
