"""Is the model of ONNX Runtime's memory right, and how far is the runtime from the optimum?

    python -m benchmarks.arena [FOLDER...] [--write FILE]

Runs every model on ONNX Runtime's CPU provider with its rewrites off and one thread, once with and
once without reuse of dead buffers (`enable_mem_reuse`), and compares the block that it allocates
from the second run on with the modelled one. First the light models that come with the onnx
package, their constants folded by ONNX Runtime's own basic rewrites, and the networks of
`benchmarks.branches`; then the gallery and the `.onnx` files of the folders, as they are. Free
dimensions get a size (`benchmarks.models`); where that leaves others unknown the file is run with
its free dimensions bound to these sizes, and called so, for the runtime plans by what is declared.
Models whose sizes are still unknown then are listed with the reason. A live peak is what operators
asked for in the first run, outputs included. `best` is the smallest plan of ours for the runtime's
order: activations alone, views and elementwise results in place, sizes rounded up to 256 bytes as
the runtime does. By priority the runtime runs the nodes in the order of the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from benchmarks.branches import NETWORKS
from benchmarks.machine import describe
from benchmarks.models import complete_with, folded, opened, sizes_of
from benchmarks.report import mib, parser, publish, rows_of, section
from benchmarks.runtime_block.model import ALIGNMENT, runtime_lifetimes
from optimizer.errors import StudioError
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import reorder
from optimizer.memory.registry import Budget, make_plan
from optimizer.model.graph import Model, node_id
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.runtime.order import runtime_order
from profiling.arena.measurement import ArenaMeasurement, measure_arena
from profiling.config import RunConfig
from profiling.workers import default_pool

LIGHT = ("squeezenet", "inception_v1", "inception_v2", "shufflenet", "resnet50", "densenet121")


@dataclass(frozen=True, slots=True)
class Block:
    """The block of a session, measured and modelled."""

    measured: ArenaMeasurement
    modelled_bytes: int
    same_order: bool

    @property
    def equal(self) -> bool:
        """To the byte."""
        return self.measured.block_bytes == self.modelled_bytes


@dataclass(frozen=True, slots=True)
class Row:
    """A model.

    Attributes:
        blocks: without reuse of dead buffers, with it, and with it in the order of the file.
        best_bytes: the smallest plan of ours; None where there is none.
    """

    name: str
    nodes: int
    blocks: tuple[Block, Block, Block]
    best_bytes: int | None


def models(folders: Sequence[Path]) -> Iterator[tuple[str, Model]]:
    """Names and models, those of the comparison first."""
    for name in LIGHT:
        yield name, folded(name)
    for name, network in NETWORKS.items():
        yield name, load_bytes(to_bytes(network()), name=name)
    yield from opened(folders)


def row(name: str, model: Model) -> Row:
    """Measure and model.

    Raises:
        StudioError: the model does not run, or sizes are unknown.
    """
    sizes = sizes_of(model)
    model, bound = complete_with(model, sizes)
    data = to_bytes(model.ir)
    configs = (
        RunConfig(memory_reuse=False),
        RunConfig(memory_reuse=True),
        RunConfig(memory_reuse=True, execution_order="priority"),
    )
    first, second, third = (_block(model, data, sizes, config) for config in configs)
    name = f"{name}, bound" if bound else name
    return Row(name, len(first.measured.order), (first, second, third), _best(model, sizes))


def _block(model: Model, data: bytes, sizes: Mapping[str, int], config: RunConfig) -> Block:
    graph, order = model.ir.graph, runtime_order(model.ir.graph, config.execution_order)
    arena = runtime_lifetimes(graph, sizes=sizes, reuse=config.memory_reuse, order=order)
    plan = make_plan("runtime-pattern", arena.buffers())
    measured = measure_arena(data, config, pool=default_pool(), sizes=sizes)
    by_id = {node_id(node): node for node in graph}
    ran = [by_id[identity] for identity in arena.nodes]
    modelled = [node.name for node in ran]
    return Block(measured, plan.peak_bytes, modelled == _in_our_names(measured.order, ran, graph))


def _in_our_names(
    order: Sequence[str], ran: Sequence[ir.Node], graph: ir.Graph
) -> list[str | None]:
    """Names of the file for Casts that stand in for a CastLike: the runtime counts them up."""
    ours, running = {node.name for node in ran}, set(ran)
    replaced = [node.name for node in graph if node.op_type == "CastLike" and node in running]
    added = sorted((name for name in order if name not in ours), key=lambda one: (len(one), one))
    renamed = dict(zip(added, replaced, strict=False))
    return [renamed.get(name, name) for name in order]


def _best(model: Model, sizes: Mapping[str, int]) -> int | None:
    graph, options = model.ir.graph, LifetimeOptions(alignment=ALIGNMENT)
    try:
        order = reorder(graph, "runtime", options=options, sizes=sizes).nodes
        arena = lifetimes(graph, options, order=order, sizes=sizes)
        return make_plan("best", arena.buffers(), Budget(5.0)).peak_bytes
    except StudioError as error:
        print(f"  no plan: {error.message}", file=sys.stderr)
        return None


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as a Markdown table, sizes in MiB."""
    yield (
        "| model | nodes | live peak | block | modelled | equal | live peak, reuse | block, reuse"
        " | modelled | equal | by priority: live peak | block | modelled | equal | best"
        " | block, reuse / best | held |"
    )
    yield "|---|--:" + "|--:|--:|--:|---" * 3 + "|--:|--:|--:|"
    for one in rows:
        best, default = one.best_bytes, one.blocks[1].measured
        cells = [
            one.name,
            str(one.nodes),
            *(cell for block in one.blocks for cell in _cells(block)),
            "–" if best is None else mib(best),
            "–" if not best else f"{default.block_bytes / best:.2f}",
            mib(default.held_bytes),
        ]
        yield f"| {' | '.join(cells)} |"


def _cells(block: Block) -> Iterator[str]:
    yield mib(block.measured.live_peak_bytes)
    yield mib(block.measured.block_bytes)
    yield mib(block.modelled_bytes)
    off = block.modelled_bytes - block.measured.block_bytes
    yield "yes" if block.equal else f"{off:+,} B"


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """How many are right."""
    compared = {*LIGHT, *NETWORKS}
    parts = [
        ("the ten models of the comparison", [row for row in rows if row.name in compared]),
        ("all models", rows),
    ]
    for title, some in parts:
        first, second, third = (sum(row.blocks[i].equal for row in some) for i in range(3))
        yield (
            f"- {title}: equal to the byte on {first} of {len(some)} without reuse, on {second} "
            f"with it, on {third} by priority"
        )
    orders = sum(all(block.same_order for block in row.blocks) for row in rows)
    yield f"- nodes ran in the modelled order in all three on {orders} of {len(rows)}"


def main() -> int:
    """Print the report; 1 if fewer than eight of the ten models are right."""
    arguments = parser(__doc__).parse_args()
    rows, left_out = rows_of(models(arguments.folders), row)
    machine = describe("passlens", "onnxruntime-gpu")
    lines = [f"{machine}. Sizes in MiB.", "", *table(rows), "", *summary(rows)]
    publish([*lines, *section("Not modelled:", left_out)], arguments.write)
    right = sum(one.blocks[0].equal for one in rows[: len(LIGHT) + len(NETWORKS)])
    return 0 if right >= 8 else 1


if __name__ == "__main__":
    sys.exit(main())
