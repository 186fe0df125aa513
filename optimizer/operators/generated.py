"""Operators that Passlens writes for regions of a graph: each is a function of its model.

The function's body (`optimizer.model.generated_functions`) runs anywhere; where a library has been
built from it, ONNX Runtime takes the library's kernel in its place.
"""

from __future__ import annotations

from optimizer.operators import flops
from optimizer.operators.operator import Operator, OperatorClass

GENERATED = "passlens.generated"
"""Their domain."""

OPERATOR = Operator(
    domain=GENERATED, category="elem", flops=flops.per_element, kind=OperatorClass.ELEMENTWISE
)
"""What is known of every one of them."""
