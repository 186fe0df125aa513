"""Floating-point operations of each operator, from its shapes.

A multiply-accumulate counts 2 and every other elementary operation 1, whatever it costs a machine
(a fused operator counts what its parts count, so that fusing changes traffic and not arithmetic).
Moving data counts 0. Formulas name the shapes they use; `out` is the number of output elements.
"""

from __future__ import annotations

from collections.abc import Mapping

from optimizer.cost.formulas import attention, elements, products
from optimizer.cost.formulas.elements import per_element
from optimizer.cost.formulas.operation import Formula, Operation

__all__ = ["FORMULAS", "Operation", "per_element"]

FORMULAS: Mapping[tuple[str, str], Formula] = (
    elements.FORMULAS | products.FORMULAS | attention.FORMULAS
)
"""By the domain and the name of the operator."""
