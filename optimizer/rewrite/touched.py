"""Which steps had a hand in a node: without them, a later match on it might not exist."""

from __future__ import annotations

from collections.abc import Iterable

from optimizer.rewrite.edits import (
    Edit,
    InsertNode,
    MoveNode,
    RemoveNode,
    Retype,
    SetAttributes,
    SetInput,
)

REMEMBERED = 8
"""Latest steps kept for one node; a hub that loses a thousand readers depends on the last few."""


class Touched:
    """The steps that put a node in, changed it, told more of its types, or took a reader away."""

    def __init__(self) -> None:
        self._steps: dict[str, list[int]] = {}

    def note(self, step: int, edits: Iterable[Edit]) -> None:
        """Take down what the edits of a step touched."""
        for edit in edits:
            for node in _nodes(edit):
                steps = self._steps.setdefault(node, [])
                if not steps or steps[-1] != step:
                    steps.append(step)
                if len(steps) > REMEMBERED:
                    del steps[1]  # the first one may have put the node in

    def steps(self, nodes: Iterable[str]) -> tuple[int, ...]:
        """The steps that had a hand in any of these nodes, in order."""
        return tuple(sorted({step for node in nodes for step in self._steps.get(node, ())}))


def _nodes(edit: Edit) -> Iterable[str]:
    """The nodes an edit touches."""
    match edit:
        case InsertNode():
            return (edit.id, *_producers(edit.inputs))
        case RemoveNode():
            return _producers(edit.inputs)
        case SetInput():
            return (edit.node, *_producers((edit.old,)))
        case SetAttributes() | MoveNode():
            return (edit.node,)
        case Retype():
            return _producers((edit.value,))
        case _:
            return ()


def _producers(values: Iterable[str | None]) -> list[str]:
    """The nodes behind value ids `<node id>:<output>`; inputs and initializers have none."""
    return [value.partition(":")[0] for value in values if value is not None and ":" in value]
