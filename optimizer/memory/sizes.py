"""Bytes of values where they are certain, and the reason where they are not."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.cost.sizes import Sizes
from optimizer.dimension import TooComplex
from optimizer.dimension_text import names_in, parse
from optimizer.errors import quoted
from optimizer.model.graph import node_id

_SEQUENCES = frozenset(
    {"Optional", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert",
     "SequenceMap", "SplitToSequence"}
)  # fmt: skip


class KnownSizes(Sizes):
    """Sizes without any assumption: a free dimension without a given size stays unknown.

    Attributes:
        free: names of the free dimensions of the main graph's inputs.
    """

    def __init__(self, graph: ir.Graph, given: Mapping[str, int] | None = None) -> None:
        super().__init__(given)
        self.free = frozenset(
            name
            for value in graph.inputs
            for dim in value.shape or ()
            if isinstance(dim, ir.SymbolicDim) and dim.value
            for name in names_in(dim.value)
        )

    def size_bytes(self, value: ir.Value) -> int | None:
        """The bytes of a tensor; None where they are not known."""
        maker = value.producer()
        if maker is not None and (maker.domain, maker.op_type) == ("", "SplitToSequence"):
            whole = maker.inputs[0]  # the parts of a tensor take what it takes
            return None if whole is None else self.size_bytes(whole)
        return super().size_bytes(value)

    def dims(self, value: ir.Value) -> tuple[int, ...]:
        """The shape in numbers, -1 for what is unknown; empty where the rank is unknown."""
        dims = (dim if isinstance(dim, int) else self._size(dim.value) for dim in value.shape or ())
        return tuple(-1 if size is None else size for size in dims)

    def why(self, value: ir.Value) -> str:
        """Why the bytes of a value are unknown, for people."""
        kind, maker = value.type, value.producer()
        if isinstance(kind, ir.SequenceType | ir.OptionalType) or _makes_sequence(maker):
            return "a sequence or an optional has no fixed size"
        if isinstance(kind, ir.TensorType) and kind.dtype == ir.DataType.STRING:
            return "text has no fixed size"
        if not isinstance(kind, ir.TensorType) or kind.dtype == ir.DataType.UNDEFINED:
            return f"its element type is unknown{_made_by(value)}"
        if value.shape is None:
            return f"its shape is unknown{_made_by(value)}"
        texts = [dim.value for dim in value.shape if not isinstance(dim, int)]
        names = dict.fromkeys(name for text in texts if text for name in names_in(text))
        missing = [name for name in names if name not in self._given]
        bindable = [quoted(name) for name in missing if name in self.free]
        if bindable:
            return f"it depends on the free dimension {', '.join(bindable)}"
        if missing:
            return f"the size {quoted(missing[0])} follows from the data{_made_by(value)}"
        if value.is_graph_input():
            return "a dimension of the input has neither a size nor a name"
        return f"a size is unknown before the run{_made_by(value)}"

    def _size(self, name: str | None) -> int | None:
        return super()._size(name) if name else None

    def _assume(self, name: str) -> int | None:
        if name in self._given:
            return self._given[name]
        expression = parse(name)
        try:
            size = None if expression is None else expression.evaluate(self._given)
        except TooComplex:
            return None
        return size if isinstance(size, int) else None


def _makes_sequence(node: ir.Node | None) -> bool:
    return node is not None and node.op_type in _SEQUENCES and not node.domain


def _made_by(value: ir.Value) -> str:
    node = value.producer()
    return "" if node is None else f" (from {node.op_type} {quoted(node.name or node_id(node))})"
