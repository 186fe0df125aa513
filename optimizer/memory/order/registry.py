"""Ways to order the nodes of a graph, and the live peak of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import onnx_ir as ir

from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.registry import Budget

Method = Literal["file", "runtime", "list", "exact"]
ORDERS: Mapping[Method, str] = {
    "file": "As in the file",
    "runtime": "ONNX Runtime's default",
    "list": "Smallest growth first",
    "exact": "Exact search",
}
"""Every method with its title."""

_DEFAULT = LifetimeOptions()


@dataclass(frozen=True, slots=True)
class Order:
    """An order of the nodes that run.

    Attributes:
        method: how it was found.
        nodes: ids of the nodes, in the order to run them.
        peak_bytes: the most activation bytes alive at once.
        proven: no order of these nodes has a smaller peak.
        states: how many the exact search looked at; 0 for the others.
        note: what the method has to say.
    """

    method: Method
    nodes: tuple[str, ...]
    peak_bytes: int
    proven: bool
    states: int = 0
    note: str = ""


def reorder(
    graph: ir.Graph,
    method: Method,
    *,
    options: LifetimeOptions = _DEFAULT,
    sizes: Mapping[str, int] | None = None,
    budget: Budget | None = None,
) -> Order:
    """Order the nodes of `graph` so that less is alive at once.

    Args:
        graph: with inferred shapes and ids.
        method: one of `ORDERS`.
        options: what may share memory; the peak is that of `lifetimes` with the same options.
        sizes: of free dimensions, by name.
        budget: for the exact search; one second without.

    Raises:
        PlanError: sizes are unknown.
    """
    raise NotImplementedError
