"""Subgraphs that occur several times as one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import onnx_ir as ir

from optimizer.model.graph import is_used
from optimizer.model.outlined_functions import OutlinedFunction, outlined_function
from optimizer.model.repeats import Repeat, find_repeats
from optimizer.numbers import counted
from optimizer.operators.generated import GENERATED
from optimizer.operators.layouts import LAYOUTS
from optimizer.operators.outlined import OUTLINED
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, NewNode, Outcome, Replacement


@dataclass(frozen=True, slots=True)
class _Call:
    """An occurrence that is to become a call."""

    repeat: Repeat
    outlined: OutlinedFunction
    index: int

    @property
    def nodes(self) -> tuple[ir.Node, ...]:
        """What the call stands for."""
        return self.repeat.occurrences[self.index]


@register
class OutlineRepeats(Pass):
    """Outline repeated subgraphs into functions.

    What it does:
        What a graph holds several times, wired alike, such as its layers, becomes a function of the
        model, and each occurrence a call of it. What differs is an input: weights above all. Small
        constants that are the same everywhere stand in the function. The repeats that save most
        nodes come first; the function is named after the scope of its nodes.
    Before:
        x → MatMul(w0) → Add(b0) → Relu → MatMul(w1) → Add(b1) → Relu → y
    After:
        x → passlens.outlined.MatMul_Add_Relu_…(w0, b0) → passlens.outlined.…(w1, b1) → y
    When it is safe:
        All nodes have the same operators, attributes and inputs from one another. Nothing leads out
        of an occurrence and back in. What has a body, is random or is a call already belongs to
        none. It has at least `least_nodes` nodes.
    Numerics:
        Bit-identical: the same operators run. ONNX Runtime inlines functions when it loads a model.
    Source:
        Functions: ONNX IR specification. Repeats: suffix array, Manber and Myers 1993.

    Attributes:
        least_nodes: of what becomes a function.
    """

    id = "outline-repeats"
    exactness = "exact"
    presets = ()
    order = 90
    last = True
    global_analysis = True

    least_nodes: int = 5

    @rule(ANY, name="RepeatedSubgraph")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The last node of an occurrence."""
        graph = node.graph
        if node.domain == OUTLINED or not isinstance(graph, ir.Graph):
            return None
        if [*context.scopes(graph)][1:]:
            return None
        call = self._planned(graph, context).get(node)
        if call is None or any(one.graph is not graph for one in call.nodes):
            return None
        return _replaced(call, node)

    def _planned(self, graph: ir.Graph, context: Context) -> Mapping[ir.Node, _Call]:
        """The calls, each by the node of its occurrence that stands last."""
        known = cast("dict[ir.Node, _Call] | None", context.memory.get(OUTLINED))
        if known is not None:
            return known
        planned: dict[ir.Node, _Call] = {}
        places = {node: place for place, node in enumerate(graph)}
        apart = (GENERATED, LAYOUTS, OUTLINED)
        for repeat in find_repeats(graph, least_nodes=max(self.least_nodes, 2), apart=apart):
            outlined = outlined_function(repeat, context.opsets)
            for index, nodes in enumerate(repeat.occurrences):
                planned[max(nodes, key=places.__getitem__)] = _Call(repeat, outlined, index)
        context.memory[OUTLINED] = planned
        return planned


def _replaced(call: _Call, last: ir.Node) -> Replacement:
    """An occurrence as a call; values between may have been replaced since it was found."""
    outlined, nodes = call.outlined, call.nodes
    inputs = [nodes[place].inputs[index] for place, index in outlined.reads]
    name = outlined.scopes[call.index] or last.name
    made = NewNode(
        outlined.function.name, inputs, domain=OUTLINED, outputs=len(outlined.gives), name=name
    )
    values = {
        nodes[place].outputs[index]: made.output(output)
        for output, (place, index) in enumerate(outlined.gives)
    }
    times = counted(len(call.repeat.occurrences), "place")
    reason = f"The same {counted(len(nodes), 'node')} stand in {times}."
    used = {old: new for old, new in values.items() if is_used(old)}
    return Replacement(nodes, used, reason, [made], functions=[outlined.function], delays=True)
