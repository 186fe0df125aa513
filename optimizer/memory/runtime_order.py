"""In which order ONNX Runtime runs the nodes of a graph, which is not the file's.

Its default is the post-order of a depth-first walk that starts at the nodes nobody reads from and
goes back along the edges: of several nodes the last one in the file is walked first. What a branch
needs is thus computed when the branch is, not when the file says so. By priority it takes, of the
nodes that are ready, Shape and Size first and then the first in the file.

Source: ONNX Runtime 1.31, GraphViewer's constructor, Graph::ReverseDFSFrom,
Graph::KahnsTopologicalSort and PriorityNodeCompare.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Literal

import onnx_ir as ir

from optimizer.memory.runtime_graph import RuntimeNode, runtime_nodes

ExecutionOrder = Literal["default", "priority"]
_FIRST = frozenset({"Shape", "Size"})


def runtime_order(graph: ir.Graph, order: ExecutionOrder = "default") -> tuple[str, ...]:
    """Ids of the nodes as ONNX Runtime runs them, none of its own rewrites applied.

    Nodes that it does not run are left out: constants, which it makes initializers, and casts that
    it joins. Where it replaces a node by several (an operator without a kernel of its own, float16
    without one), the order of those is not known here.

    Args:
        graph: in topological order, as every valid file is.
        order: the session's `execution_order`.
    """
    return tuple(one.id for one in in_order(runtime_nodes(graph), order))


def in_order(
    nodes: Sequence[RuntimeNode], order: ExecutionOrder = "default"
) -> tuple[RuntimeNode, ...]:
    """The same for nodes in the runtime's numbering."""
    sources = _sources(nodes)
    walked = _by_depth(sources) if order == "default" else _by_priority(nodes, sources)
    return tuple(nodes[index] for index in walked)


def _sources(nodes: Sequence[RuntimeNode]) -> list[list[int]]:
    """For each node the positions of the nodes it reads from, in order, each once."""
    position = {value: index for index, one in enumerate(nodes) for value in one.outputs}
    return [
        sorted({position[value] for value in one.reads() if value in position}) for one in nodes
    ]


def _by_depth(sources: Sequence[Sequence[int]]) -> list[int]:
    read = {source for some in sources for source in some}
    stack = [(index, False) for index in range(len(sources)) if index not in read]
    seen = [False] * len(sources)
    order: list[int] = []
    while stack:
        index, left = stack.pop()
        if left:
            order.append(index)
        elif not seen[index]:
            seen[index] = True
            stack.append((index, True))
            stack.extend((source, False) for source in sources[index] if not seen[source])
    return order


def _by_priority(nodes: Sequence[RuntimeNode], sources: Sequence[Sequence[int]]) -> list[int]:
    readers: list[list[int]] = [[] for _ in nodes]
    missing = [len(some) for some in sources]
    for index, some in enumerate(sources):
        for source in some:
            readers[source].append(index)
    keys = [(one.node.op_type not in _FIRST, index) for index, one in enumerate(nodes)]
    ready = [keys[index] for index, count in enumerate(missing) if not count]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, index = heapq.heappop(ready)
        order.append(index)
        for reader in readers[index]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, keys[reader])
    return order
