"""The category of an operator: it decides colour and glyph in the viewer."""

from __future__ import annotations

from optimizer.operators.catalogue import CATALOGUE
from optimizer.operators.operator import Category

__all__ = ["Category", "category"]

_BY_NAME: dict[str, Category] = {
    operator.name: operator.category
    for operator in reversed(tuple(CATALOGUE.values()))  # of one name, ONNX's own says more
    if operator.category != "unknown"
}


def category(op_type: str) -> Category:
    """The category of an operator; `unknown` for custom ones."""
    return _BY_NAME.get(op_type, "unknown")
