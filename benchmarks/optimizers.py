"""Passlens beside onnxslim, model by model: nodes left and CPU time spent.

    python -m benchmarks.optimizers [FOLDER] [--repeat N] [--json FILE]

Without a folder the gallery is used. Every run is a process of its own, the tools take turns on
each model, and the lowest CPU time of the repeats counts. The time is that of optimizing, inference
of shapes included: without imports, reading, writing and verification. Constant nodes do not
count; nodes of bodies and functions do. `PEERS_PYTHON` names an interpreter that has onnxslim; by
default this one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from studio import gallery

ONNXSLIM = """
import json, sys, time
import onnx, onnxruntime, onnxslim
model = onnx.load(sys.argv[1])
started = time.process_time()
slim = onnxslim.slim(model)
seconds = time.process_time() - started
onnx.save(slim, sys.argv[2])
print(json.dumps({"seconds": seconds}))
"""
COUNT = """
import sys
import onnx
def count(nodes):
    total = 0
    for node in nodes:
        total += node.op_type != "Constant"
        for attribute in node.attribute:
            graphs = [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]
            total += sum(count(graph.node) for graph in graphs)
    return total
model = onnx.load(sys.argv[1], load_external_data=False)
print(count(model.graph.node) + sum(count(function.node) for function in model.functions))
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What one tool made of one model.

    Attributes:
        nodes: left in the optimized model; None where the tool failed.
        seconds: CPU time of optimizing, the lowest of the repeats.
        failure: why there is no result.
    """

    nodes: int | None = None
    seconds: float = 0.0
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One model: its nodes, and the result of each tool by name."""

    model: str
    nodes: int
    results: dict[str, Result]


def passlens(source: Path, target: Path) -> list[str]:
    """The command that runs Passlens."""
    command = [sys.executable, "-m", "studio.cli", "optimize", str(source), "-o", str(target)]
    return [*command, "--json", "--no-verify"]


def onnxslim(source: Path, target: Path) -> list[str]:
    """The command that runs onnxslim."""
    python = os.environ.get("PEERS_PYTHON", sys.executable)
    return [python, "-c", ONNXSLIM, str(source), str(target)]


TOOLS: dict[str, Callable[[Path, Path], list[str]]] = {"passlens": passlens, "onnxslim": onnxslim}


def count_nodes(model: Path) -> int:
    """Nodes of a model file, counted the same way for every tool."""
    command = [sys.executable, "-c", COUNT, str(model)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run_once(tool: str, source: Path, *, timeout: float) -> Result:
    """One run of one tool in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "optimized.onnx"
        try:
            done = subprocess.run(
                TOOLS[tool](source, target), capture_output=True, text=True, timeout=timeout
            )
        except subprocess.TimeoutExpired:
            return Result(failure=f"more than {timeout:.0f} s")
        if done.returncode != 0 or not target.exists():
            last = (done.stderr.strip().splitlines() or [""])[-1]
            return Result(failure=f"exit {done.returncode}: {last[:120]}")
        report = _report(done.stdout)
        seconds = float(report["seconds"]) + float(report.get("shape_seconds", 0.0))
        return Result(nodes=count_nodes(target), seconds=seconds)


def _report(output: str) -> dict[str, Any]:
    """The JSON a tool printed: all of its output, or the last line after its own chatter."""
    try:
        return json.loads(output)
    except ValueError:
        return json.loads(output.strip().splitlines()[-1])


def peer_version() -> str:
    """The version of onnxslim that is compared."""
    python = os.environ.get("PEERS_PYTHON", sys.executable)
    code = "from importlib.metadata import version; print(version('onnxslim'))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip() or "(not installed)"


def compare(model: Path, *, repeat: int, timeout: float) -> Row:
    """All tools on one model, taking turns."""
    runs: dict[str, list[Result]] = {tool: [] for tool in TOOLS}
    for _ in range(repeat):
        for tool, results in runs.items():
            if not (results and results[-1].failure):
                results.append(run_once(tool, model, timeout=timeout))
    best = {
        tool: min(results, key=lambda result: (not result.failure, result.seconds))
        for tool, results in runs.items()
    }
    return Row(model.stem, count_nodes(model), best)


def table(rows: Sequence[Row]) -> Iterable[str]:
    """The rows as a Markdown table."""
    yield "| model | nodes | " + " | ".join(f"{tool} | CPU s" for tool in TOOLS) + " |"
    yield "|---|--:|" + "--:|--:|" * len(TOOLS)
    for row in rows:
        cells = [
            f"{result.nodes} | {result.seconds:.2f}"
            if result.nodes is not None
            else f"{result.failure} | –"
            for result in (row.results[tool] for tool in TOOLS)
        ]
        yield f"| {row.model} | {row.nodes} | {' | '.join(cells)} |"


def summary(rows: Sequence[Row]) -> Iterable[str]:
    """One line a tool, over the models that every tool got through."""
    common = [row for row in rows if all(r.nodes is not None for r in row.results.values())]
    yield f"Over the {len(common)} of {len(rows)} models that every tool got through:"
    for tool in TOOLS if common else ():
        left = [(row, row.results[tool]) for row in common]
        reductions = [1 - (r.nodes or 0) / row.nodes for row, r in left if row.nodes]
        grew = [row.model for row, r in left if (r.nodes or 0) > row.nodes]
        yield (
            f"- {tool}: median reduction {statistics.median(reductions):.1%}, "
            f"{sum(r.seconds for _, r in left):.2f} CPU s in all, "
            f"grew: {', '.join(grew) or 'none'}"
        )
    for tool in TOOLS:
        if failed := [row.model for row in rows if row.results[tool].nodes is None]:
            yield f"- {tool} failed on: {', '.join(failed)}"


def main(arguments: Sequence[str]) -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optimizers")
    parser.add_argument("folder", nargs="?", type=Path, help="searched for .onnx files")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds a run")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    if options.folder is None:
        models = [gallery.open_path(entry.id) for entry in gallery.entries()]
    else:
        models = sorted(options.folder.rglob("*.onnx"))
    rows: list[Row] = []
    for index, model in enumerate(models, start=1):
        print(f"{index}/{len(models)} {model.stem}", file=sys.stderr)
        rows.append(compare(model, repeat=options.repeat, timeout=options.timeout))
    print(f"{describe('passlens', 'onnx', 'onnxruntime-gpu')}, onnxslim {peer_version()}\n")
    print("\n".join([*table(rows), "", *summary(rows)]))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
