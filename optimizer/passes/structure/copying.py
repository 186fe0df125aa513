"""Nodes of a body, copied into the graph around it."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.model.graph import given_outputs, walk_nodes
from optimizer.passes.draft import Draft, NotHere
from optimizer.rules import Context, NewBody, NewInitializer, NewNode, NewOutput, Operand

_Known = dict[ir.Value, Operand | None]
_GRAPHS = ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS


def copied(
    body: ir.Graph, given: Mapping[ir.Value, Operand | None], draft: Draft
) -> list[Operand | None]:
    """The results of a body whose inputs are `given`; its nodes go into the draft.

    Values from outside the body are read as they are. A body in it is copied with its node, and has
    values, nodes and constants of its own then.

    Raises:
        NotHere: a weight is not there, or a body in it hands on what it does not compute.
    """
    known: _Known = dict(given)
    _constants(body, known)
    draft.made.extend(_copies(body, known))
    return [_operand(value, known) for value in body.outputs]


def most_copied(body: ir.Graph) -> int:
    """Nodes of a body, and of those in it, that are more than constants."""
    return sum(node.op_type != "Constant" for node in walk_nodes(body))


def _copies(body: ir.Graph, known: _Known) -> list[NewNode]:
    """The nodes of a body; what they give becomes known."""
    copies: list[NewNode] = []
    for node in body:
        copies.append(made := _copy(node, known))
        for index, value in enumerate(node.outputs[: made.outputs]):
            known[value] = made.output(index)
    return copies


def _copied_body(body: ir.Graph, known: _Known) -> NewBody:
    """A body in what is copied."""
    known.update({value: value for value in body.inputs})
    initializers = _constants(body, known)
    nodes = _copies(body, known)
    made, own = {*nodes}, {*body.inputs, *initializers}
    outputs: list[Operand] = []
    for value in body.outputs:
        operand = _operand(value, known)
        inside = isinstance(operand, NewOutput) and operand.node in made
        if operand is None or not (inside or operand in own):
            raise NotHere("a body in its body hands on what it does not compute")
        outputs.append(operand)
    return NewBody(body.name, body.inputs, initializers, nodes, outputs)


def known_number(value: ir.Value | None, context: Context) -> int | None:
    """The one element of a boolean or an integer, where it is the same at every run."""
    content = context.symbolic.of(value)
    if isinstance(content, tuple):
        content = content[0] if len(content) == 1 else None
    return content if isinstance(content, int) else None


def _copy(node: ir.Node, known: _Known) -> NewNode:
    carried = {name: one for name, one in node.attributes.items() if one.type in _GRAPHS}
    if any(one.is_ref() or one.type != ir.AttributeType.GRAPH for one in carried.values()):
        raise NotHere("an operator in its body has a list of bodies")
    return NewNode(
        node.op_type,
        [_operand(value, known) for value in node.inputs],
        {name: one for name, one in node.attributes.items() if name not in carried},
        node.domain,
        outputs=given_outputs(node),
        name=node.name,
        twin=node,
        bodies={name: _copied_body(one.as_graph(), known) for name, one in carried.items()},
    )


def _constants(body: ir.Graph, known: _Known) -> list[NewInitializer]:
    """The constants of a body; they become known."""
    made: list[NewInitializer] = []
    for value in body.initializers.values():
        if value in known:
            continue
        tensor = constant_of(value)
        if tensor is None:
            raise NotHere("a weight of its body is not there")
        known[value] = one = NewInitializer(tensor, value.name or "weight")
        made.append(one)
    return made


def _operand(value: ir.Value | None, known: _Known) -> Operand | None:
    return None if value is None else known.get(value, value)
