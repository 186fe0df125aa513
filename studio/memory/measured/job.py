"""A step's arena as ONNX Runtime runs it, in its own order and in others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from optimizer.isolation import Progress
from optimizer.memory.order import ORDERS, apply_order
from optimizer.model.writer import write
from optimizer.rewrite.graph_at import TraceFiles
from profiling.arena.measurement import ArenaMeasurement, measure_arena
from profiling.config import RunConfig
from profiling.workers import WorkerPool
from studio.artifacts.artifact import Artifact, File
from studio.artifacts.opened import Subject
from studio.artifacts.store import Store
from studio.memory.subject import ArenaRequest, model_of, open_step

Ordered = tuple[int, tuple[str, ...]]
"""A step, and the ids of its nodes in the order to run them."""


def write_ordered(files: TraceFiles, request: Ordered, folder: Path, *, progress: Progress) -> None:
    """Write the model of a step with its nodes in an order.

    Raises:
        StudioError: the trace cannot be read, or it is no order of the nodes.
    """
    progress("writing the model", 0.5)
    step, nodes = request
    model = model_of(open_step(files, ArenaRequest(step)))
    write(apply_order(model, nodes).ir, folder / "ordered.onnx")


ORDERED: Artifact[Ordered, Path] = Artifact(
    "ordered", write_ordered, File(lambda _: "ordered.onnx")
)
"""The ONNX file of a step with its nodes in an order."""

OWN_ORDER = "ONNX Runtime's own order"


@dataclass(frozen=True, slots=True)
class ArenaRun:
    """What to run.

    Attributes:
        step: of the trace.
        sizes: of free dimensions.
        method: that found another order, which is run, too, as is the file's; empty for none.
        nodes: the other order, as ids.
    """

    step: int
    sizes: tuple[tuple[str, int], ...] = ()
    method: str = ""
    nodes: tuple[str, ...] = ()


def measured_key(subject: Subject, request: ArenaRun) -> tuple[object, ...]:
    """Equal measurements have equal keys."""
    return ("memory-measured", subject[0].key, subject[1].key, request)


def run_measured(
    store: Store,
    pool: WorkerPool,
    subject: Subject,
    request: ArenaRun,
    *,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> dict[str, ArenaMeasurement]:
    """Run the step's model with the profiler on, three times in each order, by its title.

    Raises:
        StudioError: a model cannot be written, or does not run.
    """
    progress("writing the model", 0.0)
    path = store.materialize(*subject, request.step)
    in_file_order = RunConfig(execution_order="priority")
    runs = {OWN_ORDER: (path, RunConfig())}
    if request.method:
        runs[ORDERS["file"]] = (path, in_file_order)
    if request.method not in ("", "file"):  # the file's own needs no third run where it is the best
        ordered = store.get(ORDERED, subject, (request.step, request.nodes))
        runs[ORDERS[request.method]] = (ordered, in_file_order)
    return {
        name: measure_arena(
            file,
            config,
            pool=pool,
            sizes=dict(request.sizes),
            progress=partial(_part, progress, number, len(runs)),
            cancelled=cancelled,
        )
        for number, (name, (file, config)) in enumerate(runs.items())
    }


def _part(progress: Progress, number: int, count: int, text: str, fraction: float) -> None:
    of = f" ({number + 1} of {count})" if count > 1 else ""
    progress(f"{text}{of}", (number + fraction) / count)
