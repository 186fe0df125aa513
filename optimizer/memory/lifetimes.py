"""Lifetimes of everything a graph keeps in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import onnx_ir as ir

from optimizer.constants import constant_tensor, is_constant_node
from optimizer.errors import PlanError, quoted
from optimizer.memory.arena import Arena, Lifetime, LifetimeOptions, Region, UnknownSize
from optimizer.memory.pieces import Pieces, pieces_of, walk
from optimizer.memory.program import NOTHING, Program, looks_at, read_program
from optimizer.memory.sizes import KnownSizes
from optimizer.model.graph import graph_id, node_id, value_id

_DEFAULT = LifetimeOptions()

_Weight = tuple[list[ir.Value], int | None]
"""A constant and its views, and its bytes; None where they are not known."""


def lifetimes(
    graph: ir.Graph,
    options: LifetimeOptions = _DEFAULT,
    *,
    order: Sequence[str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Arena:
    """What `graph` keeps in memory, and for how long; linear in its size.

    A step is a node that runs. Inputs are alive the whole run, outputs from their node to the end.
    A body has an arena of its own; what it reads of the graphs around is alive there until its
    owner has run. A graph output is never written over anything, nor anything over it.

    Args:
        graph: with inferred shapes and ids, its nodes in topological order.
        options: what may share memory.
        order: ids of the nodes that run, in the order to run them; list order without.
        sizes: of free dimensions, by name. What depends on one without a size is unknown.

    Raises:
        PlanError: `order` is not an order of the graph's nodes.
    """
    measure = KnownSizes(graph, sizes)
    program = read_program(graph, measure)
    return _arena(program, options, measure, positions(program, order))


def positions(program: Program, order: Sequence[str] | None) -> list[int]:
    """The operations of a program in the order of these node ids; list order without.

    Raises:
        PlanError: an operation is missing, there twice, or before one whose result it reads.
    """
    if order is None:
        return list(range(len(program.operations)))
    place = {identity: index for index, identity in enumerate(program.ids())}
    unknown = next((identity for identity in order if identity not in place), None)
    if unknown is not None:
        raise PlanError(f"The order names {quoted(unknown)}, which is no node that runs.")
    found = [place[identity] for identity in order]
    if len(found) != len(place) or len(set(found)) != len(found):
        raise PlanError(f"The order has {len(found)} nodes; every one of {len(place)} runs once.")
    step = {index: step for step, index in enumerate(found)}
    for index, earlier in enumerate(program.before()):
        late = next((other for other in earlier if step[other] > step[index]), None)
        if late is not None:
            first, second = (program.operations[i].node.name or "" for i in (late, index))
            raise PlanError(f"The order runs {quoted(second)} before {quoted(first)}, its source.")
    return found


def _arena(
    program: Program,
    options: LifetimeOptions,
    measure: KnownSizes,
    order: Sequence[int],
    owner: ir.Node | None = None,
) -> Arena:
    found = [
        *_weights(program, options, measure, steps=len(order)),
        *_lived(pieces_of(program, options), order, measure),
    ]
    known = [one for one in found if isinstance(one, Lifetime)]
    return Arena(
        graph=graph_id(program.graph),
        owner="" if owner is None else node_id(owner),
        operator="" if owner is None else owner.op_type,
        owner_name="" if owner is None else owner.name or "",
        nodes=tuple(program.operations[index].id for index in order),
        lifetimes=tuple(sorted(known, key=lambda lifetime: lifetime.start)),
        unknown=tuple(one for one in found if isinstance(one, UnknownSize)),
        bodies=tuple(
            _arena(body, options, measure, positions(body, None), program.operations[index].node)
            for index, body in program.bodies
        ),
        alignment=options.alignment,
    )


def _weights(
    program: Program, options: LifetimeOptions, measure: KnownSizes, *, steps: int
) -> Iterator[Lifetime | UnknownSize]:
    readers: dict[ir.Value, list[str]] = {}
    for operation in program.operations:
        for value in operation.node.inputs:
            if value is not None:
                readers.setdefault(value, []).append(operation.id)
    for values, size in _constants(program, options, measure):
        reading = dict.fromkeys(node for one in values for node in readers.get(one, ()))
        yield _kept(values, size, measure, region="weights", readers=reading, end=steps)


def _constants(
    program: Program, options: LifetimeOptions, measure: KnownSizes
) -> Iterator[_Weight]:
    """What stays for ever.

    A tensor that several initializers share counts once, a view of a constant is the constant if
    views may share. What is computed on the way to another constant, and read by nothing that runs,
    does not stay. Constants of the graphs around are theirs.
    """
    inputs = set(program.graph.inputs)
    by_tensor: dict[int, _Weight] = {}
    place: dict[ir.Value, _Weight] = {}
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


def _lived(
    pieces: Pieces, order: Sequence[int], measure: KnownSizes
) -> Iterator[Lifetime | UnknownSize]:
    """One lifetime for all pieces that follow each other in the same bytes."""
    step_of = {index: step for step, index in enumerate(order)}
    after: dict[int, int] = {}
    for moment in walk(pieces, order):
        if moment.replaced != NOTHING:
            after[moment.replaced] = pieces.makes[moment.operation][0]
    followers = set(after.values())
    for position, first in enumerate(pieces.pieces):
        if position in followers:
            continue
        chain = [position]
        while chain[-1] in after:
            chain.append(after[chain[-1]])
        known = [pieces.pieces[position] for position in chain]
        reading = sorted({step_of[index] for piece in known for index in piece.readers})
        start = step_of.get(first.maker, 0)
        yield _kept(
            [pieces.program.tensors[tensor].value for piece in known for tensor in piece.tensors],
            first.size_bytes,
            measure,
            region="activations" if first.planned else "inputs and outputs",
            readers=[pieces.program.operations[order[step]].id for step in reading],
            start=start,
            end=max([start, *reading[-1:]]) + 1 if first.planned else len(order),
        )


def _kept(
    values: Sequence[ir.Value],
    size_bytes: int | None,
    measure: KnownSizes,
    *,
    region: Region,
    readers: Iterable[str],
    end: int,
    start: int = 0,
) -> Lifetime | UnknownSize:
    value = values[0]
    name, maker = value.name or "", value.producer()
    if size_bytes is None:
        return UnknownSize(value_id(value), name, measure.why(value), region)
    return Lifetime(
        value=value_id(value),
        name=name,
        values=tuple(value_id(one) for one in values),
        node="" if maker is None else node_id(maker),
        readers=tuple(readers),
        region=region,
        size_bytes=size_bytes,
        start=start,
        end=end,
        shape=measure.dims(value),
        dtype=value.dtype.name if value.dtype is not None else "",
    )
