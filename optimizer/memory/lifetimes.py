"""Lifetimes of everything a graph keeps in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import onnx_ir as ir

from optimizer.errors import PlanError, quoted
from optimizer.memory.arena import Arena, Lifetime, LifetimeOptions, UnknownSize
from optimizer.memory.pieces import Pieces, pieces_of, walk
from optimizer.memory.program import NOTHING, Program, read_program
from optimizer.memory.sizes import KnownSizes
from optimizer.memory.weights import weights
from optimizer.model.graph import graph_id, node_id, value_id

_DEFAULT = LifetimeOptions()


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
    pieces = pieces_of(program, options)
    constants, unknown_constants = weights(program, options, measure, steps=len(order))
    lived = sorted(_lived(pieces, order, measure), key=lambda lifetime: lifetime.start)
    return Arena(
        graph=graph_id(program.graph),
        owner="" if owner is None else node_id(owner),
        operator="" if owner is None else owner.op_type,
        owner_name="" if owner is None else owner.name or "",
        nodes=tuple(program.operations[index].id for index in order),
        lifetimes=(*constants, *lived),
        unknown=(*unknown_constants, *_unknown(pieces, measure)),
        bodies=tuple(
            _arena(body, options, measure, positions(body, None), program.operations[index].node)
            for index, body in program.bodies
        ),
        alignment=options.alignment,
    )


def _lived(pieces: Pieces, order: Sequence[int], measure: KnownSizes) -> list[Lifetime]:
    """One lifetime for all pieces that follow each other in the same bytes."""
    step_of = [0] * len(order)
    for step, index in enumerate(order):
        step_of[index] = step
    after = [NOTHING] * len(pieces.pieces)
    follows = [False] * len(pieces.pieces)
    for moment in walk(pieces, order):
        if moment.replaced != NOTHING:
            made = pieces.makes[moment.operation][0]
            after[moment.replaced], follows[made] = made, True
    return [
        _lifetime(pieces, _chain(first, after), step_of, measure)
        for first, piece in enumerate(pieces.pieces)
        if not follows[first] and piece.size_bytes is not None
    ]


def _chain(first: int, after: Sequence[int]) -> list[int]:
    chain = [first]
    while after[chain[-1]] != NOTHING:
        chain.append(after[chain[-1]])
    return chain


def _lifetime(
    pieces: Pieces, chain: Sequence[int], step_of: Sequence[int], measure: KnownSizes
) -> Lifetime:
    tensors, known = pieces.program.tensors, [pieces.pieces[position] for position in chain]
    first = known[0]
    value = tensors[first.tensors[0]].value
    reading = sorted({step_of[index]: index for piece in known for index in piece.readers}.items())
    start = 0 if first.maker == NOTHING else step_of[first.maker]
    last = max([start, *(step for step, _ in reading[-1:])])
    return Lifetime(
        value=value_id(value),
        name=value.name or "",
        values=tuple(value_id(tensors[t].value) for piece in known for t in piece.tensors),
        node=_id(pieces, first.maker),
        readers=tuple(_id(pieces, index) for _, index in reading),
        region="activations" if first.planned else "inputs and outputs",
        size_bytes=first.size_bytes or 0,
        start=start,
        end=last + 1 if first.planned else len(step_of),
        shape=measure.shape(value),
        dtype=value.dtype.name if value.dtype is not None else "",
    )


def _unknown(pieces: Pieces, measure: KnownSizes) -> Iterator[UnknownSize]:
    for piece in pieces.pieces:
        if piece.size_bytes is None:
            value = pieces.program.tensors[piece.tensors[0]].value
            region = "activations" if piece.planned else "inputs and outputs"
            yield UnknownSize(value_id(value), value.name or "", measure.why(value), region)


def _id(pieces: Pieces, index: int) -> str:
    return "" if index == NOTHING else pieces.program.operations[index].id
