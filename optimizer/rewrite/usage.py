"""What a rewrite leaves without a use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Set

import onnx_ir as ir


def is_needed(value: ir.Value) -> bool:
    """Whether a node reads the value or a graph returns it."""
    return bool(value.uses()) or value.is_graph_output()


def leaving_nodes(
    matched: Iterable[ir.Node],
    replaced: Collection[ir.Value],
    position: Callable[[ir.Node], float],
) -> Set[ir.Node]:
    """The matched nodes that nothing will need any more, so that their names become free."""
    leaving: set[ir.Node] = set()
    for node in sorted(matched, key=position, reverse=True):
        rest = (value for value in node.outputs if value not in replaced)
        if not any(
            value.is_graph_output() or any(use.node not in leaving for use in value.uses())
            for value in rest
        ):
            leaving.add(node)
    return leaving
