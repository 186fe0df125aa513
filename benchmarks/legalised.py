"""What does a network cost once it is written with what a device has, and what remains?

    python -m benchmarks.legalised [FOLDER...] [--profile NAME] [--write FILE]

Every network of the gallery and of the `.onnx` files of the folders, legalised to a hardware
profile (`matrix-engine` unless told otherwise). The operators of the written file are counted anew
and held against the names in the profile's TOML; the outputs are compared with those of the file as
it came, on ONNX Runtime in worker processes. MiB are what all nodes read and write, by
`graph_cost`: what im2col and the steps of a normalization move more, less what cleaning up saves.
Weights and inputs are random. What is quantized differs where rounding moves a number to the next
step.
"""

from __future__ import annotations

import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from benchmarks.machine import describe
from benchmarks.models import files
from benchmarks.report import MIB, parser, publish, rows_of, section
from optimizer.graph_cost import graph_cost
from optimizer.hardware.reading import FOLDER
from optimizer.legalisation import Legalised, legalise
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.source import complete
from optimizer.verify import Verification, verify
from profiling.workers import default_pool


@dataclass(frozen=True, slots=True)
class Row:
    """One network.

    Attributes:
        nodes: before and after, Constant nodes left out.
        moved: bytes that all nodes read and write, before and after.
        strangers: operators of the written file that are not in the profile.
    """

    name: str
    nodes: tuple[int, int]
    moved: tuple[int, int]
    found: Legalised
    strangers: Counter[str]
    checked: Verification


def row(profile: str, name: str, path: Path) -> Row:
    """Legalise, write, count, compare."""
    model = complete(load_path(path), isolate=default_pool())
    before = graph_cost(model.ir.graph)
    found = legalise(model, profile)
    after = graph_cost(model.ir.graph)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "legal.onnx"
        write(model.ir, target)
        strangers = _strangers(target, profile)
        checked = verify(path, target, isolate=default_pool())
    nodes = (before.nodes, after.nodes)
    moved = tuple(cost.bytes_read + cost.bytes_written for cost in (before, after))
    return Row(name, nodes, (moved[0], moved[1]), found, strangers, checked)


def _strangers(path: Path, profile: str) -> Counter[str]:
    """Operators of a file that a profile's TOML does not name; none where it has everything."""
    declared = tomllib.loads((FOLDER / f"{profile}.toml").read_text())
    proto = onnx.load(path, load_external_data=False)
    if declared.get("everything"):
        versions = {entry.domain: entry.version for entry in proto.opset_import}
        newer = versions[""] > declared["opset"]
        return Counter({f"opset {versions['']}": 1} if newer else {})
    names = {name for entry in declared["operators"] for name in entry["names"].split()}
    found = Counter[str]()
    graphs = [proto.graph]
    while graphs:
        for node in graphs.pop().node:
            name = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
            found[name] += name not in names and name != "Constant"
            graphs += [a.g for a in node.attribute if a.HasField("g")]
    return +found


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as a Markdown table."""
    yield "| network | nodes | legal | steps | left | MiB | legal | times | outputs | off by |"
    yield "|---|--:|--:|--:|---|--:|--:|--:|---|--:|"
    for one in rows:
        low, high = (size / MIB for size in one.moved)
        left = ", ".join(f"{count} {name}" for name, count in one.strangers.most_common())
        cells = [
            one.name,
            *map(str, one.nodes),
            str(one.found.trace.steps),
            left or "none",
            f"{low:.1f}",
            f"{high:.1f}",
            f"{high / low:.2f}" if low else "-",
            one.checked.verdict,
            f"{one.checked.scaled:.1e}" if one.checked.outputs else "-",
        ]
        yield f"| {' | '.join(cells)} |"


def reasons(rows: Sequence[Row]) -> Iterator[str]:
    """What was not lowered, and why."""
    for one in rows:
        for group in one.found.missing:
            yield f"- {one.name}: {group.finding()}"


def differing(rows: Sequence[Row]) -> Iterator[str]:
    """What became of outputs that are not the same."""
    for one in rows:
        if one.checked.verdict != "equal":
            yield f"- {one.name}: {one.checked.reason}"


def main(arguments: list[str]) -> int:
    """Print the table; with `--write`, keep it."""
    asked = parser(__doc__)
    asked.add_argument("--profile", default="matrix-engine")
    given = asked.parse_args(arguments)
    rows, failed = rows_of(files(given.folders), lambda name, path: row(given.profile, name, path))
    lines = [
        f"{describe('passlens', 'onnxruntime-gpu', 'onnx')}. Profile: {given.profile}.",
        "",
        *table(rows),
        *section("## What is left", [*reasons(rows)]),
        *section("## Outputs that differ", [*differing(rows)]),
        *section("## Not done", failed),
    ]
    publish(lines, given.write)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
