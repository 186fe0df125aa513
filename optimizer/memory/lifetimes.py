"""Lifetimes of everything a graph keeps in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from optimizer.memory.arena import Arena, LifetimeOptions

_DEFAULT = LifetimeOptions()


def lifetimes(
    graph: ir.Graph,
    options: LifetimeOptions = _DEFAULT,
    *,
    order: Sequence[str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Arena:
    """What `graph` keeps in memory, and for how long.

    Args:
        graph: with inferred shapes and ids.
        options: what may share memory.
        order: ids of the nodes that run, in the order to run them; list order without.
        sizes: of free dimensions, by name. What depends on one without a size is unknown.

    Raises:
        PlanError: `order` is not an order of the graph's nodes.
    """
    raise NotImplementedError
