"""The GPU benchmark: `python -m benchmarks.gpu`, one command, under ten minutes.

Eight networks, the same weights and inputs everywhere: ONNX Runtime on CUDA as it comes, with our
passes, with CUDA Graph, with kernel options, in float16; PyTorch eager and compiled. ONNX Runtime's
rows of a network are one interleaved race; PyTorch's follow at once, in processes of their own.
Needs `passlens[gpu,torch]` and a GPU; without one every row says "not measured" and why.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.gpu_peers import Prepared, Setup, measured_rates, prepare, say, torch_rows
from benchmarks.gpu_table import COLUMNS, TITLES, Ideal, Rates, Row, ideal, markdown, recording
from optimizer.errors import StudioError
from optimizer.graph_cost import graph_cost
from optimizer.model.loader import load_path
from optimizer.source import complete
from optimizer.verify import Tolerance, jobs
from profiling.config import RunConfig
from profiling.execution.availability import availability
from profiling.machine import Machine, this_machine
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import Race, Timing, Variant
from profiling.records.bundle import bundle_bytes
from profiling.workers import WorkerPool, default_pool

RESULTS = Path(__file__).parent / "results"
CONVOLUTIONAL = frozenset({"resnet50", "mobilenetv2"})
TOLERANCE = Tolerance(rtol=5e-2)
"""What float16 keeps of an output's scale."""

_LEAST_RACE_S = 45.0


def main(arguments: Sequence[str]) -> int:
    """Measure, write the bundle and the table, print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.gpu", description=__doc__)
    parser.add_argument("--networks", nargs="+", choices=TITLES, default=list(TITLES))
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--seconds", type=float, default=6.0, help="of each race's steady state")
    parser.add_argument("--minutes", type=float, default=9.5, help="for everything")
    parser.add_argument("--small", action="store_true", help="tiny networks: a rehearsal")
    parser.add_argument("--torch-python", default=sys.executable, help="interpreter with PyTorch")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for bundle and table")
    parsed = parser.parse_args(arguments)
    setup = Setup(
        tuple(parsed.networks), parsed.device, parsed.seconds, parsed.minutes, parsed.small,
        parsed.torch_python,
    )  # fmt: skip
    machine, began = this_machine(), time.monotonic()
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    parsed.out.mkdir(parents=True, exist_ok=True)

    def write(found: Found) -> str:
        """What there is so far: whoever ends the benchmark early keeps it."""
        rows, ideals, rates = found.rows, found.ideals, found.rates
        table = markdown(rows, ideals, rates=rates, where=_where(machine, started_at))
        (parsed.out / "gpu.md").write_text(table)
        kept = recording(
            rows, ideals, rates=rates, machine=machine, started_at=started_at,
            seconds=time.monotonic() - began,
        )  # fmt: skip
        (parsed.out / "gpu.passlens").write_bytes(bundle_bytes([kept]))
        return table

    found = Found([], {}, None)
    with tempfile.TemporaryDirectory(prefix="passlens-gpu-") as folder:
        for found in benchmark(setup, Path(folder)):
            write(found)
    print(write(found))
    return 0 if any(row.p50_ms is not None for row in found.rows) else 1


@dataclass(frozen=True, slots=True)
class Found:
    """What is measured so far."""

    rows: list[Row]
    ideals: dict[str, Ideal]
    rates: Rates | None


def benchmark(setup: Setup, folder: Path) -> Iterator[Found]:
    """All rows so far, network by network; what fails or finds no time left says so in its row."""
    pool = default_pool()
    deadline = time.monotonic() + 60 * setup.minutes
    if reason := _unavailable(setup, pool):
        yield Found(_absent(setup.networks, reason), {}, None)
        return
    say("exporting and optimizing")
    with ThreadPoolExecutor(max_workers=4) as together:
        ready_for = partial(_prepared, folder=folder, setup=setup, pool=pool)
        prepared = list(together.map(ready_for, setup.networks))
    rates = measured_rates(setup)
    rows: list[Row] = []
    ready = [entry for entry in prepared if not entry.error]
    ideals = {} if rates is None else {entry.network: _ideal(entry, rates) for entry in ready}
    raced: list[Prepared] = []
    for number, entry in enumerate(prepared):
        if entry.error:
            rows += _absent([entry.network], entry.error)
            continue
        say(f"{entry.network}: ONNX Runtime")
        left = (deadline - time.monotonic()) / (len(prepared) - number)
        try:
            race = _race(entry, setup, pool, seconds=max(_LEAST_RACE_S, left))
        except StudioError as error:
            rows += _absent([entry.network], error.message)
            continue
        rows += _runtime_rows(entry, race, setup)
        raced.append(entry)
        yield Found(_sorted(rows, setup), ideals, rates)
    for row in torch_rows(raced, setup, deadline):
        rows.append(row)
        yield Found(_sorted(rows, setup), ideals, rates)
    yield Found(_sorted(rows, setup), ideals, rates)


def _sorted(rows: Sequence[Row], setup: Setup) -> list[Row]:
    order = {column: number for number, column in enumerate(COLUMNS)}
    return sorted(rows, key=lambda row: (setup.networks.index(row.network), order[row.column]))


def _unavailable(setup: Setup, pool: WorkerPool) -> str:
    """Why nothing can be measured; empty if it can."""
    status = availability(pool)[setup.device if setup.device == "cuda" else "cpu"]
    return "" if status.ok else status.reason


def _absent(networks: Sequence[str], reason: str) -> list[Row]:
    return [
        Row(network, TITLES[network], column, error=f"not measured: {reason}")
        for network in networks
        for column in COLUMNS
    ]


def _race(entry: Prepared, setup: Setup, pool: WorkerPool, *, seconds: float) -> Race:
    """ONNX Runtime's rows in one interleaved race of so many seconds at most."""
    plan = RacePlan(
        runs=100_000, seconds=setup.seconds, transfers=False, tolerance=TOLERANCE,
        request=jobs.Request(seeds=1), overall_seconds=seconds,
    )  # fmt: skip
    return measure(list(_variants(entry, setup)), pool=pool, plan=plan, feeds=entry.feeds)


