"""Where a tool changed a graph, and how sure that is.

Nodes that left and nodes that came belong together where a value passes between them that is known
on one side only, or where both make a value of the same name. A value that is known by name on both
sides is a border.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx_ir as ir

from optimizer.rules import Inference, NewNode, NewOutput, Place

Item = ir.Node | NewNode


class _Together:
    """Sets of items that grow together."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._above: dict[Item, Item] = {item: item for item in items}

    def __contains__(self, item: object) -> bool:
        return item in self._above

    def join(self, one: Item, other: Item) -> None:
        """Put two items, and all that is with them, together."""
        self._above[self._top(other)] = self._top(one)

    def _top(self, item: Item) -> Item:
        while (above := self._above[item]) is not item:
            self._above[item] = self._above[above]
            item = above
        return item

    def sets(self) -> list[list[Item]]:
        """All of them, in the order of their first items."""
        found: dict[Item, list[Item]] = {}
        for item in self._above:
            found.setdefault(self._top(item), []).append(item)
        return list(found.values())


def inferred(
    removed: Sequence[ir.Node],
    added: Mapping[NewNode, Sequence[str]],
    readers: Mapping[NewNode, ir.Node],
) -> Inference:
    """Which of the new nodes do the work of which of those that left.

    Args:
        removed: nodes that leave.
        added: new nodes, each with the names of what it makes.
        readers: for a new node that only stands beside others, one of these.
    """
    together = _Together([*removed, *added])
    made = {name: node for node, names in added.items() for name in names if name}
    left = {value.name: node for node in removed for value in node.outputs if value.name}
    for name, node in left.items():
        if name in made:
            together.join(node, made[name])
    _join_readers(together, removed, made)
    for node in added:
        for operand in node.inputs:
            if isinstance(operand, NewOutput) and added[operand.node][operand.index] not in left:
                together.join(operand.node, node)
    return _judged(together.sets(), readers)


def _join_readers(
    together: _Together, removed: Sequence[ir.Node], made: Mapping[str, NewNode]
) -> None:
    """Nodes that left, with those that left and read what is no more."""
    for node in removed:
        for value in node.outputs:
            if value.name not in made:
                for use in value.uses():
                    if use.node in together:
                        together.join(node, use.node)


def _judged(sets: Sequence[Sequence[Item]], readers: Mapping[NewNode, ir.Node]) -> Inference:
    """One new node for all that left is certain; among several, one cannot tell."""
    places: list[Place] = []
    sure = count = 0.0
    for items in sets:
        sources = tuple(item for item in items if isinstance(item, ir.Node))
        nodes = tuple(item for item in items if isinstance(item, NewNode))
        certainty = 1.0 if not nodes else 1 / len(nodes) if sources else 0.0
        sure, count = sure + certainty * len(items), count + len(items)
        beside = tuple(dict.fromkeys(readers[node] for node in nodes if node in readers))
        places.append(Place(sources or beside, nodes))
    return Inference(tuple(places), sure / count if count else 1.0)
