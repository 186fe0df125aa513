"""Nodes put where a proposal says: new ones among those that stay, which move where they must."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.model.graph import readers
from optimizer.rules.replacement import Replacement
from optimizer.rules.standing import Standing, needs


@dataclass(frozen=True, slots=True)
class Put:
    """Put a node right before another one.

    Attributes:
        item: what is put there.
        before: what it stands before then.
        swaps: whether `before` goes before it again, so that it stands behind: at the end of a list
            there is nothing that it could be put before.
    """

    item: Standing
    before: Standing
    swaps: bool = False


def puts(graph: ir.Graph, proposal: Replacement) -> Iterator[Put]:
    """What has to be put somewhere, in the proposal's order; most nodes stand right already."""
    staying = {item for item in proposal.order if isinstance(item, ir.Node)}
    listed = list(graph)
    waiting = iter([node for node in listed if node in staying])
    placed: set[Standing] = set()
    here, last = next(waiting, None), None
    end: Standing | None = None if listed[-1] in staying else listed[-1]
    for item in proposal.order:
        while here is not None and here in placed:
            here = next(waiting, None)
        if item is here:
            here = next(waiting, None)
        elif (before := here or end) is not None:
            yield Put(item, before)
        else:
            assert last is not None, "a list whose last node stays has a node that was placed"
            yield Put(item, last, swaps=True)
        placed.add(item)
        last = item


def misplaced(graph: ir.Graph, proposal: Replacement) -> str:
    """What is wrong with the order of a proposal; empty if nothing is."""
    asked = _asked(graph, proposal)
    placed: set[Standing] = set()
    for item in proposal.order:
        if (asked is None or item in asked) and any(
            needed not in placed for needed in needs(item, graph, proposal)
        ):
            return "an input of the replacement is computed later"
        placed.add(item)
    rest = {*graph, *proposal.nodes} - placed - {*proposal.matched}
    return "the order of the replacement leaves nodes out" if rest else ""


def _asked(graph: ir.Graph, proposal: Replacement) -> Set[Standing] | None:
    """The only nodes of an order that may stand before what they need; None if all may.

    Where nodes that stay keep their order these are the new ones, and what reads anew.
    """
    staying = [item for item in proposal.order if isinstance(item, ir.Node)]
    stays = {*staying}
    if staying != [node for node in graph if node in stays]:
        return None
    left = (value for node in proposal.matched for value in node.outputs)
    anew = {reader for value in (*left, *proposal.values) for reader in readers(value)}
    anew |= {node for node, _ in proposal.inputs}
    if any(node.graph is not graph for node in anew):
        return None  # in a body: the node that carries it is asked, too
    return {*proposal.nodes, *anew}
