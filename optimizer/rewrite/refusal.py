"""What must hold for every rewrite, whatever the rule.

The list order stays topological, values are visible where they are used, graph inputs and outputs
keep their names and number, but for inputs that a pass on request fixes to their defaults, and a
value is never replaced by one of another type or size.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

import onnx_ir as ir

from optimizer.rewrite.edited_graph import EditedGraph
from optimizer.rewrite.ordering import misplaced
from optimizer.rewrite.vetoes import leaving_nodes
from optimizer.rewrite.waiting import in_the_way, waiting_nodes
from optimizer.rules.replacement import NewInitializer, NewOutput, Operand, Replacement

_PLANNED = (NewOutput, NewInitializer)
"""Operands that are no values yet. Whether something is a value is asked of a protocol: slowly."""


class Refused(Exception):
    """The replacement may not be applied here; the text says why, in words a user can act on."""


def check(edited: EditedGraph, root: ir.Node, proposal: Replacement) -> None:
    """Refuse a proposal that would break the graph.

    Raises:
        Refused: with the condition that fails.
    """
    graph = root.graph
    if not isinstance(graph, ir.Graph):
        raise Refused("the node is no longer in the graph")
    if any(node.graph is not graph for node in proposal.matched):
        raise Refused("the pattern crosses the border of a body graph")
    _check_places(edited, root, graph, proposal)
    if not all(value.is_graph_input() and value.is_initializer() for value in proposal.fixed):
        raise Refused("a graph input without a default cannot be left out")
    claimed: set[object] = set()
    for old, operand in proposal.values.items():
        _check_type(old, operand, proposal.types)
        _check_name(old, operand, claimed)


def _check_places(
    edited: EditedGraph, root: ir.Node, graph: ir.Graph, proposal: Replacement
) -> None:
    """What is read is computed before, whether new nodes stand at the root or where they say."""
    if proposal.order:
        if problem := misplaced(graph, proposal):
            raise Refused(problem)
        return
    standing = float("-inf")
    for new in proposal.nodes:
        before = proposal.stands.get(new, root)
        if before.graph is not graph or edited.position(before) < standing:
            raise Refused("an input of the replacement is computed later")
        standing = edited.position(before)
        for operand in new.reads():
            _check_order(edited, before, operand)
    waiting = dict.fromkeys(waiting_nodes(edited, root, proposal))
    if in_the_way(waiting, proposal):
        raise Refused("the replacement needs what it gives")
    if all(_is_in_time(edited, root, proposal, old, waiting) for old in proposal.values):
        return
    leaving = leaving_nodes(proposal, edited.position)
    if not all(
        _is_in_time(edited, root, proposal, old, {*waiting, *leaving}) for old in proposal.values
    ):
        raise Refused("a consumer stands before the replacement")


def _check_order(edited: EditedGraph, root: ir.Node, operand: Operand | None) -> None:
    """Inputs of what comes right before a node are defined before it and visible there."""
    if operand is None or isinstance(operand, _PLANNED):
        return
    home = _home(operand)
    graph = root.graph
    assert isinstance(graph, ir.Graph)
    if home is not graph and (home is None or home not in edited.state.scopes(graph)):
        raise Refused("an input of the replacement is not visible here")
    producer = operand.producer()
    if producer is not None and not edited.precedes(producer, root):
        raise Refused("an input of the replacement is computed later")


def _is_in_time(
    edited: EditedGraph,
    root: ir.Node,
    proposal: Replacement,
    old: ir.Value,
    excused: Container[ir.Node],
) -> bool:
    """Whether what takes the place of a value is there before the value's first consumer.

    Those are excused that go away, or are put elsewhere.
    """
    operand = proposal.values[old]
    if isinstance(operand, NewInitializer):
        return True
    if isinstance(operand, NewOutput):
        anchor = proposal.stands.get(operand.node, root)
    else:
        anchor = operand.producer()
        if anchor is not root:
            _check_order(edited, root, operand)
    if anchor is None:
        return True
    for use in old.uses():
        consumer = edited.around(use.node, anchor.graph)
        if consumer is None or consumer in excused:
            continue
        if edited.position(consumer) < edited.position(anchor):
            return False
    return True


def _check_type(old: ir.Value, operand: Operand, types: Mapping[ir.Value, ir.DataType]) -> None:
    if isinstance(operand, NewOutput):
        return
    if isinstance(operand, NewInitializer):
        dtype = operand.tensor.dtype
    else:
        dtype = types.get(operand, operand.dtype)
    wanted = types.get(old, old.dtype)
    if wanted is not None and dtype is not None and wanted != dtype:
        raise Refused(f"the replacement is {dtype}, the value is {wanted}")
    shape = operand.tensor.shape if isinstance(operand, NewInitializer) else operand.shape
    if old.shape is None or shape is None:
        return
    if len(old.shape) != len(shape):
        raise Refused(f"the replacement has rank {len(shape)}, the value rank {len(old.shape)}")
    for mine, other in zip(old.shape, shape, strict=True):
        if isinstance(mine, int) and isinstance(other, int) and mine != other:
            raise Refused(f"the replacement has shape {shape}, the value {old.shape}")


def _check_name(old: ir.Value, operand: Operand, claimed: set[object]) -> None:
    """A graph output keeps its name, so its replacement must be free to take it."""
    if not old.is_graph_output() or isinstance(operand, NewInitializer):
        return
    identity = (operand.node, operand.index) if isinstance(operand, NewOutput) else operand
    if identity in claimed:
        raise Refused("two graph outputs would become the same value")
    claimed.add(identity)
    if isinstance(operand, NewOutput):
        return
    if operand.is_graph_input():
        raise Refused("a graph output would become a graph input")
    if operand.is_graph_output():
        raise Refused("two graph outputs would become the same value")
    if operand.is_initializer():
        raise Refused("a graph output would become an initializer")
    if _home(operand) is not _home(old):
        raise Refused("an output of a body would become a value from outside")


def _home(value: ir.Value) -> ir.Graph | None:
    """The graph a value lives in."""
    producer = value.producer()
    graph = producer.graph if producer is not None else value.graph
    return graph if isinstance(graph, ir.Graph) else None
