"""Which nodes a move from one step to another concerns: all others answer as they did before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.model.graph import graph_id, readers, use_count
from optimizer.rewrite.edits import (
    DropInput,
    Edit,
    ImportOpset,
    InsertNode,
    MoveNode,
    RemoveNode,
    Retype,
    SetAttributes,
    SetGraphOutput,
    SetInput,
)
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.worklist import FEW_USES, downstream

BESIDE = 2
"""How far rules look beyond what they match: who else reads a value, and what else that reads."""
MOST_READERS = 64
"""Of a value, up to which it matters to each who else reads it; `FEW_USES`, what they are."""


def affected(
    state: GraphState, edits: Iterable[Edit], deepest: int
) -> Mapping[ir.Node, int] | None:
    """How far upstream a rule has to look from a node to see a change, by node.

    A run has passes look again where there may be a new match (`Worklist.wake`); what does not
    match any more it finds out when it comes there. Here that would be told, so that what stands
    beside a change counts as changed, and a node with bodies, too, when something in them has.

    Args:
        state: the graph after the edits were carried out, or undone.
        edits: in any order.
        deepest: the farthest that any rule looks.

    Returns:
        nodes, in the graph or no more; None where a change concerns all of them.
    """
    front = dict[ir.Node, None]()
    for edit in edits:
        if isinstance(edit, ImportOpset):
            return None
        nodes = (state.nodes.get(one) for one in _nodes(edit))
        front.update((node, None) for node in nodes if node is not None)
        values = (state.values.get(one) for one in _values(edit) if one is not None)
        around = (node for value in values if value for node in _around(value, MOST_READERS))
        front.update(dict.fromkeys(around))
    newest = list(front)
    for _ in range(BESIDE):
        beside = dict.fromkeys(other for node in newest for other in _beside(node))
        newest = [node for node in beside if node not in front]
        front.update(dict.fromkeys(newest))
    front.update((owner, None) for node in [*front] for owner in _owners(node, state))
    return dict(downstream([node for node in front if node.graph is not None], deepest))


def _beside(node: ir.Node) -> Iterator[ir.Node]:
    """Who makes what a node reads, and who else reads that, or reads what it makes."""
    for value in (*node.inputs, *node.outputs):
        if value is not None and constant_of(value) is None:
            yield from _around(value, FEW_USES)


def _around(value: ir.Value, most_readers: int) -> Iterator[ir.Node]:
    """Who makes a value, and who reads it, if these are few."""
    producer = value.producer()
    if producer is not None:
        yield producer
    if use_count(value) <= most_readers:
        yield from readers(value)


def _owners(node: ir.Node, state: GraphState) -> Iterator[ir.Node]:
    """The nodes in whose bodies a node stands, inside out."""
    graph = node.graph
    while isinstance(graph, ir.Graph) and (owner := state.owners.get(graph_id(graph))):
        yield owner
        graph = owner.graph


def _nodes(edit: Edit) -> Iterator[str]:
    """The nodes that an edit puts in or changes, or puts back where it is undone."""
    match edit:
        case InsertNode():
            yield edit.id
        case RemoveNode():
            yield edit.node
            yield from edit.inner
        case SetInput() | SetAttributes() | MoveNode():
            yield edit.node
        case _:
            pass


def _values(edit: Edit) -> Iterator[str | None]:
    """The values of which an edit changes who reads them, or what is known."""
    match edit:
        case InsertNode() | RemoveNode():
            yield from edit.inputs
        case SetInput() | SetGraphOutput():
            yield from (edit.old, edit.new)
        case DropInput() | Retype():
            yield edit.value
        case _:
            pass
