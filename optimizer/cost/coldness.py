"""What a node finds in the near caches when it begins.

A launch reads the runtime's tables, the code of its operator, and its operands, a few bytes each.
They lie near unless what ran since they were last read swept them away. Nodes count in the order in
which ONNX Runtime runs them, and one run follows the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import exp

import onnx_ir as ir

from optimizer.cost.node import Cost
from optimizer.memory.runtime.order import runtime_order
from optimizer.model.graph import bodies, node_id

_SWEEP = 6
"""So many times what the near level holds has to pass until nothing is left that launches share."""

_BACK = ((2 / 3, exp(-1 / 4)), (1 / 3, exp(-1 / 100)))
"""What launches share comes back node by node: shares, and what of each is left after a node."""

_AGE = 12
"""What was read before so many times the near level passed is gone to 63 %."""

_AGE_NODES = 300
"""The same for nodes: each brings tables of its own."""


@dataclass(frozen=True, slots=True)
class Coldness:
    """Each from 0, all lies near, to 1, nothing does.

    Attributes:
        shared: what all launches need.
        operator: what the launches of its operator need.
        operands: its inputs, on average.
        instructions: those of its operator, in the innermost cache.
    """

    shared: float = 0.0
    operator: float = 0.0
    operands: float = 0.0
    instructions: float = 0.0


WARM = Coldness()
_NOTHING = Cost()


def coldness(graph: ir.Graph, costs: Mapping[str, Cost], near_bytes: int) -> dict[str, Coldness]:
    """How cold the caches are for each node, by id.

    Args:
        graph: with ids; its bodies are included, constants are not.
        costs: by node id; nodes without one count as if they moved nothing.
        near_bytes: what the near level holds.
    """
    caches = _Caches(max(1, near_bytes))
    nodes = list(_in_order(graph))
    found: dict[str, Coldness] = {}
    for _ in range(2):  # the second run finds what the first one left
        for node in nodes:
            found[node_id(node)] = caches.run(node, costs.get(node_id(node), _NOTHING).bytes_moved)
    return found


def operands_of(node: ir.Node) -> list[ir.Value]:
    """The inputs that are there."""
    return [value for value in node.inputs if value is not None]


class _Caches:
    def __init__(self, near_bytes: int) -> None:
        self._near_bytes = near_bytes
        self._shared = [0.0 for _ in _BACK]
        self._age = 0.0
        self._count = 0
        self._ran: dict[str, int] = {}
        self._read: dict[str | ir.Value, float] = {}

    def run(self, node: ir.Node, moved_bytes: int) -> Coldness:
        """What a node finds; then it has run."""
        operands = operands_of(node)
        found = Coldness(
            sum(part * cold for (part, _), cold in zip(_BACK, self._shared, strict=True)),
            self._faded(node.op_type),
            sum(map(self._faded, operands)) / len(operands) if operands else 0.0,
            self._forgotten(node.op_type),
        )
        self._count += 1
        self._ran[node.op_type] = self._count
        for touched in (node.op_type, *operands, *node.outputs):
            self._read[touched] = self._age
        swept = moved_bytes / (_SWEEP * self._near_bytes)
        self._shared = [
            min(1.0, kept * cold + swept)
            for (_, kept), cold in zip(_BACK, self._shared, strict=True)
        ]
        self._age += moved_bytes / (_AGE * self._near_bytes) + 1 / _AGE_NODES
        return found

    def _faded(self, key: str | ir.Value) -> float:
        read = self._read.get(key)
        return 1.0 if read is None else 1 - exp(read - self._age)

    def _forgotten(self, operator: str) -> float:
        """Each node of another operator leaves a third of the instructions."""
        ran = self._ran.get(operator)
        return 1.0 if ran is None else 1 - exp(ran - self._count)


def _in_order(graph: ir.Graph) -> Iterator[ir.Node]:
    nodes = {node_id(node): node for node in graph}
    for identity in runtime_order(graph):
        node = nodes[identity]
        yield node
        for body in bodies(node):
            yield from _in_order(body)
