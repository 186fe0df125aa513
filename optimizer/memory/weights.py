"""The weights of a graph: its constants, and what is computed from constants alone."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.constants import constant_tensor, is_constant_node
from optimizer.cost.sizes import Sizes
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.program import Program
from optimizer.memory.sharing import looks_at

Weight = tuple[list[ir.Value], int | None]
"""A constant and its views, and its bytes; None where they are not known."""


def weights(program: Program, options: LifetimeOptions, measure: Sizes) -> Iterator[Weight]:
    """What stays for ever.

    A tensor that several initializers share counts once. What is computed on the way to another
    constant, and read by nothing that runs, does not stay.

    Args:
        program: of a graph; constants of the graphs around are theirs.
        options: whether a view of a constant is the constant.
        measure: sizes of what is computed.
    """
    inputs = set(program.graph.inputs)
    by_tensor: dict[int, Weight] = {}
    place: dict[ir.Value, Weight] = {}
    for value in program.graph.initializers.values():
        tensor = value.const_value
        if value not in inputs and tensor is not None:
            weight = by_tensor.setdefault(id(tensor), ([], _bytes(tensor)))
            weight[0].append(value)
            place[value] = weight
    found = list(by_tensor.values())
    for node in program.fixed:
        source = looks_at(node) if options.views else None
        for value in node.outputs:
            if source in place and value is node.outputs[0]:
                place[source][0].append(value)
                place[value] = place[source]
            elif is_constant_node(node) or value in program.needed:
                place[value] = ([value], _computed(node, value, measure))
                found.append(place[value])
    yield from found


def _computed(node: ir.Node, value: ir.Value, measure: Sizes) -> int | None:
    tensor = constant_tensor(node) if is_constant_node(node) else value.const_value
    return measure.size_bytes(value) if tensor is None else _bytes(tensor)


def _bytes(tensor: ir.TensorProtocol) -> int | None:
    return None if tensor.dtype == ir.DataType.STRING else tensor.nbytes
