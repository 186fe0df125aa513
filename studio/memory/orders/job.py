"""One graph in every order of its nodes, and the models that have one of them."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from optimizer.errors import StudioError
from optimizer.isolation import Isolate, Progress
from optimizer.memory.facts import floor_bytes, live_bytes
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import apply_order
from optimizer.model.writer import write
from optimizer.rewrite.graph_at import TraceFiles
from studio.memory.kept import Kept, Subject, folder_of, make, write_json
from studio.memory.request import ORDER_TITLES, ArenaRequest
from studio.memory.subject import find_order, model_of, open_step


@dataclass(frozen=True, slots=True)
class OrdersRequest:
    """A graph, and the seconds that the exact search may take."""

    arena: ArenaRequest
    seconds: float


@dataclass(frozen=True, slots=True)
class FoundOrder:
    """One method's order.

    Attributes:
        method: its id.
        nodes: ids, in the order to run them; empty where the method failed.
        live_bytes: activations alive, step by step.
        peak_bytes: the largest of them.
        proven: no order has a smaller peak.
        states: that the exact search looked at.
        note: what the method has to say, or why it failed.
        seconds: wall clock it took.
    """

    method: str
    nodes: tuple[str, ...]
    live_bytes: tuple[int, ...]
    peak_bytes: int
    proven: bool
    states: int
    note: str
    seconds: float

    @property
    def title(self) -> str:
        """For people."""
        return ORDER_TITLES.get(self.method, self.method)


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
    files: TraceFiles, request: OrdersRequest, file: Path, *, progress: Progress
) -> None:
    """Write the orders of a request.

    Raises:
        StudioError: the trace cannot be read, or sizes are unknown.
    """
    progress("reading", 0.0)
    graph = open_step(files, request.arena).graph
    plain = lifetimes(graph, request.arena.options, sizes=dict(request.arena.sizes))
    plain.buffers()  # says what is unknown
    found: list[FoundOrder] = []
    for number, method in enumerate(ORDER_TITLES):
        progress(ORDER_TITLES[method], 0.1 + 0.9 * number / len(ORDER_TITLES))
        found.append(_find(graph, replace(request.arena, order=method), request.seconds))
    data = {"floor_bytes": floor_bytes(plain), "found": [asdict(order) for order in found]}
    write_json(file, data)


def _find(graph: Any, request: ArenaRequest, seconds: float) -> FoundOrder:
    started = time.perf_counter()
    try:
        order = find_order(graph, request, seconds=seconds)
    except StudioError as error:
        return FoundOrder(request.order, (), (), 0, False, 0, error.message, 0.0)
    spent = time.perf_counter() - started
    arena = lifetimes(graph, request.options, order=order.nodes, sizes=dict(request.sizes))
    live = live_bytes(arena)
    return FoundOrder(
        request.order, order.nodes, live, max(live, default=0), order.proven, order.states,
        order.note, spent,
    )  # fmt: skip


def _orders(data: dict[str, Any]) -> Orders:
    return Orders(tuple(map(_order, data["found"])), data["floor_bytes"])


def _order(data: dict[str, Any]) -> FoundOrder:
    data = {**data, "nodes": tuple(data["nodes"]), "live_bytes": tuple(data["live_bytes"])}
    return FoundOrder(**data)


ALL_ORDERS: Kept[OrdersRequest, Orders] = Kept("orders", find_orders, _orders)
"""Every method's order; unknown sizes are an error."""


def write_ordered(files: TraceFiles, request: tuple[int, tuple[str, ...]], file: Path) -> None:
    """Write the model of a step with its nodes in an order.

    Raises:
        StudioError: the trace cannot be read, or it is no order of the nodes.
    """
    step, nodes = request
    model = model_of(open_step(files, ArenaRequest(step)))
    write(apply_order(model, nodes).ir, file)


def ordered_file(isolate: Isolate, subject: Subject, step: int, nodes: tuple[str, ...]) -> Path:
    """The ONNX file of a step with its nodes in an order; made on first use.

    Raises:
        StudioError: it is no order of the nodes, or the worker died.
    """
    file = folder_of(subject[1], "ordered", step, nodes) / "ordered.onnx"
    return make(isolate, subject, write_ordered, (step, nodes), file=file)
