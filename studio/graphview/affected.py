"""Whose cost a rewrite may have changed.

More than the nodes that come and go: who reads a tensor of another size, or the same one twice,
moves other bytes, and so does a producer whose output nobody reads now.
"""

from __future__ import annotations

from collections.abc import Iterator

from optimizer.model.graph import node_id
from optimizer.rewrite.edits import (
    InsertNode,
    RemoveNode,
    Retype,
    SetAttributes,
    SetGraphOutput,
    SetInput,
)
from optimizer.rewrite.graph_state import GraphState
from optimizer.rewrite.trace import Rewrite


def affected(state: GraphState, rewrite: Rewrite) -> set[str]:
    """Ids of the nodes that came, went, or may cost something else now.

    Args:
        state: of the graph, which stands behind the rewrite already.
        rewrite: the step.
    """
    return set(_affected(state, rewrite))


def _affected(state: GraphState, rewrite: Rewrite) -> Iterator[str]:
    yield from rewrite.removed
    for edit in rewrite.edits:
        match edit:
            case InsertNode():
                yield edit.id
                yield from _producers(state, edit.inputs)
            case RemoveNode():
                yield from _producers(state, edit.inputs)
            case SetInput():
                yield edit.node
                yield from _producers(state, (edit.old, edit.new))
            case SetAttributes():
                yield edit.node
            case SetGraphOutput():
                yield from _producers(state, (edit.old, edit.new))
            case Retype():
                yield from _around(state, edit.value)
            case _:
                pass


def _producers(state: GraphState, values: tuple[str | None, ...]) -> Iterator[str]:
    for identity in values:
        value = state.value(identity)
        producer = value.producer() if value is not None else None
        if producer is not None:
            yield node_id(producer)


def _around(state: GraphState, identity: str) -> Iterator[str]:
    yield from _producers(state, (identity,))
    for use in state.values[identity].uses():
        yield node_id(use.node)
