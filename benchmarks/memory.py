"""How small does the arena of a real network get, and is that proven?

    python -m benchmarks.memory [FOLDER...] [--no-measure] [--repeat N] [--write FILE]

Plans the activations of the gallery, of every `.onnx` file of the folders and of the light models
that come with the onnx package, with 64-byte alignment and nodes in the order of the file: once
with views and in-place results sharing memory, once with bytes of its own for every value. Free
dimensions are bound to a size (`benchmarks.models`). A model with sequences is planned as the
default pipeline leaves it, marked with *; where sizes are still unknown it is listed, not planned.
`measured` is the block that ONNX Runtime allocates for all activations of the file: after its basic
rewrites, which fold constants, in its own order and with its own rules of what shares memory. A
time is the lowest of the repeats, without the check of the plan. Last, the fast planners have ten
thousand random buffers to place.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import onnx_ir as ir

from benchmarks.machine import describe
from benchmarks.models import files, light_files, sizes_of
from benchmarks.report import MIB, parser, publish, rows_of
from optimizer.errors import StudioError, quoted
from optimizer.memory.arena import Arena, LifetimeOptions
from optimizer.memory.buffer import Buffer
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget, make_plan, planners
from optimizer.model.graph import Model
from optimizer.model.loader import load_path
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from profiling.arena.measurement import measure_arena
from profiling.config import RunConfig
from profiling.workers import default_pool

SECONDS = 1.0
SHOWN = ("naive", "lazy-best-fit", "greedy-by-size", "greedy-by-breadth", "canonical", "best")
MODES = {
    "With views and in-place results": LifetimeOptions(),
    "Every value with bytes of its own": LifetimeOptions(views=False, in_place=False),
}


@dataclass(frozen=True, slots=True)
class Row:
    """An arena under every planner that is shown.

    Attributes:
        model: its name; of a body with its owner.
        steps: nodes that run.
        buffers: how many are planned.
        floor_bytes: the largest operator's own inputs and outputs.
        plans: by planner.
        measured: the runtime's block in MiB, or why there is none.
    """

    model: str
    steps: int
    buffers: int
    floor_bytes: int
    plans: Mapping[str, Plan]
    measured: str


def models(folders: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Names and files."""
    yield from files(folders)
    yield from light_files().items()


def graph_of(loaded: Model, sizes: Mapping[str, int]) -> tuple[ir.Graph, bool]:
    """The graph to plan, and whether the default pipeline had to rewrite it first."""
    model = complete(loaded, isolate=default_pool(), bind=sizes)
    if not lifetimes(model.ir.graph).all_unknown():
        return model.ir.graph, False
    optimize(model, Pipeline.of("portable"))
    return model.ir.graph, True


def rows(name: str, arena: Arena, measured: str, repeat: int) -> Iterator[Row]:
    """The arena and those of its bodies, planned."""
    buffers = arena.buffers()
    plans = {planner: _plan(planner, arena, repeat) for planner in SHOWN}
    yield Row(name, len(arena.nodes), len(buffers), arena.floor_bytes(), plans, measured)
    for number, body in enumerate(arena.bodies):
        if body.of("activations"):
            owner = f"{name}, {body.operator} body {number + 1}"
            yield from rows(owner, body, "–", repeat)


def _plan(planner: str, arena: Arena, repeat: int) -> Plan:
    made = [make_plan(planner, arena.buffers(), Budget(SECONDS)) for _ in range(repeat)]
    return replace(made[0], seconds=min(plan.seconds for plan in made))


def block(path: Path, sizes: Mapping[str, int]) -> str:
    """The block that the runtime allocates from its second run on, in MiB."""
    try:
        config = RunConfig(graph_optimization="basic")
        measured = measure_arena(path, config, pool=default_pool(), sizes=sizes)
    except StudioError as error:
        print(f"  not measured: {error.message}", file=sys.stderr)
        return "not measured"
    return _mib(measured.block_bytes)


def table(planned: Sequence[Row]) -> Iterator[str]:
    """The rows as a Markdown table, sizes in MiB."""
    yield (
        "| model | nodes | buffers | naive | lazy | greedy by size | by breadth | canonical"
        " | best | bound | best / bound | certificate | s | measured |"
    )
    yield "|---|" + "--:|" * 10 + "---|--:|--:|"
    for row in planned:
        best = row.plans["best"]
        peaks = " | ".join(_mib(row.plans[planner].peak_bytes) for planner in SHOWN)
        ratio = best.peak_bytes / best.bound_bytes if best.bound_bytes else 1.0
        yield (
            f"| {row.model} | {row.steps} | {row.buffers} | {peaks} | {_mib(best.bound_bytes)}"
            f" | {ratio:.3f} | {best.certificate or 'none'} | {best.seconds:.3f} | {row.measured} |"
        )


