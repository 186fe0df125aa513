"""Between the graph's own dimensions and ours, and what is new about a value."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.dimension_text import parse
from optimizer.operators.call import Dim

FRESH = "?"
"""What the name of a symbol starts with that stands for a size nothing is known about."""

_LONGEST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Refinement:
    """New knowledge about one value, ready to be written into the graph.

    Attributes:
        value: the value it is about.
        dtype: its element type where the graph has none, else None.
        shape: its dimensions where they say more than the graph's, else None; each is a number,
            the text of an expression, or None for unknown.
    """

    value: ir.Value
    dtype: ir.DataType | None
    shape: tuple[int | str | None, ...] | None

    def apply(self) -> None:
        """Write the knowledge into the graph."""
        if self.dtype is not None:
            self.value.type = ir.TensorType(self.dtype)
        if self.shape is not None:
            self.value.shape = ir.Shape(self.shape)


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
