"""How much memory does the order of the nodes cost, and does the runtime follow?

    python -m benchmarks.order [FOLDER...] [--write FILE]

For cells of branches written breadth first (`benchmarks.branches`), ShuffleNet of the onnx package
(its constants folded by ONNX Runtime's basic rewrites), the gallery, and the `.onnx` files of the
folders: the live peak of the activations in four orders, counted with views and in-place results
sharing memory, and sizes rounded up to 64 bytes. A star is a proof that no order needs less; a
search has one second. Then what ONNX Runtime's arena measures, with its rewrites off and one
thread, without (`enable_mem_reuse`) its own reuse of dead buffers, which hides what an order does:
the live peak of the first run, outputs included, and the block it allocates from the second run on.
`default` is the runtime's own order, `by priority` the order of the file
(`ExecutionOrder.PRIORITY_BASED`), before and after the exact order was written into it. Last, what
an hourglass (`benchmarks.hourglass`) needs when nodes run again instead of keeping results.

Free dimensions get a size (`benchmarks.models`); where that leaves others unknown the file is
ordered and run with its free dimensions bound to these sizes, and called so.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.branches import cells
from benchmarks.hourglass import hourglass
from benchmarks.machine import describe
from benchmarks.models import complete_with, folded, opened, sizes_of
from benchmarks.report import mib, parser, publish, rows_of, section
from optimizer.memory.order import ORDERS, Order, apply_order, reorder
from optimizer.memory.registry import Budget
from optimizer.memory.rematerialization import Rematerialized, rematerialize
from optimizer.model.graph import Model
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.passes.memory.recompute_values import RecomputeValues
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from profiling.arena.measurement import ArenaMeasurement, measure_arena
from profiling.config import RunConfig
from profiling.workers import default_pool

SECONDS = 1.0
BAD, SHUFFLED = "cells, breadth first", "shufflenet"


@dataclass(frozen=True, slots=True)
class Row:
    """A model.

    Attributes:
        orders: by method.
        milliseconds: what finding each took.
        default: measured in the runtime's order.
        file: measured in the file's order.
        exact: measured in the exact order.
    """

    name: str
    orders: Mapping[str, Order]
    milliseconds: Mapping[str, float]
    default: ArenaMeasurement
    file: ArenaMeasurement
    exact: ArenaMeasurement


def models(folders: Sequence[Path]) -> Iterator[tuple[str, Model]]:
    """Names and models, the two that are judged first."""
    yield BAD, load_bytes(to_bytes(cells()), name="cells")
    yield SHUFFLED, folded("shufflenet")
    yield from opened(folders)


def row(name: str, model: Model) -> Row:
    """Order and measure.

    Raises:
        StudioError: the model does not run, or sizes are unknown.
    """
    sizes = sizes_of(model)
    model, bound = complete_with(model, sizes)
    orders: dict[str, Order] = {}
    milliseconds: dict[str, float] = {}
    for method in ORDERS:
        started = time.perf_counter()
        orders[method] = reorder(model.ir.graph, method, sizes=sizes, budget=Budget(SECONDS))
        milliseconds[method] = (time.perf_counter() - started) * 1e3
    moved = apply_order(model, orders["exact"].nodes)
    return Row(
        name=f"{name}, bound" if bound else name,
        orders=orders,
        milliseconds=milliseconds,
        default=measured(model, sizes, by_priority=False),
        file=measured(model, sizes),
        exact=measured(moved, sizes),
    )


def measured(
    model: Model, sizes: Mapping[str, int], *, by_priority: bool = True
) -> ArenaMeasurement:
    """The arena of a model; nodes run as the file has them, or as the runtime wants."""
    config = RunConfig(memory_reuse=False, execution_order="priority" if by_priority else "default")
    return measure_arena(to_bytes(model.ir), config, pool=default_pool(), sizes=sizes)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as a Markdown table."""
    titles = [title.lower() for title in ORDERS.values()]
    yield (
        f"| model | nodes | {' | '.join(titles)} | search ms | default: live, block"
        " | by priority: live, block | exact order by priority: live, block |"
    )
    yield f"|---|--:|{'--:|' * len(titles)}--:|--:|--:|--:|"
    for one in rows:
        peaks = [f"{mib(o.peak_bytes)}{'*' if o.proven else ''}" for o in one.orders.values()]
        ran = [
            f"{mib(m.live_peak_bytes)}, {mib(m.block_bytes)}"
            for m in (one.default, one.file, one.exact)
        ]
        nodes, search = len(one.orders["exact"].nodes), f"{one.milliseconds['exact']:.0f}"
        yield f"| {' | '.join([one.name, str(nodes), *peaks, search, *ran])} |"


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """What the table says."""
    exact = [one.orders["exact"] for one in rows]
    better = [one for one in rows if one.orders["exact"].peak_bytes < one.orders["file"].peak_bytes]
    yield (
        f"- proven: {sum(order.proven for order in exact)} of {len(rows)}; better than the file:"
        f" {len(better)}"
    )
    by_name = {one.name: one for one in rows}
    if bad := by_name.get(BAD):
        yield (
            f"- {BAD}: measured live peak {mib(bad.file.live_peak_bytes)} as in the file,"
            f" {mib(bad.default.live_peak_bytes)} in the runtime's order,"
            f" {mib(bad.exact.live_peak_bytes)} in the exact order, whose planned peak is"
            f" {mib(bad.orders['exact'].peak_bytes)}"
        )
    if shuffled := by_name.get(SHUFFLED):
        yield f"- {SHUFFLED}: the block falls by {_saved(shuffled):.0%} against the default order"


def again() -> Iterator[str]:
    """The curve of the hourglass, measured where the peak falls."""
    model = complete(load_bytes(to_bytes(hourglass()), name="hourglass"), isolate=default_pool())
    yield "| extra operations | nodes that run again | planned live peak | measured live, block |"
    yield "|--:|--:|--:|--:|"
    for point in rematerialize(model.ir.graph):
        yield _again(model, point)


def _again(model: Model, point: Rematerialized) -> str:
    again = replace(model, ir=model.ir.clone())
    optimize(again, Pipeline((RecomputeValues(copies=point.copies),)))
    arena = measured(again, {})
    cells_ = [
        f"{point.part:.1%}",
        str(len(point.copies)),
        mib(point.peak_bytes),
        f"{mib(arena.live_peak_bytes)}, {mib(arena.block_bytes)}",
    ]
    return f"| {' | '.join(cells_)} |"


def _saved(one: Row) -> float:
    return 1 - one.exact.block_bytes / one.default.block_bytes


def main() -> int:
    """Print the report; 1 if the runtime does not follow on the two models that are judged."""
    arguments = parser(__doc__).parse_args()
    rows, left_out = rows_of(models(arguments.folders), row)
    machine = describe("passlens", "onnxruntime-gpu")
    lines = [f"{machine}. Sizes in MiB.", "", *table(rows), "", *summary(rows), "", *again()]
    publish([*lines, *section("Not ordered:", left_out)], arguments.write)
    bad, shuffled = rows[:2]
    optimum = bad.orders["exact"].peak_bytes
    follows = bad.exact.live_peak_bytes <= optimum * 1.01
    return 0 if follows and _saved(shuffled) >= 0.3 else 1


if __name__ == "__main__":
    sys.exit(main())
