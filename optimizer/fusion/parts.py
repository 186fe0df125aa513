"""A group of nodes as parts whose outputs have one shape each, as one kernel gives them.

Where a value of another shape is read outside and cheap, what it takes is computed again in a part
of its own; else what comes before it, or after, is a part of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.cost.sizes import Sizes
from optimizer.fusion.growth import MOST_COMPUTED_AGAIN, Level
from optimizer.fusion.region import Kernels
from optimizer.fusion.work import Work
from optimizer.operators.call import Known


@dataclass(frozen=True, slots=True)
class Part:
    """Nodes for one kernel.

    Attributes:
        level: of the group, and its own within.
        nodes: in the order of the graph.
        outputs: of one shape.
    """

    level: Level
    nodes: tuple[ir.Node, ...]
    outputs: tuple[ir.Value, ...]


class Parts:
    """Takes groups of one graph apart.

    Attributes:
        home: the level of each node's own group; in others it is computed again, and not given.
    """

    def __init__(
        self, works: Mapping[ir.Node, Work], known: Known, sizes: Sizes, kernels: Kernels
    ) -> None:
        self._works, self._known, self._sizes, self._kernels = works, known, sizes, kernels
        self.home: dict[ir.Node, Level] = {}

    def of(self, nodes: Sequence[ir.Node], level: Level) -> Iterator[Part]:
        """The parts of some nodes, which are connected.

        Args:
            nodes: in the order of the graph.
            level: of their group.
        """
        pending = [(list(nodes), level)]
        while pending:
            current, level = pending.pop()
            own = [node for node in current if self.home.get(node, level) == level[:1]]
            outputs = self._kernels.exported(own, current)
            main = self._largest(outputs)
            kept = [v for v in outputs if self._shape(v) == self._shape(main)] if main else []
            other = self._in_the_way(current, outputs, kept)
            if other is None:
                yield from self._of_each_shape(current, level, kept, outputs)
                continue
            lower = self._cut(current, other, kept)
            if not lower:  # the first node has outputs of several shapes: it is no kernel
                current = [node for node in current if node is not other.producer()]
            upper = [node for node in current if node not in lower]
            pending += [(one, (*level, 1)) for one in connected(upper)]
            pending += [(one, (*level, 0)) for one in connected([n for n in current if n in lower])]

    def _of_each_shape(
        self,
        nodes: Sequence[ir.Node],
        level: Level,
        kept: Sequence[ir.Value],
        outputs: Sequence[ir.Value],
    ) -> Iterator[Part]:
        """A part for the main outputs, then one for those of each other shape."""
        shapes = dict.fromkeys(map(self._shape, (*kept, *outputs)))
        for shape in shapes:
            alike = tuple(value for value in outputs if self._shape(value) == shape)
            needed = needed_for(alike, nodes)
            yield Part(level, tuple(node for node in nodes if node in needed), alike)

    def _shape(self, value: ir.Value | None) -> object:
        return None if value is None else self._known(value).shape

    def _largest(self, outputs: Iterable[ir.Value]) -> ir.Value | None:
        """The output with the most elements, of several the last."""
        return max(outputs, key=lambda v: self._sizes.elements(v) or 0, default=None)

    def _in_the_way(
        self, nodes: Sequence[ir.Node], outputs: Iterable[ir.Value], kept: Collection[ir.Value]
    ) -> ir.Value | None:
        """An output of another shape that is not cheap to compute again."""
        for value in outputs:
            before = needed_for([value], nodes)
            cheap = all(self._works[node].cheap for node in before)
            if value not in kept and not (cheap and len(before) <= MOST_COMPUTED_AGAIN):
                return value
        return None

    def _cut(
        self, nodes: Sequence[ir.Node], other: ir.Value, kept: Iterable[ir.Value]
    ) -> set[ir.Node]:
        """The first of two parts: up to a value, or all but what comes after its node."""
        before = needed_for([other], nodes)
        if not any(value.producer() in before for value in kept):
            return before
        return set(nodes) - _after(other.producer(), nodes)


def connected(nodes: Sequence[ir.Node]) -> list[list[ir.Node]]:
    """Nodes that read each other's values, directly or not, together."""
    groups: dict[ir.Node, list[ir.Node]] = {}
    for node in nodes:
        mine = [node]
        makers = (None if value is None else value.producer() for value in node.inputs)
        for maker in makers:
            if maker in groups and groups[maker] is not mine:
                mine = [*groups[maker], *mine]
                groups.update(dict.fromkeys(mine, mine))
        groups[node] = mine
    place = {node: number for number, node in enumerate(nodes)}
    unique = {id(group): group for group in groups.values()}
    return [sorted(group, key=place.__getitem__) for group in unique.values()]


def needed_for(values: Iterable[ir.Value], nodes: Iterable[ir.Node]) -> set[ir.Node]:
    """Of some nodes those that values depend on."""
    inside, found = set(nodes), set[ir.Node]()
    pending = [value.producer() for value in values]
    while pending:
        node = pending.pop()
        if node is not None and node in inside and node not in found:
            found.add(node)
            pending += [value.producer() for value in node.inputs if value is not None]
    return found


def _after(node: ir.Node | None, nodes: Iterable[ir.Node]) -> set[ir.Node]:
    """A node, and those after it that depend on it."""
    found = {node}
    for one in nodes:
        if any(value is not None and value.producer() in found for value in one.inputs):
            found.add(one)
    return {one for one in found if one is not None}