def _variants(entry: Prepared, setup: Setup) -> Iterator[Variant]:
    """The columns of ONNX Runtime, each on top of the one before."""
    source = entry.folder / "float32.onnx"
    ours, half = entry.folder / "float32-optimized.onnx", entry.folder / "float16-optimized.onnx"
    if setup.device == "cpu":
        config = RunConfig(graph_optimization="all")
        yield Variant("ONNX Runtime", source, config)
        yield Variant("+ Passlens", ours, config)
        yield Variant("+ float16", half, config)
        return
    config = RunConfig(device="cuda", graph_optimization="all")
    captured = replace(config, cuda_graph=True)
    tuned = replace(captured, **_kernel_options(entry.network))
    yield Variant("ONNX Runtime", source, config)
    yield Variant("+ Passlens", ours, config)
    yield Variant("+ CUDA Graph", ours, captured)
    yield Variant("+ kernel options", ours, tuned)
    yield Variant("+ float16", half, tuned)


def _kernel_options(network: str) -> dict[str, Any]:
    """Options that pick other kernels, by the kind of network."""
    if network in CONVOLUTIONAL:
        return {"prefer_nhwc": True, "fuse_convolution_bias": True}
    return {"attention_kernel": "efficient"}


def _runtime_rows(entry: Prepared, race: Race, setup: Setup) -> list[Row]:
    rows = [_runtime_row(entry, race, timing) for timing in race.timings]
    missing = [c for c in COLUMNS[:5] if c not in {row.column for row in rows}]
    reason = f"not measured: it needs a GPU, and this ran on the {setup.device}"
    return rows + [Row(entry.network, entry.title, c, error=reason) for c in missing]


def _runtime_row(entry: Prepared, race: Race, timing: Timing) -> Row:
    row = Row(entry.network, entry.title, timing.label)
    summary, phases = timing.summary, timing.phases
    if summary is None or phases is None or not timing.believable:
        return replace(row, error=race.verdict(timing.label))
    changed = timing.config.changed().items()
    return replace(
        row,
        p50_ms=summary.p50_ms,
        p95_ms=summary.p95_ms,
        min_ms=summary.min_ms,
        verdict=race.verdict(timing.label),
        note=", ".join(f"{name}={value}" for name, value in changed),
        compile_ms=phases.create_ms + phases.first_ms,
        peak_bytes=timing.peak_bytes,
        runs=summary.runs,
    )


def _prepared(name: str, *, folder: Path, setup: Setup, pool: WorkerPool) -> Prepared:
    """The network's files, its inputs and reference outputs for PyTorch, and what it costs."""
    entry = prepare(name, folder, setup)
    if entry.error:
        return entry
    try:
        reference = pool(jobs.run_reference, entry.folder / "float32.onnx", jobs.Request(seeds=1))
        model = complete(load_path(entry.folder / "float32-optimized.onnx"), isolate=pool)
    except StudioError as error:
        return replace(entry, error=error.message)
    (run,) = reference.runs
    for side, values in (("inputs", run.inputs), ("outputs", run.outputs)):
        arrays: dict[str, Any] = dict(values)
        np.savez(entry.folder / f"{side}.npz", **arrays)
    cost = graph_cost(model.ir.graph)
    return replace(
        entry,
        feeds=reference.feeds,
        flops=cost.flops,
        weight_bytes=cost.weight_bytes,
        io_bytes=sum(array.nbytes for array in (*run.inputs.values(), *run.outputs.values())),
    )


def _ideal(entry: Prepared, rates: Rates) -> Ideal:
    return ideal(rates, flops=entry.flops, weight_bytes=entry.weight_bytes, io_bytes=entry.io_bytes)


def _where(machine: Machine, started_at: str) -> str:
    parts = (machine.gpu or "no GPU", machine.cpu, machine.runtime, machine.system)
    return f"{started_at.replace('T', ' ').partition('+')[0]} UTC, {', '.join(parts)}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
