"""What becomes known of a value."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.frozen import frozen


@frozen()
class Refinement:
    """New knowledge about one value, ready to be written into the graph.

    Attributes:
        value: the value it is about.
        dtype: its element type where the graph has none, else None.
        shape: its dimensions where they say more than the graph's, else None; each is a number,
            the text of an expression, or None for unknown. Nothing of both where only elements
            have become known.
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
