"""Matches of another project's rules as data, and the names by which both processes know a graph.

Nodes are counted in document order, `n0`, and so are inputs and initializers, `w0`; what node `n0`
makes is `n0:0`. What rules add is counted on: nodes `+0`, constants `c0`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.model.graph import walk_graphs, walk_nodes


@dataclass(frozen=True, slots=True)
class AddedNode:
    """A node that a rule adds.

    Attributes:
        name: `+` and its number.
        domain: "" is ONNX's own.
        inputs: names of values, None for one that is left out.
        attributes: each an AttributeProto.
        outputs: how many.
    """

    name: str
    op_type: str
    domain: str
    inputs: tuple[str | None, ...]
    attributes: tuple[bytes, ...]
    outputs: int


@dataclass(frozen=True, slots=True)
class AddedConstant:
    """A constant that a rule adds: its name, what the rule calls it, a TensorProto."""

    name: str
    hint: str
    tensor: bytes


@dataclass(frozen=True, slots=True)
class FoundMatch:
    """One match of a rule, as it was carried out on the worker's copy.

    Attributes:
        rule: its name.
        place: the name of the first output of the pattern's root, as models have it.
        matched: nodes of the pattern.
        values: old output -> what takes its place.
        nodes: new ones, producers before consumers.
        constants: new ones.
        opsets: operator sets that the model did not import.
        closed: whether every operator of the graph is one that something runs, once this is done.
    """

    rule: str
    place: str
    matched: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    nodes: tuple[AddedNode, ...]
    constants: tuple[AddedConstant, ...]
    opsets: tuple[tuple[str, int], ...]
    closed: bool


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Where a rule did not act, and why.

    Attributes:
        root: the node it was asked about.
        nodes: those of the pattern.
        raised: whether the rule raised, which is a fault and no near miss.
    """

    rule: str
    root: str
    reason: str
    nodes: tuple[str, ...] = ()
    unlock: str = ""
    raised: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What rules do to a model, match by match, and where they nearly do."""

    matches: tuple[FoundMatch, ...]
    near_misses: tuple[NearMiss, ...]


@dataclass(slots=True)
class Numbering:
    """Names of all nodes and values of a model."""

    nodes: dict[str, ir.Node] = field(default_factory=dict[str, ir.Node])
    values: dict[str, ir.Value] = field(default_factory=dict[str, ir.Value])

    @staticmethod
    def of(model: ir.Model) -> Numbering:
        """Counted anew, as the model is by now."""
        made = Numbering()
        for number, value in enumerate(_given(model.graph)):
            made.values[f"w{number}"] = value
        for number, node in enumerate(walk_nodes(model.graph)):
            made.add(f"n{number}", node)
        return made

    def add(self, name: str, node: ir.Node) -> None:
        """One more node."""
        self.nodes[name] = node
        for index, output in enumerate(node.outputs):
            self.values[f"{name}:{index}"] = output


def _given(graph: ir.Graph) -> Iterator[ir.Value]:
    """Inputs and initializers of all graphs; initializers by name, as they are written."""
    for one in walk_graphs(graph):
        yield from one.inputs
        for value in sorted(one.initializers.values(), key=lambda value: value.name or ""):
            if not value.is_graph_input():
                yield value
