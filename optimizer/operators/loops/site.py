"""One node being written as loops, as the rules see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import ReductionKind
from optimizer.loops.building import At, Indices, LoopBuilder, LoopTensor, NotGenerated
from optimizer.loops.scalar import Scalar
from optimizer.operators.call import Call


class NodeLoops:
    """A node with the tensors that it reads.

    Attributes:
        call: the node, and what is known about its values.
    """

    __slots__ = ("_builder", "_tensor", "call")

    def __init__(
        self, call: Call, builder: LoopBuilder, tensor: Callable[[ir.Value], LoopTensor]
    ) -> None:
        """Loops of `call` go to `builder`; `tensor` finds what a value is."""
        self.call = call
        self._builder = builder
        self._tensor = tensor

    @property
    def node(self) -> ir.Node:
        """The node itself."""
        return self.call.node

    def operand(self, place: int) -> LoopTensor:
        """An input.

        Raises:
            NotGenerated: it is left out, or nothing is known about it.
        """
        value = self.node.inputs[place] if place < len(self.node.inputs) else None
        if value is None:
            raise NotGenerated(f"{self.node.op_type} lacks input {place}")
        return self._tensor(value)

    def optional(self, place: int) -> LoopTensor | None:
        """An input that may be left out."""
        return self.operand(place) if self.call.has(place) else None

    def operands(self) -> list[LoopTensor]:
        """All inputs that are given."""
        return [self.operand(place) for place in self.call.inputs if self.call.has(place)]

    def shape(self, place: int = 0) -> tuple[Dimension, ...]:
        """The shape of an output.

        Raises:
            NotGenerated: its rank is not known.
        """
        shape = self.call.known(self.node.outputs[place]).shape
        if shape is None:
            raise NotGenerated(f"the shape that {self.node.op_type} gives is not known")
        return shape

    def dtype(self, place: int = 0) -> ir.DataType:
        """The element type of an output.

        Raises:
            NotGenerated: it is not known.
        """
        dtype = self.call.known(self.node.outputs[place]).dtype
        if dtype is None:
            raise NotGenerated(f"the element type that {self.node.op_type} gives is not known")
        return dtype

    def func(
        self,
        shape: Sequence[Dimension],
        body: At,
        *,
        dtype: ir.DataType | None = None,
        name: str = "",
    ) -> LoopTensor:
        """A tensor computed element by element; see `LoopBuilder.func`."""
        return self._builder.func(
            self._name(name), shape, body, dtype=dtype, origin=self.node.name or ""
        )

    def reduced(
        self,
        kind: ReductionKind,
        shape: Sequence[Dimension],
        along: Sequence[Dimension],
        *,
        body: Callable[[Indices, Indices], Scalar],
        name: str = "",
        ignores_nan: bool = False,
    ) -> LoopTensor:
        """A tensor whose elements combine many; see `LoopBuilder.reduced`."""
        return self._builder.reduced(
            self._name(name or kind), kind, shape=shape, along=along, body=body,
            origin=self.node.name or "", ignores_nan=ignores_nan,
        )  # fmt: skip

    def decline(self, reason: str) -> NotGenerated:
        """What a rule raises: the operator and what is wrong with this one."""
        return NotGenerated(f"{self.node.op_type} {reason}")

    def _name(self, part: str) -> str:
        return f"{self.node.op_type}_{part}" if part else self.node.op_type


LoopRule = Callable[[NodeLoops], Sequence[LoopTensor | None]]
"""The outputs of a node as tensors; None, or missing at the end, for those without loops.

Raises:
    NotGenerated: no loops are written for such a node.
"""
