"""The weights of a graph: its constants, and what is computed from constants alone."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.constants import constant_tensor, is_constant_node
from optimizer.memory.arena import Lifetime, LifetimeOptions, UnknownSize
from optimizer.memory.program import Program
from optimizer.memory.sharing import looks_at
from optimizer.memory.sizes import KnownSizes
from optimizer.model.graph import node_id, value_id

Weight = tuple[list[ir.Value], int | None]


def weights(
    program: Program, options: LifetimeOptions, measure: KnownSizes, *, steps: int
) -> tuple[list[Lifetime], list[UnknownSize]]:
    """What stays for ever, and what of it has no known size.

    A tensor that several initializers share counts once. What is computed on the way to another
    constant, and read by nothing that runs, does not stay.

    Args:
        program: of a graph; constants of the graphs around are theirs.
        options: whether a view of a constant is the constant.
        measure: sizes of what is computed.
        steps: how many nodes run.
    """
    found = list(_weights(program, options, measure))
    readers = _readers(program, {value for values, _ in found for value in values})
    known: list[Lifetime] = []
    unknown: list[UnknownSize] = []
    for values, size in found:
        value = values[0]
        name = value.name or ""
        if size is None:
            unknown.append(UnknownSize(value_id(value), name, measure.why(value), "weights"))
            continue
        maker = value.producer()
        reading = dict.fromkeys(node for one in values for node in readers.get(one, ()))
        known.append(
            Lifetime(
                value=value_id(value),
                name=name,
                values=tuple(value_id(one) for one in values),
                node="" if maker is None else node_id(maker),
                readers=tuple(reading),
                region="weights",
                size_bytes=size,
                start=0,
                end=steps,
                shape=measure.shape(value),
                dtype=value.dtype.name if value.dtype is not None else "",
            )
        )
    return known, unknown


def _weights(program: Program, options: LifetimeOptions, measure: KnownSizes) -> Iterator[Weight]:
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


def _computed(node: ir.Node, value: ir.Value, measure: KnownSizes) -> int | None:
    tensor = constant_tensor(node) if is_constant_node(node) else value.const_value
    return measure.size_bytes(value) if tensor is None else _bytes(tensor)


def _bytes(tensor: ir.TensorProtocol) -> int | None:
    return None if tensor.dtype == ir.DataType.STRING else tensor.nbytes


def _readers(program: Program, weights: set[ir.Value]) -> dict[ir.Value, list[str]]:
    """The nodes that run and read each value directly."""
    readers: dict[ir.Value, list[str]] = {}
    for operation in program.operations:
        for value in operation.node.inputs:
            if value in weights:
                readers.setdefault(value, []).append(operation.id)
    return readers
