"""Makes names unambiguous: every node's is unique, no value's hides one of a graph around it.

ONNX Runtime refuses two nodes of one name. Names of the model's inputs and outputs never change.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from optimizer.limits import Limits
from optimizer.model.graph import bodies, walk_graphs, walk_nodes
from optimizer.model.nesting import FreshNames
from optimizer.model.report import Findings
from optimizer.numbers import counted


def name_nodes(model: ir.Model, *, limits: Limits, report: Findings) -> None:
    """Name the unnamed, renumber the repeated and cut the overlong, in document order."""
    nodes = list(walk_nodes(model.graph))
    fresh = FreshNames(node.name or "" for node in nodes)
    seen: set[str] = set()
    unnamed = repeated = cut = 0
    for node in nodes:
        name = node.name or ""
        if name and name not in seen and len(name) <= limits.name:
            seen.add(name)
            continue
        unnamed += not name
        cut += len(name) > limits.name
        repeated += name in seen
        node.name = fresh.make(_cut(name, limits.name) or node.op_type, numbered=True)
        seen.add(node.name)
    for count, what in (
        (unnamed, "had no name and got one"),
        (repeated, "shared a name with another and got a number"),
        (cut, f"had a name of more than {limits.name:,} characters, which was cut"),
    ):
        if count:
            report.note("model", f"{counted(count, 'node')} {what}.")


def name_values(model: ir.Model, *, limits: Limits, report: Findings) -> None:
    """Rename values in bodies that hide a value around them, and cut overlong inner names."""
    graphs = list(walk_graphs(model.graph))
    interface = {*model.graph.inputs, *model.graph.outputs}
    overlong = [
        value
        for graph in graphs
        for value in _values(graph)
        if len(value.name or "") > limits.name and value not in interface
    ]
    hiding = list(_hiding(model.graph)) if len(graphs) > 1 else []
    if not overlong and not hiding:
        return
    fresh = FreshNames(value.name or "" for graph in graphs for value in _values(graph))
    for value in dict.fromkeys([*overlong, *hiding]):
        value.name = fresh.make(_cut(value.name or "", limits.name), numbered=True)
    if hiding:
        message = (
            f"{counted(len(hiding), 'value')} in bodies hid a value outside and got a new name."
        )
        report.note("model", message)
    if overlong:
        message = (
            f"{counted(len(overlong), 'value')} had a name of more than {limits.name:,} characters."
        )
        report.note("model", f"{message} It was cut.")


def _cut(name: str, limit: int) -> str:
    return name if len(name) <= limit else name[: limit // 2] + "…"


def _values(graph: ir.Graph) -> Iterator[ir.Value]:
    """The values that a graph itself defines."""
    yield from graph.inputs
    for value in graph.initializers.values():
        if not value.is_graph_input():
            yield value
    for node in graph:
        yield from node.outputs


def _hiding(main: ir.Graph) -> Iterator[ir.Value]:
    """Values of bodies whose name an enclosing graph also uses.

    ONNX's own operators match the inputs and outputs of bodies by position, others may go by name
    (ONNX Runtime's BeamSearch does), so of theirs only the inner values are renamed.
    """
    stack: list[tuple[ir.Graph, tuple[set[str], ...], set[ir.Value]]] = [(main, (), set())]
    while stack:
        graph, around, fixed = stack.pop()
        names: set[str] = set()
        for value in _values(graph):
            name = value.name or ""
            if name and value not in fixed and any(name in outer for outer in around):
                yield value
            names.add(name)
        for node in graph:
            for body in bodies(node):
                interface = {*body.inputs, *body.outputs} if node.domain else set[ir.Value]()
                stack.append((body, (*around, names), interface))
