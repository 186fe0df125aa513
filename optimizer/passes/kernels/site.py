"""One block in a graph, to be written another way."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.constants import constant_of
from optimizer.passes.kernels.block import Block, blocks_of
from optimizer.registry import Pass, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    NewOutput,
    Operand,
    Outcome,
    Replacement,
)

MICROSOFT = "com.microsoft"
Floats = NDArray[np.float32]
_SINCE = {"ConvInteger": 10, "DynamicQuantizeLinear": 11, "Gemm": 7, "Reshape": 5, "Slice": 10}


class NotHere(Exception):
    """A block cannot be written this way; the text says why."""


@dataclass(frozen=True, slots=True)
class Site:
    """A block, and what new nodes for it are made with.

    The same code serves the block alone, whose sizes are all known, and the block in its model,
    where sizes may be free: a size that is not in the file must not get into it.
    """

    block: Block
    opset: int
    made: list[NewNode]

    def node(self, operator: str) -> ir.Node | None:
        """The block's first node of this type."""
        return next((node for node in self.block.nodes if node.op_type == operator), None)

    def new(
        self, operator: str, *inputs: Operand | None, domain: str = "", **attributes: Any
    ) -> NewOutput:
        """The result of a new operator.

        Raises:
            NotHere: the model's operator set does not have it.
        """
        return self.news(operator, *inputs, domain=domain, **attributes)[0]

    def news(
        self,
        operator: str,
        *inputs: Operand | None,
        count: int = 1,
        domain: str = "",
        **attributes: Any,
    ) -> tuple[NewOutput, ...]:
        """The results of a new operator that has several."""
        self.needs(_SINCE.get(operator, 1), operator)
        made = NewNode(operator, inputs, attributes, domain, outputs=count)
        self.made.append(made)
        return tuple(made.output(index) for index in range(count))

    def needs(self, opset: int, operator: str) -> None:
        """Guard: an operator as it is since an operator set.

        Raises:
            NotHere: the model's is older.
        """
        if self.opset < opset:
            raise NotHere(f"{operator} needs operator set {opset}")

    def weight(self, array: NDArray[Any]) -> NewInitializer:
        """A new constant."""
        return NewInitializer(
            ir.Tensor(np.ascontiguousarray(array).reshape(array.shape)),
            f"{self.block.nodes[0].name or self.block.kind}_weight",
        )

    def optional(self, array: NDArray[Any] | None) -> tuple[NewInitializer, ...]:
        """A new constant, if there is one."""
        return () if array is None else (self.weight(array),)

    def integers(self, *numbers: int) -> NewInitializer:
        """A new list of sizes."""
        return self.weight(np.array(numbers, np.int64))

    def put(self, nodes: Sequence[ir.Node], new: Operand, why: str) -> Replacement:
        """The new operators take the place of `nodes`, `new` that of what the last one makes."""
        return Replacement(nodes, {nodes[-1].outputs[0]: new}, why, tuple(self.made))


Of = TypeVar("Of", bound=Pass)


def rewrites(
    *roots: str, name: str, kinds: Collection[str] = (), at: int = 0, reach: int = 1
) -> Callable[[Callable[[Of, Site], Replacement]], Callable[[Of, ir.Node, Context], Outcome]]:
    """Mark a method that writes a block anew as a rule, which is asked at one node of the block.

    Args:
        roots: operators of that node.
        name: of the rule.
        kinds: of blocks; the roots where they give the blocks their names.
        at: the node's number in the block.
        reach: how many nodes upstream of it the block begins.
    """

    def mark(
        write: Callable[[Of, Site], Replacement],
    ) -> Callable[[Of, ir.Node, Context], Outcome]:
        @rule(*roots, name=name, reach=reach)
        @functools.wraps(write)
        def match(self: Of, node: ir.Node, context: Context) -> Outcome:
            block = _block_of(node, context)
            if block is None or block.kind not in (kinds or roots):
                return None
            if block.nodes[at % len(block.nodes)] is not node:
                return None
            try:
                return write(self, Site(block, context.opset(), []))
            except NotHere as why:
                return Declined(str(why))

        return match

    return mark


def _block_of(node: ir.Node, context: Context) -> Block | None:
    """The block a node of the main graph belongs to; found anew in each round."""
    if not isinstance(node.graph, ir.Graph):
        return None
    known = context.memory.get("blocks")
    if known is None:
        known = {node: block for block in blocks_of(node.graph) for node in block.nodes}
        context.memory["blocks"] = known
    block = cast("dict[ir.Node, Block]", known).get(node)
    return block if block and all(one.graph is node.graph for one in block.nodes) else None


def array_of(value: ir.Value | None) -> NDArray[Any]:
    """A constant's elements.

    Raises:
        NotHere: it is computed.
    """
    tensor = constant_of(value)
    if tensor is None:
        raise NotHere("its weights are computed, not constant")
    return tensor.numpy()


def floats_of(value: ir.Value | None) -> Floats:
    """A float32 constant's elements.

    Raises:
        NotHere: it is computed, or of another type.
    """
    array = array_of(value)
    if array.dtype != np.float32:
        raise NotHere(f"its weights are {array.dtype}, not float32")
    return array


def dims_of(value: ir.Value | None) -> tuple[int | None, ...]:
    """Sizes of a value, None for those that the file leaves free.

    Raises:
        NotHere: not even the rank is known, or it has no elements.
    """
    if value is None or value.shape is None:
        raise NotHere("the rank of its input is not known")
    if 0 in value.shape:
        raise NotHere("its input has no elements")
    return tuple(dim if isinstance(dim, int) else None for dim in value.shape)


def only_one_free(*dims: int | None) -> tuple[int, ...]:
    """Sizes for a Reshape: the one that is free becomes -1.

    Raises:
        NotHere: more than one is free.
    """
    if sum(dim is None for dim in dims) > 1:
        raise NotHere("more than one of its sizes is free in the file")
    return tuple(-1 if dim is None else dim for dim in dims)


def attributes_of(node: ir.Node) -> Mapping[str, Any]:
    """A node's attributes by name, as plain values."""
    return {name: attribute.value for name, attribute in node.attributes.items()}
