"""ONNX Runtime's static plan: which value gets memory of its own, and which takes another's.

The plan is made once, when a session is created, from the order of nodes and the declared shapes.
Two shapes are the same if all sizes are, or the names of free dimensions; what is declared
nowhere is never the same. Source: ONNX Runtime 1.31, allocation_planner.cc
(ComputeReuseCount, ComputeSingleStreamReusePlan, GenerateDeallocationPlan).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.memory.runtime_order import values_read
from optimizer.memory.runtime_sharing import Pair, aliases, in_place
from optimizer.model.graph import is_constant_node

_UNSHARED = frozenset({ir.DataType.STRING, ir.DataType.UNDEFINED})


@dataclass(frozen=True, slots=True)
class StaticPlan:
    """What the runtime decides before it runs anything.

    Attributes:
        nodes: as they run.
        home: for each value the one whose memory it is; itself where it has its own.
        released: for each value with memory of its own the step after which it is given back;
            one that nobody reads is never given back during a run.
    """

    nodes: tuple[ir.Node, ...]
    home: dict[ir.Value, ir.Value]
    released: dict[ir.Value, int]


def static_plan(graph: ir.Graph, nodes: Sequence[ir.Node], *, reuse: bool) -> StaticPlan:
    """The plan for a graph whose nodes run in this order.

    Args:
        graph: with the shapes that the file declares.
        nodes: in order, constants left out.
        reuse: whether memory that is no longer needed may be taken over as a whole
            (`enable_mem_reuse`); aliases and outputs in place are not affected.
    """
    planner = _Planner(graph, nodes, reuse=reuse)
    for node in nodes:
        planner.step(node)
    released: dict[ir.Value, int] = {}
    for step, node in enumerate(nodes):
        released.update((planner.home.get(value, value), step) for value in values_read(node))
    mine = {value for node in nodes for value in node.outputs} - set(graph.outputs)
    return StaticPlan(
        tuple(nodes), planner.home, {home: step for home, step in released.items() if home in mine}
    )


@dataclass(slots=True)
class _Planner:
    graph: ir.Graph
    nodes: Sequence[ir.Node]
    reuse: bool = field(kw_only=True)
    home: dict[ir.Value, ir.Value] = field(default_factory=dict[ir.Value, ir.Value])
    _uses: dict[ir.Value, int] = field(default_factory=dict[ir.Value, int])
    _dead: list[ir.Value] = field(default_factory=list[ir.Value])  # the last to die at the end

    def __post_init__(self) -> None:
        """Count uses: of what the caller or the session owns, of every node, one for its maker."""
        graph = self.graph
        owned = [*dict.fromkeys((*graph.inputs, *graph.initializers.values())), *graph.outputs]
        for node in graph:
            owned += node.outputs if is_constant_node(node) else ()
        for node in self.nodes:
            owned += [value for value in values_read(node)]
            owned += [value for value in node.outputs if value.name]
        for value in owned:
            self._uses[value] = self._uses.get(value, 0) + 1

    def step(self, node: ir.Node) -> None:
        """Decide where a node's outputs go, then see what has died."""
        outputs = [value for value in node.outputs if value.name]
        for position, value in enumerate(node.outputs):
            if value.name:
                taken = None if value in self._outputs else self._taken(node, position)
                self._settle(value, taken)
        for value in (*values_read(node), *outputs):
            home = self.home.get(value, value)
            self._uses[home] = self._uses.get(home, 1) - 1
            if not self._uses[home]:
                self._dead.append(home)

    @property
    def _outputs(self) -> set[ir.Value]:
        return set(self.graph.outputs)

    def _settle(self, value: ir.Value, taken: ir.Value | None) -> None:
        if taken is None:
            self.home[value] = value
            return
        home = self.home.get(taken, taken)
        self.home[value] = home
        self._uses[home] = self._uses.get(home, 0) + self._uses[value]

    def _taken(self, node: ir.Node, position: int) -> ir.Value | None:
        """The value whose memory output `position` takes."""
        output = node.outputs[position]
        for source in _sources(node, position, aliases(node)):
            return source
        for source in _sources(node, position, in_place(node)):
            if self._uses[self.home.get(source, source)] == 1 and _same_size(source, output):
                return source
        if not self.reuse or not output.shape:
            return None
        for index in range(len(self._dead) - 1, -1, -1):
            if _same_size(self._dead[index], output):
                return self._dead.pop(index)
        return None


def _sources(node: ir.Node, position: int, pairs: Sequence[Pair]) -> list[ir.Value]:
    """Inputs whose memory an output may take, in order of preference."""
    found = [node.inputs[i] for i, o in pairs if o == position and i < len(node.inputs)]
    return [value for value in found if value is not None]


def _same_size(first: ir.Value, second: ir.Value) -> bool:
    """Whether both are declared to be equally large; never where a size is not declared."""
    if not isinstance(first.type, ir.TensorType) or not isinstance(second.type, ir.TensorType):
        return False
    left, right = first.type.dtype, second.type.dtype
    if not _UNSHARED.isdisjoint((left, right)) or left.bitwidth != right.bitwidth:
        return False
    if first.shape is None or second.shape is None or len(first.shape) != len(second.shape):
        return False
    return all(
        a == b if isinstance(a, int) or isinstance(b, int) else a.value is not None and a == b
        for a, b in zip(first.shape, second.shape, strict=True)
    )
