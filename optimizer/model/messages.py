"""Tensors that lie in a parsed file, decoded once: rules ask for small ones again and again."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.model.graph import walk_graphs

KEPT_BYTES = 1024
"""Up to these the array is kept; a larger one would be a second copy of the message's bytes."""


class MessageTensor(ir.serde.TensorProtoTensor):
    """A tensor of a message that knows its type and shape, and the elements of a small one."""

    __slots__ = ("_array", "_dtype", "_shape", "_size")

    def __init__(self, proto: onnx.TensorProto) -> None:
        super().__init__(proto)
        self._dtype, self._shape = super().dtype, super().shape
        self._size = super().size
        self._array: np.ndarray | None = None

    @property
    def dtype(self) -> ir.DataType:
        """The element type."""
        return self._dtype

    @property
    def shape(self) -> ir.Shape:
        """The sizes, all of them numbers."""
        return self._shape

    @property
    def size(self) -> int:
        """How many elements it has."""
        return self._size

    def numpy(self) -> np.ndarray:
        """The elements."""
        if self._array is not None:
            return self._array
        array = super().numpy()
        if array.nbytes <= KEPT_BYTES:
            self._array = array
        return array


def decode_once(model: ir.Model) -> None:
    """Have the initializers and Constants of a model just parsed remember what they are."""
    for graph in walk_graphs(model.graph):
        for value in graph.initializers.values():
            if isinstance(value.const_value, ir.serde.TensorProtoTensor):
                value.const_value = MessageTensor(value.const_value.raw)
        for node in graph:
            held = node.attributes.get("value") if is_constant_node(node) else None
            if held is not None and isinstance(held.value, ir.serde.TensorProtoTensor):
                made = ir.AttrTensor("value", MessageTensor(held.value.raw), held.doc_string)
                node.attributes["value"] = made
