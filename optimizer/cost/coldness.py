"""How cold the near caches are when a node begins.

What a launch reads, such as its code, the runtime's tables and constants of a few bytes, lies near
unless other nodes swept it away. Coldness rises with the bytes that pass and falls from node to
node, as what launches need comes back. Nodes count in the order in which ONNX Runtime runs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp

import onnx_ir as ir

from optimizer.memory.runtime.order import runtime_order
from optimizer.model.graph import bodies, node_id, walk_nodes

_SWEEP = 6
"""So many times what the near level holds has to pass until nothing is left of it."""

_KEPT = exp(-1 / 30)
"""So much of the coldness is left after a node that moves nothing."""


def coldness(graph: ir.Graph, moved: Mapping[str, int], near_bytes: int) -> dict[str, float]:
    """From 0, all lies near, to 1, nothing does, by node id.

    One run follows the other: the first node finds the caches as the last one left them.

    Args:
        graph: with ids; its bodies are included, constants are not.
        moved: bytes that a node reads and writes, by id; those of others are unknown and count 0.
        near_bytes: what the near level holds.
    """
    sweep = max(1, _SWEEP * near_bytes)
    found: dict[str, float] = {}
    whole = sum(moved.get(node_id(node), 0) for node in walk_nodes(graph))
    _follow(graph, moved, sweep, min(1.0, whole / sweep), found)
    return found


def _follow(
    graph: ir.Graph, moved: Mapping[str, int], sweep: int, cold: float, found: dict[str, float]
) -> None:
    nodes = {node_id(node): node for node in graph}
    for identity in runtime_order(graph):
        found[identity] = cold
        for body in bodies(nodes[identity]):
            _follow(body, moved, sweep, cold, found)
        cold = min(1.0, _KEPT * cold + moved.get(identity, 0) / sweep)
