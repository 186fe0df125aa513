"""Order of nodes: finding a cycle in a list that is not in topological order."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from onnx import NodeProto


def dependencies(
    nodes: Sequence[NodeProto], defined: Mapping[str, int], used_inside: Mapping[int, set[str]]
) -> list[set[int]]:
    """For each node, by position, the positions it depends on.

    Args:
        nodes: the nodes of one graph.
        defined: the position of the node that defines each name; below 0 for inputs.
        used_inside: names that the bodies of a node use, by the node's position.
    """
    return [
        {
            position
            for name in (*node.input, *used_inside.get(index, ()))
            if (position := defined.get(name, -1)) >= 0
        }
        for index, node in enumerate(nodes)
    ]


def find_cycle(predecessors: Sequence[set[int]]) -> list[int]:
    """Nodes that depend on each other in a circle, in order of dependence; empty if there are none.

    Args:
        predecessors: for each node, by position, the positions it depends on.
    """
    waiting = [len(before) for before in predecessors]
    successors: list[list[int]] = [[] for _ in predecessors]
    for position, before in enumerate(predecessors):
        for earlier in before:
            successors[earlier].append(position)
    ready = deque(position for position, count in enumerate(waiting) if not count)
    while ready:
        for later in successors[ready.popleft()]:
            waiting[later] -= 1
            if not waiting[later]:
                ready.append(later)
    stuck = next((position for position, count in enumerate(waiting) if count), None)
    return [] if stuck is None else _trace(stuck, predecessors, waiting)


def _trace(start: int, predecessors: Sequence[set[int]], waiting: Sequence[int]) -> list[int]:
    # Every stuck node has a stuck predecessor, so walking back must come round.
    path: list[int] = []
    seen: dict[int, int] = {}
    position = start
    while position not in seen:
        seen[position] = len(path)
        path.append(position)
        position = min(earlier for earlier in predecessors[position] if waiting[earlier])
    return path[seen[position] :][::-1]
