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

from benchmarks.runtime_block.sharing import Pair, aliases, in_place
from optimizer.constants import is_constant_node
from optimizer.runtime.graph import RuntimeNode

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

    nodes: tuple[RuntimeNode, ...]
    home: dict[ir.Value, ir.Value]
    released: dict[ir.Value, int]


def static_plan(graph: ir.Graph, nodes: Sequence[RuntimeNode], *, reuse: bool) -> StaticPlan:
    """The plan for a graph whose nodes run in this order.

    Args:
        graph: with the shapes that the file declares.
        nodes: in order, constants left out.
        reuse: whether memory that is no longer needed may be taken over as a whole
            (`enable_mem_reuse`); aliases and outputs in place are not affected.
    """
    read = {value for node in nodes for value in node.reads()}
    planner = _Planner(set(graph.outputs), read if reuse else set(), _uses(graph, nodes))
    for node in nodes:
        planner.step(node)
    home = planner.home
    released: dict[ir.Value, int] = {}
    for step, node in enumerate(nodes):
        released.update((home.get(value, value), step) for value in node.reads())
    mine = {value for node in nodes for value in node.outputs} - planner.outputs
    return StaticPlan(
        tuple(nodes), home, {value: step for value, step in released.items() if value in mine}
    )


def _uses(graph: ir.Graph, nodes: Sequence[RuntimeNode]) -> dict[ir.Value, int]:
    """How often each value is used: by its owner or maker, every node, and the caller."""
    used = [*dict.fromkeys((*graph.inputs, *graph.initializers.values()))]
    used += [value for node in graph if is_constant_node(node) for value in node.outputs]
    for node in nodes:
        used += [*node.reads(), *node.outputs]
    counts: dict[ir.Value, int] = {}
    for value in (*used, *graph.outputs):
        counts[value] = counts.get(value, 0) + 1
    return counts


@dataclass(slots=True)
class _Planner:
    outputs: set[ir.Value]
    reusing: set[ir.Value]  # what nobody reads takes over nothing
    uses: dict[ir.Value, int]
    home: dict[ir.Value, ir.Value] = field(default_factory=dict[ir.Value, ir.Value])
    dead: list[ir.Value] = field(default_factory=list[ir.Value])  # what died last at the end

    def step(self, node: RuntimeNode) -> None:
        """Decide where a node's outputs go, then see what has died."""
        for value in node.outputs:
            taken = None if value in self.outputs else self._taken(node, value)
            if taken is None:
                self.home[value] = value
                continue
            home = self.home[value] = self.home.get(taken, taken)
            self.uses[home] += self.uses[value]
        for value in (*node.reads(), *node.outputs):
            home = self.home.get(value, value)
            self.uses[home] -= 1
            if not self.uses[home]:
                self.dead.append(home)

    def _taken(self, node: RuntimeNode, output: ir.Value) -> ir.Value | None:
        """The value whose memory an output takes."""
        for source in _sources(node, output, aliases(node.node)):
            return source
        for source in _sources(node, output, in_place(node.node)):
            if self.uses[self.home.get(source, source)] == 1 and _same_size(source, output):
                return source
        if output not in self.reusing or not output.shape:
            return None
        for index in range(len(self.dead) - 1, -1, -1):
            if _same_size(self.dead[index], output):
                return self.dead.pop(index)
        return None


def _sources(node: RuntimeNode, output: ir.Value, pairs: Sequence[Pair]) -> list[ir.Value]:
    """Inputs whose memory an output may take, in order of preference."""
    position = output.index()
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
