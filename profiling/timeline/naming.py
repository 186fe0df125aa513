"""Unique names for the nodes of a file, so that a profile can be read back onto them."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.model.graph import walk_nodes


def name_uniquely(model: ir.Model) -> bool:
    """Name the unnamed and the repeated nodes, in document order.

    Returns:
        Whether a name was changed.
    """
    nodes = list(walk_nodes(model.graph))
    taken = {node.name for node in nodes if node.name}
    seen: set[str] = set()
    changed = False
    for index, node in enumerate(nodes):
        if not node.name or node.name in seen:
            node.name = _free(f"{node.name or node.op_type}#{index}", taken)
            changed = True
        seen.add(node.name)
    return changed


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "#"
    taken.add(name)
    return name
