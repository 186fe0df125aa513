"""What each optimizer leaves of a network, what that takes, and whether it still computes the same.

    python -m benchmarks.optimizers [FOLDER...] [--keep FOLDER] [--repeat N] [--only NAME]*
                                    [--again TOOL]* [--manifest FILE] [--write FILE]

Without a folder the gallery is used. The preset `portable` stands beside what writes standard
operators (onnxsim, onnxslim, onnxoptimizer to its fixed point, onnxscript), the preset `cpu`
beside those and what writes operators of ONNX Runtime: its own level *extended*, onnxscript's
fusions for it, `onnxruntime.transformers`. `PEERS_PYTHON` names an interpreter that has them.

Every run is a process of its own with a limit of time, the tools take turns on each model, and the
lowest CPU time of the repeats counts: that of optimizing, inference of shapes and the trace
included, without imports, reading, writing and verification. Every output is run and compared with
the source, ONNX Runtime's optimizations off; one that does not agree, or has other inputs and
outputs, does not count. Constant nodes do not count; nodes of bodies and functions do.

What was found is kept in the folder as it comes; the same command goes on where it ended.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe
from benchmarks.node_counts import operators_in
from benchmarks.optimizers_table import OURS, ROWS, Found, Row, report
from benchmarks.peers import (
    PEERS,
    RUNTIME_PEERS,
    peer_command,
    peer_versions,
    peers_here,
    timed_tool,
)
from benchmarks.report import parser, publish
from optimizer.verify import Feed, Verification, verify
from profiling.workers import default_pool
from studio import gallery

_KEPT = Path(tempfile.gettempdir()) / "passlens-optimizers"
Feeds = Mapping[str, tuple[Feed, ...]]
"""By the name of a model: inputs that it is known to run on."""


def command(tool: str, source: Path, target: Path) -> list[str]:
    """The command with which a tool writes `target`."""
    if tool not in OURS:
        return peer_command(tool, source, target)
    asked = ["optimize", str(source), "-o", str(target), "--preset", OURS[tool]]
    return [sys.executable, "-m", "studio.cli", *asked, "--json", "--no-verify"]


def run_once(tool: str, source: Path, *, seconds: float, feeds: tuple[Feed, ...] | None) -> Found:
    """One run of a tool, and what it made looked at and compared."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "optimized.onnx"
        told, failure = timed_tool(command(tool, source, target), target, seconds=seconds)
        if failure:
            return Found(problem=failure)
        cpu_s = float(told["seconds"]) + float(told.get("shape_seconds", 0.0))
        checked = compared(source, target, feeds)
        reason = "" if checked.verdict == "equal" else checked.reason
        runs = checked.verdict != "not_run"
        return Found(operators_in(target), cpu_s, reason, checked.scaled, compared=runs)


def compared(source: Path, target: Path, feeds: tuple[Feed, ...] | None) -> Verification:
    """Whether a file computes what the source does.

    On inputs of two sizes that the source's graph suggests; where it does not run on those, on the
    ones that it is known to run on.
    """
    found = verify(source, target, isolate=default_pool())
    if found.verdict != "not_run" or feeds is None:
        return found
    return verify(source, target, isolate=default_pool(), feeds=feeds)


def rerun(before: Found, tool: str, source: Path, *, seconds: float) -> Found:
    """The same output once more, for its time alone."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "optimized.onnx"
        told, failure = timed_tool(command(tool, source, target), target, seconds=seconds)
        if failure:
            return replace(before, runs=before.runs + 1)
        cpu_s = float(told["seconds"]) + float(told.get("shape_seconds", 0.0))
        return replace(before, cpu_s=min(before.cpu_s, cpu_s), runs=before.runs + 1)


def known_feeds(manifest: Path | None) -> Feeds:
    """Inputs from a list of models, each with its `file` and its `feeds`."""
    if manifest is None:
        return {}
    listed: list[dict[str, Any]] = json.loads(manifest.read_text())
    return {
        Path(one["file"]).name.partition(".onnx")[0]: tuple(_feed(feed) for feed in one["feeds"])
        for one in listed
    }


def _feed(told: Mapping[str, Any]) -> Feed:
    name, dtype, shape = str(told["name"]), str(told["dtype"]), tuple(map(int, told["shape"]))
    if "value" in told:
        values = tuple(float(one) for one in np.ravel(told["value"]))
        return Feed(name, dtype, shape, "choice", values=values)
    if "high" in told:
        return Feed(name, dtype, shape, "integers", int(told["low"]), int(told["high"]))
    return Feed(name, dtype, shape, "bool" if dtype == "bool" else "normal")


def models_of(folders: Sequence[Path], only: Sequence[str]) -> list[Path]:
    """The files, small ones first."""
    paths = [path for folder in folders for path in folder.rglob("*.onnx")]
    if not folders:
        paths = [gallery.open_path(entry.id) for entry in gallery.entries()]
    wanted = [path for path in paths if not only or any(part in path.stem for part in only)]
    return sorted(wanted, key=lambda path: path.stat().st_size)


def measured(
    model: Path, tools: Sequence[str], before: Row | None, *, repeat: int, seconds: float,
    feeds: tuple[Feed, ...] | None,
) -> Iterator[Row]:  # fmt: skip
    """A model's row each time that there is more in it."""
    row = before or Row(model.stem, sum(operators_in(model).values()))
    for round_ in range(repeat):
        for tool in tools:
            known = row.found.get(tool)
            if known is not None and (known.runs > round_ or not known.operators):
                continue
            made = (
                run_once(tool, model, seconds=seconds, feeds=feeds)
                if known is None
                else rerun(known, tool, model, seconds=seconds)
            )
            row = replace(row, found={**row.found, tool: made})
            yield row


def _kept(file: Path, again: Sequence[str]) -> Row | None:
    if not file.exists():
        return None
    row = ROWS.loads(file.read_bytes())
    found = {
        tool: one for tool, one in row.found.items() if not any(part in tool for part in again)
    }
    return replace(row, found=found)


def main() -> None:
    """Compare, keep, print and write."""
    made = parser(__doc__)
    made.add_argument("--keep", type=Path, default=_KEPT, help="folder for what was found")
    made.add_argument("--repeat", type=int, default=3, help="runs of each tool, for its time")
    made.add_argument("--seconds", type=float, default=300.0, help="limit of a run")
    made.add_argument("--only", action="append", default=[], help="models with this in their name")
    made.add_argument("--again", action="append", default=[], help="tools with this in their name")
    made.add_argument("--manifest", type=Path, help="inputs that models are known to run on")
    arguments = made.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    tools = [*OURS, *peers_here({**PEERS, **RUNTIME_PEERS})]
    feeds = known_feeds(arguments.manifest)
    models = models_of(arguments.folders, arguments.only)
    rows: list[Row] = []
    for number, model in enumerate(models, start=1):
        print(f"{number}/{len(models)} {model.stem}", file=sys.stderr, flush=True)
        file = arguments.keep / f"{model.stem}.json"
        known = _kept(file, arguments.again)
        for row in measured(
            model,
            tools,
            known,
            repeat=arguments.repeat,
            seconds=arguments.seconds,
            feeds=feeds.get(model.stem),
        ):
            file.write_bytes(ROWS.dumps(row))
            known = row
        rows.extend([known] if known is not None else [])
    head = f"{describe('passlens', 'onnx', 'onnxruntime-gpu')}; {peer_versions()}"
    publish([head, "", *report(rows, tools)], arguments.write)


if __name__ == "__main__":
    main()
