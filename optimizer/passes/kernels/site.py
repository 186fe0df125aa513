"""One block in a graph, to be written another way."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

import onnx_ir as ir

from optimizer.passes.draft import Draft, NotHere
from optimizer.passes.kernels.block import Block, blocks_of
from optimizer.registry import Pass, rule
from optimizer.rules import Context, Declined, Operand, Outcome, Replacement


@dataclass(frozen=True, slots=True)
class Site(Draft):
    """A block, and what new nodes for it are made with.

    The same code serves the block alone, whose sizes are all known, and the block in its model,
    where sizes may be free: a size that is not in the file must not get into it.
    """

    block: Block = field(kw_only=True)

    def node(self, operator: str) -> ir.Node | None:
        """The block's first node of this type."""
        return next((node for node in self.block.nodes if node.op_type == operator), None)

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
                base = block.nodes[0].name or block.kind
                return write(self, Site(context.opset(), base, block=block))
            except NotHere as why:
                return Declined(str(why))

        return match

    return mark


def _block_of(node: ir.Node, context: Context) -> Block | None:
    """The block a node of the main graph belongs to; found anew in each round."""
    if not isinstance(node.graph, ir.Graph):
        return None
    known = context.analyses.get(blocks_of)
    if known is None:
        known = {node: block for block in blocks_of(node.graph) for node in block.nodes}
        context.analyses[blocks_of] = known
    block = cast("dict[ir.Node, Block]", known).get(node)
    return block if block and all(one.graph is node.graph for one in block.nodes) else None
