"""Dimensions as a graph writes them, and as expressions."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.dimension import Dimension, Expression
from optimizer.dimension_text import parse
from optimizer.operators.call import Dim

FRESH = "?"
"""What the name of a symbol starts with that stands for a size nothing is known about."""

_LONGEST_TEXT = 200


def interface_symbols(graph: ir.Graph) -> frozenset[str]:
    """Names in the dimensions of a graph's inputs."""
    found: set[str] = set()
    for value in graph.inputs:
        for dim in value.shape or ():
            expression = declared_dim(dim)
            if isinstance(expression, Expression):
                found |= expression.symbols()
    return frozenset(found)


def declared_dim(dim: int | ir.SymbolicDim) -> Dim:
    """A dimension of the graph as ours."""
    if isinstance(dim, int):
        return dim if dim >= 0 else None  # some exporters write -1 for unknown
    return parse(dim.value) if dim.value else None


def written_dim(dim: Dimension) -> int | str | None:
    """A dimension as the graph holds it; a fresh symbol means nothing outside this table."""
    if isinstance(dim, int):
        return dim
    if any(name.startswith(FRESH) for name in dim.symbols()):
        return None
    text = str(dim)
    return text if len(text) <= _LONGEST_TEXT else None
