"""Is the model of ONNX Runtime's memory right, and how far is the runtime from the optimum?

    python -m benchmarks.arena [FOLDER...] [--write FILE]

Runs every model on ONNX Runtime's CPU provider with its rewrites off and one thread, once with and
once without reuse of dead buffers (`enable_mem_reuse`), and compares the block that it allocates
from the second run on with the modelled one. First the light models that come with the onnx
package, their constants folded by ONNX Runtime's own basic rewrites, and the networks of
`benchmarks.branches`; then the gallery and the `.onnx` files of the folders, as they are. Free
dimensions get a size: 1 where one is the first axis of an input, 128 for totals (and the `seq` of
encoders), else 64; models whose sizes are still unknown then are listed with the reason. A live
peak is what operators asked for in the first run, outputs included. `best` is the smallest plan of
ours for the runtime's order: activations alone, views and elementwise results in place, sizes
rounded up to 256 bytes as the runtime does. By priority the runtime runs the nodes in the order of
the file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from benchmarks.branches import NETWORKS, TOKENS
from benchmarks.machine import describe
from optimizer.errors import StudioError
from optimizer.memory.arena import LifetimeOptions
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import reorder
from optimizer.memory.registry import Budget, make_plan
from optimizer.memory.runtime.model import ALIGNMENT, runtime_lifetimes
from optimizer.memory.runtime.order import runtime_order
from optimizer.model.binding import free_dimensions
from optimizer.model.graph import Model, node_id
from optimizer.model.loader import load_bytes, load_path
from optimizer.model.writer import to_bytes
from optimizer.source import complete
from profiling.arena import ArenaMeasurement, measure_arena, rewritten
from profiling.config import RunConfig
from profiling.workers import default_pool
from studio import gallery

LIGHT = ("squeezenet", "inception_v1", "inception_v2", "shufflenet", "resnet50", "densenet121")
SIZE = 64
MIB = 2**20


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


def light_file(name: str) -> Path:
    """A light model of the onnx package: weights are constants, so the file is small."""
    return Path(onnx.__file__).parent / f"backend/test/data/light/light_{name}.onnx"


def folded(path: Path) -> Model:
    """A model after the runtime's basic rewrites."""
    config = RunConfig(graph_optimization="basic")
    data = rewritten(path, config, pool=default_pool())
    return load_bytes(data, name=path.name)


def models(folders: Sequence[Path]) -> Iterator[tuple[str, Model]]:
    """Names and models, those of the comparison first."""
    for name in LIGHT:
        yield name, folded(light_file(name))
    for name, network in NETWORKS.items():
        yield name, load_bytes(to_bytes(network()), name=name)
    for entry in gallery.entries():
        yield f"gallery {entry.id}", load_path(gallery.open_path(entry.id))
    for folder in folders:
        for path in sorted(folder.rglob("*.onnx")):
            yield path.stem, load_path(path)


def sizes_of(model: Model) -> dict[str, int]:
    """A size for every free dimension: 1 for batches, twice as many for totals of past and new."""
    if model.name == "bert4_dyn":
        return {"batch": 1, "seq": TOKENS}
    first = {str(value.shape[0]) for value in model.ir.graph.inputs if value.shape}
    longer = {name: 2 * SIZE if "total" in name else SIZE for name in free_dimensions(model.ir)}
    return {name: 1 if name in first else size for name, size in longer.items()}


def row(name: str, model: Model) -> Row:
    """Measure and model.

    Raises:
        StudioError: the model does not run, or sizes are unknown.
    """
    sizes = sizes_of(model)
    model = complete(model, isolate=default_pool())
    data = to_bytes(model.ir)
    configs = (
        RunConfig(memory_reuse=False),
        RunConfig(memory_reuse=True),
        RunConfig(memory_reuse=True, execution_order="priority"),
    )
    first, second, third = (_block(model, data, sizes, config) for config in configs)
    return Row(name, len(first.measured.order), (first, second, third), _best(model, sizes))


def _block(model: Model, data: bytes, sizes: Mapping[str, int], config: RunConfig) -> Block:
    graph, order = model.ir.graph, runtime_order(model.ir.graph, config.execution_order)
    arena = runtime_lifetimes(graph, sizes=sizes, reuse=config.memory_reuse, order=order)
    plan = make_plan("runtime-pattern", arena.buffers())
    measured = measure_arena(data, config, pool=default_pool(), sizes=sizes)
    names = {node_id(node): node.name for node in graph}
    modelled = tuple(names[identity] for identity in arena.nodes)
    return Block(measured, plan.peak_bytes, modelled == measured.order)


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
            "–" if best is None else _mib(best),
            "–" if not best else f"{default.block_bytes / best:.2f}",
            _mib(default.held_bytes),
        ]
        yield f"| {' | '.join(cells)} |"


def _cells(block: Block) -> Iterator[str]:
    yield _mib(block.measured.live_peak_bytes)
    yield _mib(block.measured.block_bytes)
    yield _mib(block.modelled_bytes)
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


def _mib(size: int) -> str:
    return f"{size / MIB:.3f}"


def main() -> int:
    """Print the report; 1 if fewer than eight of the ten models are right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, help="folders with .onnx files")
    parser.add_argument("--write", type=Path, help="also write the report here")
    arguments = parser.parse_args()
    rows: list[Row] = []
    left_out: list[str] = []
    for name, model in models(arguments.folders):
        print(name, file=sys.stderr)
        try:
            rows.append(row(name, model))
        except StudioError as error:
            left_out.append(f"- {name}: {error.message}")
    machine = describe("passlens", "onnxruntime-gpu")
    text = "\n".join([f"{machine}. Sizes in MiB.", "", *table(rows), "", *summary(rows)]) + "\n"
    if left_out:
        text += "\nNot modelled:\n\n" + "\n".join(left_out) + "\n"
    print(text, end="")
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    right = sum(one.blocks[0].equal for one in rows[: len(LIGHT) + len(NETWORKS)])
    return 0 if right >= 8 else 1


if __name__ == "__main__":
    sys.exit(main())
