"""In which order nodes may stand: what each needs, once a replacement is in place."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.model.graph import bodies, walk_nodes
from optimizer.rules.replacement import NewNode, NewOutput, Operand, Replacement

Standing = ir.Node | NewNode
"""A node that stays, or a new one."""


def needs(item: Standing, graph: ir.Graph, proposal: Replacement) -> Iterator[Standing]:
    """The nodes of a graph that have to stand before one, once a proposal is in place."""
    for operand in _operands(item, proposal):
        if isinstance(operand, NewOutput):
            yield operand.node
        elif isinstance(operand, ir.Value):
            producer = operand.producer()
            if producer is not None and producer.graph is graph:
                yield producer


def _operands(item: Standing, proposal: Replacement) -> Iterator[Operand | None]:
    if isinstance(item, NewNode):
        yield from item.reads()
        return
    inputs, values = proposal.inputs, proposal.values
    for index, value in enumerate(item.inputs):
        if inputs and (item, index) in inputs:
            yield inputs[item, index]
        elif value is not None:
            yield values.get(value, value)
    for body in bodies(item) if item.attributes.data else ():
        for value in (value for inner in walk_nodes(body) for value in inner.inputs):
            if value is not None:
                yield proposal.values.get(value, value)
        yield from (proposal.values.get(value, value) for value in body.outputs)
