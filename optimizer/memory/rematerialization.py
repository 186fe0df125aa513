"""Computing values again instead of keeping them: less memory for more arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.registry import Budget
from optimizer.model.graph import Model

_DEFAULT = LifetimeOptions()

Copy = tuple[str, str]
"""Ids of a node, and of the node just before which it runs again."""


@dataclass(frozen=True, slots=True)
class Rematerialized:
    """A point of the curve.

    Attributes:
        extra_flops: operations on top.
        part: the same as a part of all operations; 0.1 is ten percent more.
        peak_bytes: the most activation bytes alive at once.
        copies: what runs again, see `with_copies`.
    """

    extra_flops: int
    part: float
    peak_bytes: int
    copies: tuple[Copy, ...]


def rematerialize(
    graph: ir.Graph,
    order: Sequence[str] | None = None,
    *,
    options: LifetimeOptions = _DEFAULT,
    sizes: Mapping[str, int] | None = None,
    most_extra: float = 1.0,
    budget: Budget | None = None,
) -> tuple[Rematerialized, ...]:
    """The peak for ever more arithmetic; the first point is the graph as it is.

    Args:
        graph: with inferred shapes and ids.
        order: ids of the nodes that run; list order without.
        options: what may share memory.
        sizes: of free dimensions, by name.
        most_extra: the end of the curve, as a part of all operations.
        budget: wall clock for the whole curve; one second without.

    Raises:
        PlanError: sizes are unknown.
    """
    raise NotImplementedError


def with_copies(model: Model, copies: Sequence[Copy]) -> Model:
    """A copy of `model` in which some nodes run again, just before others; its outputs are equal.

    Readers from there on read the latest copy. Copies before one node run in list order.

    Raises:
        PlanError: a node is not there, or a copy would run before what it reads.
    """
    raise NotImplementedError
