"""A step in several orders of its nodes, as ONNX Runtime runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from optimizer.isolation import Progress
from profiling.arena import ArenaMeasurement, measure_arena
from profiling.config import RunConfig
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.memory.orders.job import ordered_file
from studio.memory.request import ORDER_TITLES, Sizes


@dataclass(frozen=True, slots=True)
class OrdersRun:
    """One step in three orders: the runtime's own, the file's, and another one.

    Attributes:
        step: of the trace.
        sizes: of free dimensions.
        method: that found the other order.
        nodes: the other order, as ids.
    """

    step: int
    sizes: Sizes
    method: str
    nodes: tuple[str, ...]


def orders_run_key(model: OpenedModel, run: OpenedRun, request: OrdersRun) -> tuple[object, ...]:
    """Equal measurements have equal keys."""
    return ("memory-measured-orders", model.key, run.key, request)


def run_measured_orders(
    store: Store,
    pool: WorkerPool,
    subject: tuple[OpenedModel, OpenedRun],
    request: OrdersRun,
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> dict[str, ArenaMeasurement]:
    """Run the step's model in each order; the file's own needs no third run where it is the best.

    Raises:
        StudioError: a model cannot be written, or does not run.
    """
    progress("writing the models", 0.0)
    path = store.materialize(*subject, request.step)
    kept = RunConfig(execution_order="priority")
    runs = {
        "ONNX Runtime's own order": (path, RunConfig()),
        ORDER_TITLES["file"]: (path, kept),
    }
    if request.method != "file":
        ordered = ordered_file(pool, subject, request.step, request.nodes)
        runs[ORDER_TITLES[request.method]] = (ordered, kept)
    found: dict[str, ArenaMeasurement] = {}
    for number, (name, (file, config)) in enumerate(runs.items()):
        part = partial(_part, progress, number, len(runs))
        found[name] = measure_arena(
            file, config, pool=pool, sizes=dict(request.sizes), progress=part, cancelled=cancelled
        )
    return found


def _part(progress: Progress, number: int, count: int, text: str, fraction: float) -> None:
    progress(f"{text} ({number + 1} of {count})", (number + fraction) / count)
