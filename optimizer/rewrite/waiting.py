"""Nodes that have to wait for a replacement: they need what it gives, and stand before it."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.rewrite.edited_graph import EditedGraph
from optimizer.rules.replacement import NewOutput, Replacement


def waiting_nodes(edited: EditedGraph, root: ir.Node, proposal: Replacement) -> list[ir.Node]:
    """What stands before a root and needs a value that a new node gives, directly or not.

    Args:
        edited: the graph.
        root: of the proposal, which says that others may be put behind it.
        proposal: its matched nodes wait for nothing.

    Returns: nodes of the root's graph, in its order; one that needs a value in a body as a whole.
    """
    if not proposal.delays:
        return []
    found: dict[ir.Node, None] = {}
    matched = set(proposal.matched)
    pending = [old for old, new in proposal.values.items() if isinstance(new, NewOutput)]
    while pending:
        value = pending.pop()
        for use in value.uses():
            node = edited.around(use.node, root.graph)
            if node is None or node in matched or node in found:
                continue
            if edited.position(node) < edited.position(root):
                found[node] = None
                pending += node.outputs
    return sorted(found, key=edited.position)


def in_the_way(waiting: Mapping[ir.Node, object], proposal: Replacement) -> bool:
    """Whether a replacement, or a matched node, needs what would wait for it."""
    if not waiting:
        return False
    read = [value for node in proposal.matched for value in node.inputs]
    read += [
        value for new in proposal.nodes for value in new.reads() if isinstance(value, ir.Value)
    ]
    return any(value is not None and value.producer() in waiting for value in read)
