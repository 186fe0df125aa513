"""Dimensions as a graph writes them, and as expressions."""

from __future__ import annotations

from math import prod

import onnx_ir as ir

from optimizer.dimension import Dimension, Expression
from optimizer.dimension_text import parse
from optimizer.operators.call import FRESH, MAX_CONTENT, Dim, Shape, in_numbers

_LONGEST_TEXT = 200
_LARGEST = 2**63


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


def is_whole(shape: Shape | None) -> bool:
    """Whether all dimensions are known; `None in shape` would ask each expression whether it is."""
    return shape is not None and not [dim for dim in shape if dim is None]


def is_representable(dim: Dimension) -> bool:
    """Whether a number is a size that a graph can hold; of an expression nothing is known."""
    return not isinstance(dim, int) or 0 <= dim < _LARGEST


def is_large(shape: Shape | None) -> bool:
    """Whether a tensor surely has more elements than are followed."""
    sizes = in_numbers(shape)
    return sizes is not None and prod(sizes) > MAX_CONTENT
