"""Nodes of a body, copied into the graph around it."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.model.graph import bodies, is_used
from optimizer.passes.draft import Draft, NotHere
from optimizer.rules import Context, NewInitializer, NewNode, Operand


def copied(
    body: ir.Graph, given: Mapping[ir.Value, Operand | None], draft: Draft
) -> list[Operand | None]:
    """The results of a body whose inputs are `given`; its nodes go into the draft.

    Values from outside the body are read as they are.

    Raises:
        NotHere: a node of the body has bodies of its own, or a weight is not there.
    """
    known: dict[ir.Value, Operand | None] = dict(given)
    for node in body:
        if any(True for _ in bodies(node)):
            raise NotHere("its body holds control flow of its own")
        made = _copy(node, [_operand(value, body, known) for value in node.inputs])
        draft.made.append(made)
        for index, value in enumerate(node.outputs[: made.outputs]):
            known[value] = made.output(index)
    return [_operand(value, body, known) for value in body.outputs]


def most_copied(body: ir.Graph) -> int:
    """Nodes of a body that are more than constants."""
    return sum(node.op_type != "Constant" for node in body)


def known_number(value: ir.Value | None, context: Context) -> int | None:
    """The one element of a boolean or an integer, where it is the same at every run."""
    content = context.symbolic.of(value)
    if isinstance(content, tuple):
        content = content[0] if len(content) == 1 else None
    return content if isinstance(content, int) else None


def _copy(node: ir.Node, inputs: list[Operand | None]) -> NewNode:
    used = [index for index, value in enumerate(node.outputs) if value.name or is_used(value)]
    return NewNode(
        node.op_type,
        inputs,
        dict(node.attributes),
        node.domain,
        outputs=used[-1] + 1 if used else len(node.outputs),
        name=node.name,
        twin=node,
    )


def _operand(
    value: ir.Value | None, body: ir.Graph, known: dict[ir.Value, Operand | None]
) -> Operand | None:
    if value is None or value in known:
        return None if value is None else known[value]
    if not value.is_initializer() or value.graph is not body:
        return value
    tensor = constant_of(value)
    if tensor is None:
        raise NotHere("a weight of its body is not there")
    known[value] = NewInitializer(tensor, value.name or "weight")
    return known[value]
