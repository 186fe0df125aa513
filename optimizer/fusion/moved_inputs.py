"""What only moves data in front of a group: its kernel reads through it.

Data that is picked, cut or turned around for kernels alone need not be written: each kernel finds
its elements where they were. A node may so be part of several kernels; it goes once all of them are
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import onnx_ir as ir

from optimizer.fusion.growth import MOST_COMPUTED_AGAIN, MOST_NODES, Group
from optimizer.fusion.region import read_outside
from optimizer.fusion.work import Work, copies_more


class MovedInputs:
    """Finds what moves data for the groups of one graph."""

    def __init__(self, works: Mapping[ir.Node, Work], place: Mapping[ir.Node, int]) -> None:
        self._works, self._place = works, place

    def with_them(self, group: Group) -> Group:
        """A group with what moves the data that it reads."""
        found = set(group.nodes)
        pending = [(maker, 1) for maker in self._before(group.nodes)]
        while pending and len(found) < MOST_NODES:
            node, distance = pending.pop()
            if node not in found:
                found.add(node)
                if distance < MOST_COMPUTED_AGAIN:
                    pending += [(maker, distance + 1) for maker in self._before([node])]
        return replace(group, nodes=sorted(found, key=self._place.__getitem__))

    def _before(self, nodes: Sequence[ir.Node]) -> Iterator[ir.Node]:
        found = [value for value in read_outside(nodes) if self._moves(value)]
        copied = [node for node in nodes if copies_more(node, found, self._works)]
        left = {value for node in copied for value in node.inputs}
        for value in found:
            maker = value.producer()
            if maker is not None and value not in left:
                yield maker

    def _moves(self, value: ir.Value) -> bool:
        """Whether a value is moved data that may be computed in kernels alone."""
        maker = value.producer()
        work = None if maker is None else self._works.get(maker)
        return maker is not None and work is not None and work.moves and self._for_kernels(maker)

    def _for_kernels(self, node: ir.Node) -> bool:
        """Whether all who read a node's results may be part of kernels."""
        return not any(
            value.is_graph_output() or any(use.node not in self._works for use in value.uses())
            for value in node.outputs
        )
