"""The bookkeeping behind a value: nodes that nothing else needs."""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from optimizer.model.graph import readers
from optimizer.operators.catalogue import CATALOGUE

MOST_NODES = 256
"""Nodes that one rewrite claims; what is beyond them is removed as dead."""

BOOKKEEPING = frozenset(
    name for (domain, name), op in CATALOGUE.items() if op.contents and not domain
) - {"Constant"}
"""Operators that compute on sizes."""


def exclusive_producers(
    ends: Iterable[ir.Node | None], *, around: Iterable[ir.Node] = ()
) -> list[ir.Node]:
    """Bookkeeping nodes that are needed by `around` and by each other alone, back from `ends`.

    Args:
        ends: nodes to start from.
        around: nodes that may use their results.

    Returns: the nodes, consumers before producers.
    """
    inside: dict[ir.Node, None] = dict.fromkeys(around)
    outer = len(inside)
    pending = [node for node in ends if node is not None]
    while pending and len(inside) < MOST_NODES:
        node = pending.pop()
        if node in inside or node.op_type not in BOOKKEEPING or node.domain:
            continue
        if not all(_only_in(value, inside) for value in node.outputs):
            continue
        inside[node] = None
        pending.extend(p for v in node.inputs if v is not None and (p := v.producer()) is not None)
    return list(inside)[outer:]


def _only_in(value: ir.Value, nodes: dict[ir.Node, None]) -> bool:
    return not value.is_graph_output() and all(reader in nodes for reader in readers(value))
