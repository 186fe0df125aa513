"""What kernels and conversions take on a target, by its data sheet."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.cost.classes import OperatorClass
from optimizer.cost.predict import NodePrediction, predict
from optimizer.cost.sizes import Sizes
from optimizer.layout.formats import BLOCKS, FIRST, LAST
from optimizer.layout.forms import Move
from optimizer.layout.targets import Target


class Prices:
    """Predicted times of nodes and conversions; nodes of which nothing is known cost nothing."""

    def __init__(self, target: Target, sizes: Sizes, images: Mapping[ir.Value, str]) -> None:
        """For one graph on one target."""
        self._target, self._sizes, self._images = target, sizes, images
        self._predicted: dict[ir.Node, NodePrediction | None] = {}

    def written_us(self, node: ir.Node) -> float:
        """A node as it is written."""
        found = self._of(node)
        return found.parts.total_us if found else 0.0

    def kernel_us(self, place: Move) -> float:
        """Predicted in another layout: faster, and with channels that were filled up."""
        found = self._of(place.node)
        if found is None:
            return 0.0
        parts = found.parts
        if not place.block:
            return parts.total_us
        read = place.blocks_of(next(v for v in place.node.inputs if place.is_image(v))).more
        made = place.blocks_of(place.node.outputs[0]).more
        dense = found.kind in (OperatorClass.DENSE_CONV, OperatorClass.POINTWISE_CONV)
        compute = parts.compute_us * made * (read if dense else 1.0)
        compute /= self._target.faster.get(found.kind, 1.0)
        return parts.emit_us + max(compute, parts.read_us * read + parts.write_us * made)

    def inner_us(self, node: ir.Node) -> float:
        """What a kernel takes to bring images to its own layout and back."""
        ends = (value for value in (node.inputs[0], node.outputs[0]) if value is not None)
        return sum(self.conversion(value, FIRST, LAST)[1] for value in ends)

    def conversion(self, value: ir.Value, made: str, wanted: str) -> tuple[int, float]:
        """Bytes read and written, and microseconds."""
        plain = self._sizes.size_bytes(value) or 0
        if {made, wanted} <= {FIRST, LAST} and self._one_moves_nothing(value):
            return 0, 0.0
        filled = plain
        if BLOCKS in (made, wanted) and value.dtype is not None:
            size = self._target.blocks.get(value.dtype.bitwidth, 1)
            shape = self._sizes.shape(value) or (1, 1)
            channels = shape[1 if self._images.get(value) != LAST else -1]
            filled = plain * (-(-channels // size) * size) // max(1, channels)
        moved = plain + filled
        device = self._target.device
        pace = device.strided[OperatorClass.TRANSPOSE].at(moved)
        us = device.launch("Transpose") + moved / pace * 1e6
        if BLOCKS in (made, wanted) and LAST in (made, wanted):
            more, longer = self.conversion(value, FIRST, LAST)
            return moved + more, us + longer
        return moved, us

    def _of(self, node: ir.Node) -> NodePrediction | None:
        if node not in self._predicted:
            self._predicted[node] = predict(node, self._sizes, self._target.device)
        return self._predicted[node]

    def _one_moves_nothing(self, value: ir.Value) -> bool:
        shape = self._sizes.shape(value) or ()
        layout = self._images.get(value, FIRST)
        channels = shape[1 if layout == FIRST else -1]
        return channels == 1 or len(shape) == sum(size == 1 for size in shape) + 1
