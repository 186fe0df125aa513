"""Walks over the graphs and node lists of a model file, bodies and functions included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto

from optimizer.model.report import Place

_WITH_GRAPHS = frozenset({AttributeProto.GRAPH, AttributeProto.GRAPHS})


def body_protos(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs in a node's attributes, each with the attribute's name."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.name, attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            for index, graph in enumerate(attribute.graphs):
                yield f"{attribute.name}[{index}]", graph


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
    """Makes value names that no graph of a model uses."""

    def __init__(self, proto: ModelProto) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}
        for graph, _ in all_graphs(proto):
            self._taken.update(info.name for info in graph.input)
            self._taken.update(tensor.name for tensor in graph.initializer)
        for nodes in node_lists(proto):
            for node in nodes:
                self._taken.update(node.output)

    def make(self, wish: str) -> str:
        """`wish` if it is free, else `wish` with the first number that makes it so."""
        name, number = wish, self._next.get(wish, 1)
        while name in self._taken:
            name, number = f"{wish}_{number}", number + 1
        self._next[wish] = number
        self._taken.add(name)
        return name