def summary(planned: Sequence[Row]) -> Iterator[str]:
    """How often which planner meets the bound, and the slowest."""
    for planner in SHOWN[1:]:
        met = [row.plans[planner] for row in planned]
        count = sum(plan.peak_bytes == plan.bound_bytes for plan in met)
        worst = max(plan.peak_bytes / max(1, plan.bound_bytes) for plan in met)
        slowest = max(plan.seconds for plan in met)
        yield (
            f"- {planner} meets the bound on {count} of {len(met)}; at worst it needs {worst:.3f}"
            f" times as much; slowest {slowest:.3f} s"
        )
    floors = sum(row.floor_bytes == row.plans["best"].bound_bytes for row in planned)
    yield f"- on {floors} of {len(planned)} the bound is one operator's own inputs and outputs"


def many(repeat: int) -> Iterator[str]:
    """Ten thousand random buffers under the fast planners, as a Markdown table."""
    yield "| lives up to | bound / all | planner | peak / bound | CPU s |"
    yield "|--:|--:|---|--:|--:|"
    for longest in (30, 500, 5000):
        drawn = random.Random(longest)  # noqa: S311 no secret
        starts = [drawn.randrange(10_000) for _ in range(10_000)]
        buffers = [
            Buffer(
                str(i), 64 * drawn.randrange(1, 10_000), start, start + drawn.randint(1, longest)
            )
            for i, start in enumerate(starts)
        ]
        for known in planners():
            if known.speed == "fast":
                plan, seconds = _timed(known.id, buffers, repeat)
                alive = plan.bound_bytes / sum(buffer.size_bytes for buffer in buffers)
                ratio = plan.peak_bytes / plan.bound_bytes
                yield f"| {longest} | {alive:.3f} | {known.id} | {ratio:.3f} | {seconds:.2f} |"


def _timed(planner: str, buffers: Sequence[Buffer], repeat: int) -> tuple[Plan, float]:
    """A plan, and the least CPU time it took, the check included."""
    made: list[tuple[float, Plan]] = []
    for _ in range(repeat):
        began = time.process_time()
        plan = make_plan(planner, buffers)
        made.append((time.process_time() - began, plan))
    return made[0][1], min(seconds for seconds, _ in made)


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / MIB:.4g}"


def why(arena: Arena) -> str:
    """Why a size is unknown."""
    if arena.unknown:
        return f"{quoted(arena.unknown[0].name)}: {arena.unknown[0].reason}"
    return next(why(body) for body in arena.bodies if body.all_unknown())


def plan_model(name: str, path: Path, *, measure: bool, repeat: int) -> dict[str, list[Row]]:
    """The rows of a model in every mode.

    Raises:
        StudioError: it cannot be opened, or sizes stay unknown.
    """
    loaded = load_path(path)
    sizes = sizes_of(loaded)
    graph, rewritten = graph_of(loaded, sizes)
    arenas = {mode: lifetimes(graph, options) for mode, options in MODES.items()}
    arena = arenas[next(iter(MODES))]
    if unknown := arena.all_unknown():
        raise StudioError(f"{unknown} sizes are unknown, for example {why(arena)}")
    measured = block(path, sizes) if measure else "not measured"
    marked = f"{name}*" if rewritten else name
    return {mode: list(rows(marked, arenas[mode], measured, repeat)) for mode in MODES}


def main(arguments: Sequence[str]) -> None:
    """Plan and print."""
    asked = parser(__doc__)
    asked.add_argument("--no-measure", action="store_true", help="do not run the models")
    asked.add_argument("--repeat", type=int, default=3)
    options = asked.parse_args(arguments)
    plan = partial(plan_model, measure=not options.no_measure, repeat=options.repeat)
    planned, left_out = rows_of(models(options.folders), plan)
    lines = [describe("passlens", "onnx", "onnxruntime-gpu", "numpy")]
    for mode in MODES:
        found = [row for made in planned for row in made[mode]]
        lines += ["", f"## {mode}", "", *table(found), "", *summary(found)]
    lines += ["", "## Not planned", "", *(left_out or ["None."])]
    lines += ["", "## Ten thousand random buffers", "", *many(options.repeat)]
    publish(lines, options.write)


if __name__ == "__main__":
    main(sys.argv[1:])
