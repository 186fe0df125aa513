"""Which nodes a move from one step to another concerns: all others answer as they did before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import onnx_ir as ir

from optimizer.model.graph import readers, use_count
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


def affected(
    state: GraphState, edits: Iterable[Edit], deepest: int
) -> Mapping[ir.Node, int] | None:
    """How far upstream a rule has to look from a node to see a change, by node.

    It is what a run has passes look at again (`Worklist.wake`), from the edits alone.

    Args:
        state: the graph after the edits were carried out, or undone.
        edits: in any order.
        deepest: the farthest that any rule looks.

    Returns:
        nodes, in the graph or no more; None where a change concerns all of them.
    """
    front, makers = dict[ir.Node, None](), dict[ir.Node, None]()
    for edit in edits:
        if isinstance(edit, ImportOpset):
            return None
        nodes = (state.nodes.get(one) for one in _nodes(edit))
        front.update((node, None) for node in nodes if node is not None)
        for value in (state.values.get(one) for one in _values(edit) if one is not None):
            if value is None:
                continue
            producer = value.producer()
            if producer is not None:
                makers[producer] = None  # it may care who reads its output
            if use_count(value) <= FEW_USES or isinstance(edit, Retype):
                front.update(dict.fromkeys(readers(value)))
    near = downstream([node for node in front if node.graph is not None], deepest)
    return {**dict(near), **dict.fromkeys(makers, 1)}


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
