"""Subgraphs that stand in a graph several times, wired alike: layers, blocks.

Each node has a label, and a repeat is a part of the list of labels that occurs again. Nothing leads
out of a part of the list of nodes and back in, so it can be one node. What the labels do not say,
who reads whom, is compared afterwards; an occurrence that other nodes stand between is found from
its last node upwards.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import pairwise, takewhile

import onnx_ir as ir

from optimizer.constants import is_constant_node, tensor_in
from optimizer.model.graph import bodies
from optimizer.model.repeated_text import Repeated, repeated, sorted_suffixes
from optimizer.model.scopes import scope_path
from optimizer.operators.catalogue import is_random

_CANDIDATES = 48
"""Of the most promising repeats, how many are compared."""
_LOOKED_AT = 40
"""Places that are looked at in a search, for each node of the graph."""
_MOST_FOUND = 32
"""Different repeats of one graph."""
_LARGEST_ATTRIBUTE_BYTES = 1 << 12
_PLAIN = frozenset(
    {
        ir.AttributeType.FLOAT, ir.AttributeType.FLOATS, ir.AttributeType.INT,
        ir.AttributeType.INTS, ir.AttributeType.STRING, ir.AttributeType.STRINGS,
    }
)  # fmt: skip

Occurrence = tuple[ir.Node, ...]
"""The nodes of one, those of another one at the same places."""
Source = tuple[int, int] | str
"""What an input reads: an output of a node inside, something outside, or nothing."""
Wiring = tuple[tuple[Source, ...], ...]
INSIDE_NOT, MISSING = "outside", "missing"


@dataclass(frozen=True, slots=True)
class Repeat:
    """A subgraph that occurs several times.

    Attributes:
        occurrences: in the order of their last nodes; they share no node.
        wiring: of each node, what its inputs read.
    """

    occurrences: tuple[Occurrence, ...]
    wiring: Wiring

    @property
    def size(self) -> int:
        """Nodes of one occurrence."""
        return len(self.wiring)

    @property
    def saved(self) -> int:
        """Nodes that need not be written again."""
        return (len(self.occurrences) - 1) * self.size


def find_repeats(
    graph: ir.Graph, *, least_nodes: int, apart: Iterable[str] = ()
) -> Iterator[Repeat]:
    """Repeats of a graph that have no node in common, the one that saves most first.

    Args:
        graph: its nodes are sorted.
        least_nodes: of an occurrence.
        apart: domains of nodes that belong to none.
    """
    nodes = [node for node in graph if not is_constant_node(node)]
    search = _Search(nodes, least_nodes, frozenset(apart))
    for _ in range(_MOST_FOUND):
        found = search.best()
        if found is None:
            return
        search.take(found)
        yield found


def wiring_of(nodes: Sequence[ir.Node]) -> Wiring:
    """What each input of each node reads, of the nodes themselves and their outputs by place."""
    made = {v: (k, o) for k, node in enumerate(nodes) for o, v in enumerate(node.outputs)}
    return tuple(tuple(_source(value, made) for value in node.inputs) for node in nodes)


def common_scope(nodes: Iterable[ir.Node]) -> tuple[str, ...]:
    """The scopes that all nodes are in, as far as they tell, outermost first."""
    paths = [path for node in nodes if (path := scope_path(node))]
    return tuple(
        parts[0] for parts in takewhile(lambda p: len({*p}) == 1, zip(*paths, strict=False))
    )


def _source(value: ir.Value | None, made: Mapping[ir.Value, tuple[int, int]]) -> Source:
    return MISSING if value is None else made.get(value, INSIDE_NOT)


class _Search:
    """Repeats among the nodes that are in none yet."""

    def __init__(self, nodes: list[ir.Node], least_nodes: int, apart: frozenset[str]) -> None:
        self._nodes, self._least = nodes, least_nodes
        self._places = {node: place for place, node in enumerate(nodes)}
        alphabet: dict[object, int] = {}
        keys = (node_key(node, apart) for node in nodes)
        self._labels = [
            -1 - place if key is None else alphabet.setdefault(key, place)
            for place, key in enumerate(keys)
        ]

    def take(self, found: Repeat) -> None:
        """Leave out the nodes of a repeat from now on: each has a label of its own."""
        for node in (node for occurrence in found.occurrences for node in occurrence):
            self._labels[self._places[node]] = -1 - self._places[node]

    def best(self) -> Repeat | None:
        """The repeat that saves most; of those that save the same, the one within one scope."""
        found: list[Repeat] = []
        most = 0
        for windows in self._promising():
            if _bound(windows) < most:
                break  # those that follow save no more than this one could
            one = self._verified(windows)
            if one is not None and one.saved >= most:
                found, most = [*found, one] if one.saved == most else [one], one.saved
        return self._completed(max(found, key=_worth)) if found else None

    def _promising(self) -> list[list[range]]:
        """Windows that read the same, of the repeats that would save most."""
        if len(self._labels) < 2 * self._least:
            return []
        order, lengths = sorted_suffixes(self._labels)
        size = len(self._labels)

        def bound(one: Repeated) -> int:
            return min((one.places - 1) * one.length, size)

        budget, windows = _LOOKED_AT * size, list[list[range]]()
        long = [one for one in repeated(lengths) if one.length >= self._least]
        for one in sorted(long, key=bound, reverse=True):
            budget -= one.places
            if budget < 0:
                break
            places = sorted(order[one.first : one.last + 1])
            windows.extend(self._windows(places, one.length))
        return nlargest(_CANDIDATES, windows, key=lambda w: (_bound(w), -w[0].start))

    def _windows(self, places: list[int], length: int) -> Iterator[list[range]]:
        """Windows at these places that do not overlap: of a run of layers each is one layer."""
        apart = min(after - before for before, after in pairwise(places))
        for size in {min(length, apart), length}:
            chosen: list[range] = []
            for place in places:
                if not chosen or place >= chosen[-1].stop:
                    chosen.append(range(place, place + size))
            if size >= self._least and len(chosen) > 1:
                yield chosen

    def _verified(self, windows: list[range]) -> Repeat | None:
        """The largest group of windows in which the same nodes read the same nodes."""
        groups: dict[Wiring, list[Occurrence]] = defaultdict(list)
        for window in windows:
            nodes = tuple(self._nodes[window.start : window.stop])
            groups[wiring_of(nodes)].append(nodes)
        wiring, found = max(groups.items(), key=lambda group: len(group[1]))
        return Repeat(tuple(found), wiring) if len(found) > 1 else None

    def _completed(self, found: Repeat) -> Repeat:
        """With the occurrences that other nodes stand between."""
        pattern = [self._labels[self._places[node]] for node in found.occurrences[0]]
        taken = {node for occurrence in found.occurrences for node in occurrence}
        more: list[Occurrence] = []
        for node, label in zip(self._nodes, self._labels, strict=True):
            if label != pattern[-1] or node in taken:
                continue
            embedded = self._embedded(found.wiring, pattern, node)
            if embedded and taken.isdisjoint(embedded) and self._closed(embedded):
                taken.update(embedded)
                more.append(embedded)
        everything = [*found.occurrences, *more]
        return Repeat(tuple(sorted(everything, key=self._end)), found.wiring)

    def _end(self, occurrence: Occurrence) -> int:
        return max(self._places[node] for node in occurrence)

    def _embedded(self, wiring: Wiring, pattern: list[int], last: ir.Node) -> Occurrence | None:
        """The occurrence with this last node, as its wiring leads to the others; None for none."""
        found: dict[int, ir.Node] = {len(pattern) - 1: last}
        for place in reversed(range(len(pattern))):
            node = found.get(place)
            if node is None or self._labels[self._places[node]] != pattern[place]:
                return None
            for value, source in zip(node.inputs, wiring[place], strict=True):
                if isinstance(source, str):
                    continue
                producer = None if value is None else value.producer()
                if producer not in self._places or found.get(source[0], producer) is not producer:
                    return None
                found[source[0]] = producer
        nodes = tuple(found[place] for place in range(len(pattern)))
        return nodes if len({*nodes}) == len(nodes) and wiring_of(nodes) == wiring else None

    def _closed(self, nodes: Occurrence) -> bool:
        """Whether nothing leads out of these nodes and back in."""
        inside, after = set(nodes), set[ir.Node]()
        places = sorted(self._places[node] for node in nodes)
        for node in self._nodes[places[0] : places[-1] + 1]:
            reads = {value.producer() for value in node.inputs if value is not None}
            if node in inside:
                if not after.isdisjoint(reads):
                    return False
            elif not inside.isdisjoint(reads) or not after.isdisjoint(reads):
                after.add(node)
        return True


def _bound(windows: list[range]) -> int:
    """What is saved at most, where all windows are wired alike."""
    return (len(windows) - 1) * len(windows[0])


def _worth(found: Repeat) -> tuple[int, int]:
    """Of what saves the same: how far all lie in a scope of their own, and how few values cross."""
    scopes = [common_scope(nodes) for nodes in found.occurrences]
    return min(map(len, scopes)), -_crossing(found.occurrences[0])


def _crossing(nodes: Occurrence) -> int:
    inside = set(nodes)
    computed = {
        value
        for node in nodes
        for value in node.inputs
        if value is not None and (maker := value.producer()) is not None and maker not in inside
    }
    given = [
        v for node in nodes for v in node.outputs if any(u.node not in inside for u in v.uses())
    ]
    return len(computed) + len(given)


def node_key(node: ir.Node, apart: Container[str] = ()) -> object:
    """What two nodes that do the same have in common; None for one that is like no other."""
    if node.domain in apart or any(True for _ in bodies(node)) or is_random(node):
        return None
    attributes = [_attribute_key(attribute) for attribute in node.attributes.values()]
    if None in attributes:
        return None
    inputs = tuple(value is None for value in node.inputs)
    outputs = tuple(not value.name for value in node.outputs)
    told = frozenset(attributes)
    return node.domain, node.op_type, node.overload, node.version, inputs, outputs, told


def _attribute_key(attribute: ir.Attr) -> object:
    """An attribute by its bits; None for one that is not compared."""
    if attribute.is_ref():
        return None
    if attribute.type == ir.AttributeType.TENSOR:
        tensor = tensor_in(attribute)
        if tensor.nbytes > _LARGEST_ATTRIBUTE_BYTES or tensor.dtype == ir.DataType.STRING:
            return None
        return attribute.name, tensor.dtype, tuple(tensor.shape.numpy()), tensor.tobytes()
    if attribute.type not in _PLAIN:
        return None
    value: object = attribute.value
    if attribute.type == ir.AttributeType.FLOAT:
        value = array("f", [attribute.as_float()]).tobytes()
    elif attribute.type == ir.AttributeType.FLOATS:
        value = array("f", attribute.as_floats()).tobytes()
    return attribute.name, attribute.type, value
