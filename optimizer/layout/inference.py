"""Layouts of all values of a graph, from what its operators ask for.

A convolution says that its data are NCHW. Everything else follows, forwards and backwards: what
works element by element keeps the meaning of axes, Transpose moves it, Reshape merges and cuts it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.collection import collection_paused
from optimizer.constants import is_constant_node
from optimizer.cost.sizes import FixedSizes, Sizes
from optimizer.errors import quoted
from optimizer.findings import Finding
from optimizer.layout.axes import Axis, merged, resized, split, text_of
from optimizer.layout.relations import Meant, Place, Related, relations
from optimizer.model.graph import walk_nodes
from optimizer.operators.layouts import LAYOUTS

UNKNOWN = "·"
"""Stands for an axis of which nothing is known."""


@dataclass(frozen=True, slots=True)
class LayoutContradiction:
    """An axis that would have to mean two things.

    Attributes:
        node: where both meet.
        value: of which the axis is.
        axis: which one.
        meant: what it is, and what the node takes it for.
    """

    node: ir.Node
    value: ir.Value
    axis: int
    meant: tuple[str, str]

    @property
    def finding(self) -> Finding:
        """What a person should know about it."""
        known, taken = self.meant
        return Finding(
            "warning",
            f"node {quoted(self.node.name or self.node.op_type)}",
            f"Axis {self.axis} of {quoted(self.value.name or '')} is {known}, and "
            f"{self.node.op_type} takes it for {taken}.",
            "Look for a Transpose that is missing or one too many before it.",
        )


@dataclass(frozen=True, slots=True)
class Layouts:
    """What was found.

    Attributes:
        of: layouts of the values of which anything is known: `NCHW`, `N(HW)C`, `NC1HWC0`, `NCHWc8`,
            `N·C`.
        axes: what each axis of these values is called.
        contradictions: the first one of each axis.
    """

    of: Mapping[ir.Value, str]
    axes: Mapping[ir.Value, Sequence[str]]
    contradictions: Sequence[LayoutContradiction]


def layouts(graph: ir.Graph) -> Mapping[ir.Value, str]:
    """The layouts of a graph's values as short tags; nothing of those of which nothing follows."""
    return infer_layouts(graph).of


def infer_layouts(graph: ir.Graph, sizes: Sizes | None = None) -> Layouts:
    """The layouts of all values, bodies included.

    Args:
        graph: with shapes.
        sizes: of free dimensions; without, what is usual (`optimizer.free_sizes`).
    """
    search = _Search(sizes or FixedSizes.of(graph))
    with collection_paused():
        for node in walk_nodes(graph):
            if not is_constant_node(node):
                search.add(node)
        search.run()
    axes = search.axes()
    tags = {value: search.tag(value, texts) for value, texts in axes.items()}
    return Layouts(tags, axes, tuple(search.contradictions.values()))


class _Search:
    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._known: dict[Place, Axis] = {}
        self._about: dict[Place, list[tuple[ir.Node, Related]]] = {}
        self._pending: deque[Place] = deque()
        self._asked: list[tuple[ir.Node, Meant]] = []
        self._processor = False
        self.contradictions: dict[Place, LayoutContradiction] = {}

    def add(self, node: ir.Node) -> None:
        wanted = node.attributes.get("dst_format") if node.domain == LAYOUTS else None
        if wanted is not None and wanted.as_string().startswith("NCHWc"):
            self._processor = True
        for found in relations(node, self._sizes):
            if isinstance(found, Meant):
                self._asked.append((node, found))
                continue
            for place in (*found.left, *found.right):
                self._about.setdefault(place, []).append((node, found))

    def run(self) -> None:
        # Where one operator knows an image and another a row, the image says more.
        ranks = {self._rank(meant.at) for _, meant in self._asked}
        for rank in sorted(ranks, reverse=True):
            for node, meant in self._asked:
                if self._rank(meant.at) == rank:
                    self._learn(node, meant.at, meant.axis(self._size(meant.at)))
            while self._pending:
                for reader, related in self._about.get(self._pending.popleft(), ()):
                    self._follow(reader, related.left, related.right)
                    self._follow(reader, related.right, related.left)

    def axes(self) -> dict[ir.Value, list[str]]:
        return {
            value: _parts([self._text((value, axis)) for axis in range(self._rank((value, 0)))])
            for value in dict.fromkeys(value for value, _ in self._known)
        }

    def tag(self, value: ir.Value, axes: Sequence[str]) -> str:
        text = "".join(f"({axis})" if sum(map(str.isupper, axis)) > 1 else axis for axis in axes)
        if text != "NC1HWC0" or not (self._processor or self._size((value, 4)) == 8):
            return text
        return f"NCHWc{self._size((value, 4))}"  # a cube's blocks are never of eight

    def _follow(self, node: ir.Node, known: Sequence[Place], unknown: Sequence[Place]) -> None:
        """What one side says about the other."""
        if len(known) == len(unknown) == 1:
            axis = self._known.get(known[0])
            part = None if axis is None else resized(axis, self._size(unknown[0]))
            if part:
                self._learn(node, unknown[0], part)
            return
        axes = [self._known.get(place) for place in known]
        here = [axis for axis in axes if axis is not None]
        if len(here) < len(axes) or not axes:
            return
        parts = split(merged(here), [self._size(place) for place in unknown])
        for place, part in zip(unknown, parts or (), strict=False):
            if part:
                self._learn(node, place, part)

    def _learn(self, node: ir.Node, place: Place, axis: Axis) -> None:
        before = self._known.get(place)
        if before is None:
            self._known[place] = axis
            self._pending.append(place)
        elif before is not axis and _kind(before) != _kind(axis):
            meant = (text_of(before), text_of(axis))
            self.contradictions.setdefault(place, LayoutContradiction(node, *place, meant))

    def _text(self, place: Place) -> str:
        axis = self._known.get(place)
        return UNKNOWN if axis is None else text_of(axis)

    def _rank(self, place: Place) -> int:
        return len(self._sizes.shape(place[0]) or ())

    def _size(self, place: Place) -> int:
        value, axis = place
        return (self._sizes.shape(value) or ())[axis]


def _parts(texts: list[str]) -> list[str]:
    """Blocks are blocks where one of them holds the whole axis: C1 beside C is C1 beside C0."""
    return [f"{text}0" if f"{text}1" in texts else text for text in texts]


def _kind(axis: Axis) -> str:
    """What an axis must not be taken for anything else: batch, channels, or places."""
    return "".join(sorted({digit.name if digit.name in "NC" else "places" for digit in axis}))
