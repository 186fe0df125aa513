"""One graph in every order of its nodes, and the models that have one of them."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.isolation import Progress
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import ORDERS, Order, reorder
from optimizer.memory.registry import Budget
from optimizer.rewrite.graph_at import TraceFiles
from studio.artifacts.artifact import Artifact, Value
from studio.memory.subject import ArenaRequest, open_step


@dataclass(frozen=True, slots=True)
class Orders:
    """Every method's order.

    Attributes:
        found: in the order of the registry; without nodes where a method failed, `note` says why.
        floor_bytes: the largest single operator: no order needs less.
    """

    found: tuple[Order, ...]
    floor_bytes: int

    @property
    def worked(self) -> tuple[Order, ...]:
        """Those that gave an order."""
        return tuple(order for order in self.found if order.nodes)

    def of(self, method: str) -> Order | None:
        """The order of a method that worked."""
        return next((order for order in self.worked if order.method == method), None)

    @property
    def best(self) -> Order:
        """The one with the smallest peak; of equals the file's own, then a proven one."""
        return min(self.worked, key=lambda o: (o.peak_bytes, o.method != "file", not o.proven))

    @property
    def proven(self) -> bool:
        """Whether no order has a smaller peak than the best one."""
        return any(o.proven and o.peak_bytes == self.best.peak_bytes for o in self.worked)


def find_orders(
    files: TraceFiles, request: tuple[ArenaRequest, float], *, progress: Progress
) -> Orders:
    """The orders of a graph, and the seconds that the exact search may take.

    Raises:
        StudioError: the trace cannot be read, or sizes are unknown.
    """
    progress("reading", 0.0)
    wanted, seconds = request
    graph = open_step(files, wanted).graph
    plain = lifetimes(graph, wanted.options, sizes=dict(wanted.sizes))
    plain.buffers()  # says what is unknown
    found: list[Order] = []
    for number, method in enumerate(ORDERS):
        progress(ORDERS[method], 0.1 + 0.9 * number / len(ORDERS))
        found.append(_find(graph, method, wanted, seconds))
    return Orders(tuple(found), plain.floor_bytes())


def _find(graph: ir.Graph, method: str, request: ArenaRequest, seconds: float) -> Order:
    options, sizes = request.options, dict(request.sizes)
    try:
        return reorder(graph, method, options=options, sizes=sizes, budget=Budget(seconds))
    except StudioError as error:
        return Order(method, (), note=error.message)


ALL_ORDERS: Artifact[tuple[ArenaRequest, float], Orders] = Artifact(
    "memory-orders", find_orders, Value(Format(Orders, "passlens.orders/1", "orders of the nodes"))
)
"""Every method's order; unknown sizes are an error."""
