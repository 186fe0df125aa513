"""Calls of outlined functions, inlined."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.constants import constant_tensor, is_constant_node
from optimizer.model.graph import is_used, walk_nodes
from optimizer.operators.outlined import OUTLINED
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    given,
)


@register
class InlineOutlined(Pass):
    """Inline the functions of repeated subgraphs.

    What it does:
        Each call of a function that outline-repeats wrote becomes the nodes that it stands for, so
        that other passes see them; a function that nothing calls any more goes. Where both passes
        are on, repeats are outlined again in the end.
    Before:
        x → passlens.outlined.layer_…(w0, b0) → y
    After:
        x → MatMul(w0) → Add(b0) → Relu → y
    When it is safe:
        The function is one of the domain passlens.outlined.
    Numerics:
        Bit-identical: the same operators run.
    Source:
        ONNX IR specification, functions.
    """

    id = "inline-outlined"
    exactness = "exact"
    presets = ()
    order = 5

    @rule(ANY, name="OutlinedCall")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """One call."""
        if node.domain != OUTLINED:
            return None
        function = context.functions.get(node.op_identifier())
        if function is None:
            return Declined("The model does not have the function that it calls")
        made, known = _copied(function, node)
        values = {
            old: new
            for old, formal in zip(node.outputs, function.outputs, strict=False)
            if is_used(old) and (new := known[formal]) is not None
        }
        unused = () if _called_elsewhere(node, context) else (function,)
        return Replacement([node], values, "The nodes that it stands for.", made, unused=unused)


def _copied(
    function: ir.Function, call: ir.Node
) -> tuple[list[NewNode], Mapping[ir.Value, Operand | None]]:
    """The nodes of a function for one call, and what its values are there."""
    known: dict[ir.Value, Operand | None] = {
        formal: given(call, index) for index, formal in enumerate(function.inputs)
    }
    made: list[NewNode] = []
    for node in function:
        if is_constant_node(node) and (tensor := constant_tensor(node)) is not None:
            known[node.outputs[0]] = NewInitializer(tensor, f"{call.name}/{node.name}")
            continue
        inputs = [None if value is None else known[value] for value in node.inputs]
        name = f"{call.name}/{node.name or node.op_type}"
        count = len(node.outputs)
        new = NewNode(node.op_type, inputs, dict(node.attributes), node.domain, count, name)
        made.append(new)
        known |= {value: new.output(index) for index, value in enumerate(node.outputs)}
    return made, known


def _called_elsewhere(call: ir.Node, context: Context) -> bool:
    graph, identifier = call.graph, call.op_identifier()
    assert isinstance(graph, ir.Graph)
    *_, main = context.scopes(graph)
    return any(node.op_identifier() == identifier and node is not call for node in walk_nodes(main))
