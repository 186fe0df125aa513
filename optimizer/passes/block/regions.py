"""The nodes between a node and those above it that a pass would undo it with."""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

LARGEST = 64
"""Nodes that a region may have: more are rare, and every question about them costs time."""


def region_above(
    root: ir.Node, movable: Callable[[ir.Node], bool], *, largest: int = LARGEST
) -> list[ir.Node]:
    """Nodes upstream of the first input of a node that nothing else needs.

    Args:
        root: the node.
        movable: whether a node may belong to the region.
        largest: how many nodes are looked at.

    Returns:
        Nodes of the same graph, consumers first; all their outputs are read by each other and by
        the root alone, and are no outputs of the graph.
    """
    found: dict[ir.Node, None] = {}
    pending = [root.inputs[0]]
    while pending and len(found) < largest:
        value = pending.pop()
        node = None if value is None else value.producer()
        if node is None or node in found or node.graph is not root.graph or not movable(node):
            continue
        found[node] = None
        pending += node.inputs
    while escaping := [node for node in found if _escapes(node, root, found)]:
        for node in escaping:
            del found[node]
    return _reachable(root, found)


def _escapes(node: ir.Node, root: ir.Node, region: dict[ir.Node, None]) -> bool:
    return any(
        value.is_graph_output()
        or any(use.node not in region and not _by(root, use.node, use.idx) for use in value.uses())
        for value in node.outputs
    )


def _by(root: ir.Node, user: ir.Node, index: int) -> bool:
    return user is root and index == 0


def _reachable(root: ir.Node, region: dict[ir.Node, None]) -> list[ir.Node]:
    """What is still connected to the root, consumers first."""
    order: dict[ir.Node, None] = {}
    pending = [root.inputs[0]]
    while pending:
        value = pending.pop(0)
        node = None if value is None else value.producer()
        if node is not None and node in region and node not in order:
            order[node] = None
            pending += node.inputs
    return [*order]
