"""Writes an order into a model."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.model.graph import Model


def apply_order(model: Model, nodes: Sequence[str]) -> Model:
    """A copy of `model` whose nodes stand in this order; ids, names and bodies stay as they are.

    Args:
        model: stays as it is.
        nodes: ids of the main graph's nodes that run; constants go to their first readers.

    Raises:
        PlanError: not all nodes are there, or one stands before what it reads.
    """
    raise NotImplementedError
