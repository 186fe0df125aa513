"""What each operator does to types, shapes and small integer values, one function an operator.

A rule answers only what is certain; None stands for unknown, dimension by dimension. Rules are
pure: they see a `Call` and return a type for each output. Source of all formulas: the operator
specifications of ONNX 1.23 (`docs/Operators.md`) and of ONNX Runtime's contrib operators.
"""

from __future__ import annotations

from optimizer.operators import (
    arithmetic,
    contents,
    elementwise,
    linear,
    movement,
    recurrent,
    reduction,
    selection,
)
from optimizer.operators.call import CONTENT_RULES, TYPE_RULES

__all__ = [
    "CONTENT_RULES",
    "TYPE_RULES",
    "arithmetic",
    "contents",
    "elementwise",
    "linear",
    "movement",
    "recurrent",
    "reduction",
    "selection",
]
