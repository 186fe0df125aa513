"""One graph in every order of its nodes, and the models that have one of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace

import onnx_ir as ir

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.isolation import Progress
from optimizer.memory.facts import floor_bytes, live_bytes
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import ORDERS, Order, reorder
from optimizer.memory.registry import Budget
from optimizer.rewrite.graph_at import TraceFiles
from studio.artifacts.artifact import Artifact, Value
from studio.memory.request import ArenaRequest
from studio.memory.subject import open_step


@dataclass(frozen=True, slots=True)
class FoundOrder(Order):
    """One method's order; without nodes where the method failed, `note` says why.

    Attributes:
        live_bytes: activations alive, step by step.
        seconds: wall clock it took.
    """

    live_bytes: tuple[int, ...] = ()
    seconds: float = 0.0

    @property
    def title(self) -> str:
        """For people."""
        return ORDERS.get(self.method, self.method)


@dataclass(frozen=True, slots=True)
class Orders:
    """Every method's order.

    Attributes:
        found: in the order of the registry.
        floor_bytes: the largest single operator: no order needs less.
    """

    found: tuple[FoundOrder, ...]
    floor_bytes: int

    @property
    def worked(self) -> tuple[FoundOrder, ...]:
        """Those that gave an order."""
        return tuple(order for order in self.found if order.nodes)

    def of(self, method: str) -> FoundOrder | None:
        """The order of a method that worked."""
        return next((order for order in self.worked if order.method == method), None)

    @property
    def best(self) -> FoundOrder:
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
    found: list[FoundOrder] = []
    for number, method in enumerate(ORDERS):
        progress(ORDERS[method], 0.1 + 0.9 * number / len(ORDERS))
        found.append(_find(graph, replace(wanted, order=method), seconds))
    return Orders(tuple(found), floor_bytes(plain))


def _find(graph: ir.Graph, request: ArenaRequest, seconds: float) -> FoundOrder:
    started = time.perf_counter()
    options, sizes = request.options, dict(request.sizes)
    try:
        order = reorder(graph, request.order, options=options, sizes=sizes, budget=Budget(seconds))
    except StudioError as error:
        return FoundOrder(request.order, (), 0, 0, proven=False, note=error.message)
    spent = time.perf_counter() - started
    live = live_bytes(lifetimes(graph, options, order=order.nodes, sizes=sizes))
    known = {field.name: getattr(order, field.name) for field in fields(order)}
    return FoundOrder(**known, live_bytes=live, seconds=spent)


ALL_ORDERS: Artifact[tuple[ArenaRequest, float], Orders] = Artifact(
    "memory-orders", find_orders, Value(Format(Orders, "passlens.orders/1", "orders of the nodes"))
)
"""Every method's order; unknown sizes are an error."""
