"""Walks over the graphs and node lists of a model file, bodies and functions included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto

from optimizer.model.report import Place

_WITH_GRAPHS = frozenset({AttributeProto.GRAPH, AttributeProto.GRAPHS})


def bodies_of(attribute: AttributeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs an attribute holds, each with a name for it."""
    if attribute.type == AttributeProto.GRAPH:
        yield attribute.name, attribute.g
    elif attribute.type == AttributeProto.GRAPHS:
        for index, graph in enumerate(attribute.graphs):
            yield f"{attribute.name}[{index}]", graph


def body_protos(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs in a node's attributes, each with the attribute's name."""
    for attribute in node.attribute:
        yield from bodies_of(attribute)


def bodies_below(
    nodes: Iterable[NodeProto], around: Place | None = None
) -> Iterator[tuple[GraphProto, Place]]:
    """Every body under `nodes`, at any depth, with its place."""
    stack: list[tuple[Iterable[NodeProto], Place | None]] = [(nodes, around)]
    while stack:
        current, place = stack.pop()
        for number, node in enumerate(current, 1):
            if not any(attribute.type in _WITH_GRAPHS for attribute in node.attribute):
                continue
            owner = Place("node", node.name, around=place, number=number)
            for name, body in body_protos(node):
                inside = Place("body", name, around=owner)
                yield body, inside
                stack.append((body.node, inside))


def all_graphs(proto: ModelProto) -> Iterator[tuple[GraphProto, Place | None]]:
    """The main graph and every body, those in functions included."""
    yield proto.graph, None
    yield from bodies_below(proto.graph.node)
    for function in proto.functions:
        yield from bodies_below(function.node, Place("function", function.name))


def node_lists(proto: ModelProto) -> Iterator[MutableSequence[NodeProto]]:
    """The nodes of every graph, body and function."""
    for graph, _ in all_graphs(proto):
        yield graph.node
    for function in proto.functions:
        yield function.node


class FreshNames:
    """Makes names that are not taken, in constant time each."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def make(self, wish: str, *, numbered: bool = False) -> str:
        """`wish` if it is free, else, or if it is to be `numbered`, with the first free number."""
        name, number = wish, self._next.get(wish, 1)
        while numbered or name in self._taken:
            name, number = f"{wish}_{number}", number + 1
            numbered = False
        self._next[wish] = number
        self._taken.add(name)
        return name


def value_names(proto: ModelProto) -> Iterator[str]:
    """Names of all values in the graphs of a model."""
    for graph, _ in all_graphs(proto):
        yield from (info.name for info in graph.input)
        yield from (tensor.name for tensor in graph.initializer)
    for nodes in node_lists(proto):
        for node in nodes:
            yield from node.output
