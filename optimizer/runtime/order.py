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

from optimizer.constants import is_constant_node
from optimizer.runtime.graph import RuntimeNode, read_by_bodies, runtime_nodes

ExecutionOrder = Literal["default", "priority"]
_FIRST = frozenset({"Shape", "Size"})


def runtime_order(graph: ir.Graph, order: ExecutionOrder = "default") -> tuple[str, ...]:
    """Ids of all nodes but constants, as ONNX Runtime runs them with its own rewrites off.

    What it computes from constants alone it runs like everything else. A cast that it joins with
    another is named before the first node that reads it, which therefore comes after what that cast
    read, although it may run earlier. Where the runtime replaces a node by several, the order of
    those is not known here.

    Args:
        graph: in topological order, as every valid file is.
        order: the session's `execution_order`.
    """
    running = in_order(runtime_nodes(graph), order)
    nodes = [node for node in graph if not is_constant_node(node)]
    at = {one.id: float(step) for step, one in enumerate(running)}
    if len(at) == len(nodes):
        return tuple(at)
    plain = [RuntimeNode(node, list(node.inputs), read_by_bodies(node)) for node in nodes]
    first: dict[ir.Value, float] = {}
    for one in reversed(plain):
        steps = [first[value] for value in one.outputs if value in first]
        step = at.setdefault(one.id, min(steps, default=len(nodes)) - 0.5)
        for value in one.reads():
            first[value] = min(step, first.get(value, step))
    ranks = [(at[one.id], index) for index, one in enumerate(plain)]
    return tuple(plain[index].id for index in when_ready(ranks, _sources(plain)))


def in_order(
    nodes: Sequence[RuntimeNode], order: ExecutionOrder = "default"
) -> tuple[RuntimeNode, ...]:
    """The same for nodes in the runtime's numbering."""
    sources = _sources(nodes)
    if order == "default":
        return tuple(nodes[index] for index in _by_depth(sources))
    ranks = [(one.node.op_type not in _FIRST, index) for index, one in enumerate(nodes)]
    return tuple(nodes[index] for index in when_ready(ranks, sources))


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


def when_ready(ranks: Sequence[tuple[float, int]], sources: Sequence[Sequence[int]]) -> list[int]:
    """Of the nodes whose sources have run always the one with the lowest rank.

    Args:
        ranks: of each node, and its position.
        sources: for each node the positions of those that run before it.
    """
    readers: list[list[int]] = [[] for _ in ranks]
    missing = [len(some) for some in sources]
    for index, some in enumerate(sources):
        for source in some:
            readers[source].append(index)
    ready = [ranks[index] for index, count in enumerate(missing) if not count]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, index = heapq.heappop(ready)
        order.append(index)
        for reader in readers[index]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, ranks[reader])
    return order
