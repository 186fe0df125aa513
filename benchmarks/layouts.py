"""Every network in the layouts of every target: do outputs agree, and what becomes of Transposes?

    python -m benchmarks.layouts [FOLDER...] [--write FILE]

The `.onnx` files of the folders, by default the gallery. For each target the network is assigned
(`optimizer.layout_assignment`), written, opened again and compared with the file as it came, on one
random input in a worker. Transposes are those of the file, after the default passes, for each
target, and what ONNX Runtime (level all, on this machine) and onnxslim leave; of ONNX Runtime also
how many ReorderInput and ReorderOutput stand in its graph, and how many Transposes its products
have taken in (transA, transB of FusedMatMul). Conversions into blocks are no
Transposes: their number stands beside a plus. What blocks fill up on a cube is counted a second
time from the written file. `PEERS_PYTHON` names an interpreter that has onnxslim.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

import onnx

from benchmarks.machine import describe
from benchmarks.models import files
from benchmarks.peers import peer_command, peer_versions
from benchmarks.report import parser, publish, rows_of, section
from benchmarks.runtime_operators import TAKEN_IN, Operators, left_by_runtime, operators_of
from optimizer.errors import StudioError
from optimizer.layout.formats import Waste
from optimizer.layout.targets import TARGETS
from optimizer.layout_assignment import AssignedLayouts, assign_layouts
from optimizer.limits import JobLimits
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.numbers import bytes_text
from optimizer.source import complete
from optimizer.verify import verify
from profiling.workers import default_pool

LIMITS = JobLimits(seconds=300.0)


@dataclass(frozen=True, slots=True)
class Assigned:
    """One network for one target.

    Attributes:
        found: what the assignment says.
        operators: of the written file.
        agrees: what the comparison says, in short.
        filled: bytes of blocks in the written file.
    """

    found: AssignedLayouts
    operators: Operators
    agrees: str
    filled: int

    @property
    def cell(self) -> str:
        """Transposes, and conversions into blocks and back."""
        blocks = self.operators["TransData"] + self.operators["TransDataBack"]
        return f"{self.operators['Transpose']}" + (f" + {blocks}" if blocks else "")


@dataclass(frozen=True, slots=True)
class Row:
    """One network.

    Attributes:
        targets: by id.
        runtime: operators that ONNX Runtime leaves; empty where it did not get through.
        slim: Transposes that onnxslim leaves.
    """

    name: str
    targets: Mapping[str, Assigned]
    runtime: Operators
    slim: str


def networks(folders: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Names and files: of the folders, or of the gallery where there are none."""
    named = (path for folder in folders for path in sorted(folder.glob("*.onnx")))
    return ((path.stem, path) for path in named) if folders else files(())


def row(name: str, path: Path) -> Row:
    """One network for all targets and by its peers."""
    with tempfile.TemporaryDirectory() as folder:
        checked: dict[str, str] = {}
        found = {target: _assigned(path, target, Path(folder), checked) for target in TARGETS}
        return Row(name, found, _runtime(path), _slim(path, Path(folder)))


def _assigned(path: Path, target: str, folder: Path, checked: dict[str, str]) -> Assigned:
    """Assign, write, open and compare; a file that was compared before is not run again."""
    model = complete(load_path(path), isolate=default_pool())
    found = assign_layouts(model, TARGETS[target])
    out = folder / f"{target}.onnx"
    write(model.ir, out)
    load_path(out)
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    if digest not in checked:
        checked[digest] = _compared(path, out)
    proto = onnx.load(out, load_external_data=False)
    return Assigned(found, operators_of(proto), checked[digest], blocks_of(proto))


def _compared(path: Path, out: Path) -> str:
    found = verify(path, out, isolate=default_pool(), seeds=1, limits=LIMITS)
    if found.verdict != "equal":
        return found.verdict
    return "bit for bit" if found.same_bits else f"{found.scaled:.0e}"


def blocks_of(proto: onnx.ModelProto) -> int:
    """Bytes of all values in blocks, by the shapes that the file states."""
    total = 0
    makers = {name: node.op_type for node in proto.graph.node for name in node.output}
    plain = {name for name, op in makers.items() if op in ("TransDataBack", "Transpose", "Reshape")}
    for info in proto.graph.value_info:
        tensor = info.type.tensor_type
        shape = [dim.dim_value or 1 for dim in tensor.shape.dim]
        item = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).itemsize
        if len(shape) == 5 and shape[-1] in (16, 32) and info.name not in plain:
            total += prod(shape) * item
    return total


def _runtime(path: Path) -> Operators:
    try:
        return left_by_runtime(path)
    except StudioError:
        return {}


def _slim(path: Path, folder: Path) -> str:
    target = folder / "slim.onnx"
    try:
        done = subprocess.run(
            peer_command("onnxslim", path, target), capture_output=True, timeout=300
        )
    except subprocess.TimeoutExpired:
        return "> 300 s"
    if done.returncode or not target.exists():
        return "–"
    return str(operators_of(onnx.load(target, load_external_data=False))["Transpose"])


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Transposes, network by network."""
    yield (
        "| network | in the file | default passes | "
        + " | ".join(TARGETS)
        + " | ONNX Runtime (+ Reorder) | onnxslim | outputs agree |"
    )
    yield "|---|--:|--:|" + "--:|" * (len(TARGETS) + 2) + "---|"
    for one in rows:
        source, default, _ = next(iter(one.targets.values())).found.transposes
        reorders = one.runtime.get("ReorderInput", 0) + one.runtime.get("ReorderOutput", 0)
        runtime = f"{one.runtime.get('Transpose', 0)}" + (f" + {reorders}" if reorders else "")
        runtime += f", {taken} in products" if (taken := one.runtime.get(TAKEN_IN, 0)) else ""
        agrees = dict.fromkeys(found.agrees for found in one.targets.values())
        cells = [
            one.name,
            f"{source}",
            f"{default}",
            *(found.cell for found in one.targets.values()),
            runtime if one.runtime else "–",
            one.slim,
            ", ".join(agrees),
        ]
        yield f"| {' | '.join(cells)} |"


def predicted(rows: Sequence[Row]) -> Iterator[str]:
    """What the data sheets say: in NCHW, as written, and as assigned; nodes that moved."""
    head = " | ".join(f"{t}, µs: NCHW, as written → assigned | moved" for t in TARGETS)
    yield f"| network | {head} | proven |"
    yield "|---|" + "--:|--:|" * len(TARGETS) + "---|"
    for one in (one for one in rows if any(t.found.assigned_us for t in one.targets.values())):
        cells = [one.name]
        for target in one.targets.values():
            found = target.found
            before = ", ".join(
                "–" if us is None else f"{us:,.0f}" for us in (found.first_us, found.written_us)
            )
            cells += [f"{before} → {found.assigned_us:,.0f}", str(found.moved.total())]
        cells.append(", ".join({t.found.certificate for t in one.targets.values()}))
        yield f"| {' | '.join(cells)} |"


def padding(rows: Sequence[Row]) -> Iterator[str]:
    """What blocks of a cube fill up, and whether the written file says the same."""
    yield "| network | images in blocks | padding | of it | most in | in the written file |"
    yield "|---|--:|--:|--:|---|--:|"
    for one in rows:
        cube = one.targets["nc1hwc0"]
        wastes: Sequence[Waste] = cube.found.wastes
        if not wastes:
            continue
        plain, filled = (sum(w.plain for w in wastes), sum(w.filled for w in wastes))
        same = "the same" if cube.filled == filled else bytes_text(cube.filled)
        yield (
            f"| {one.name} | {len(wastes)} | {bytes_text(filled - plain)} "
            f"| {(filled - plain) / plain:.1%} | {wastes[0].name} | {same} |"
        )


def summary(rows: Sequence[Row]) -> Iterable[str]:
    """What holds over all networks."""
    runs = [(one.name, target, found) for one in rows for target, found in one.targets.items()]
    wrong = [f"{name} ({target})" for name, target, f in runs if f.agrees == "differs"]
    grown = [
        f"{name} ({target})"
        for name, target, found in runs
        if found.operators["Transpose"] > found.found.transposes[0]
    ]
    heads = f"- {len(rows)} networks, {len(TARGETS)} targets"
    yield f"{heads}; outputs differ: {', '.join(wrong) or 'none'}"
    yield f"- more Transposes than in the file: {', '.join(grown) or 'none'}"
    for peer, left in (("ONNX Runtime", _of_runtime), ("onnxslim", _of_slim)):
        known = [(one, count) for one in rows if (count := left(one)) is not None]
        more = [
            f"{one.name} ({target}, {found.operators['Transpose']} to {count})"
            for one, count in known
            for target, found in one.targets.items()
            if found.operators["Transpose"] > count
        ]
        yield f"- more Transposes than {peer} leaves, of {len(known)}: {', '.join(more) or 'none'}"
    inexact = [name for name, _, found in runs if found.found.certificate != "exact"]
    yield f"- assignments that were not proven cheapest: {', '.join(inexact) or 'none'}"


def _of_runtime(one: Row) -> int | None:
    """With those that its products have taken in."""
    return one.runtime["Transpose"] + one.runtime[TAKEN_IN] if one.runtime else None


def _of_slim(one: Row) -> int | None:
    return int(one.slim) if one.slim.isdecimal() else None


def main() -> int:
    """Print the report; 1 if outputs differ anywhere."""
    arguments = parser(__doc__).parse_args()
    rows, left_out = rows_of(networks(arguments.folders), row)
    head = f"{describe('passlens', 'onnxruntime-gpu')}; beside it {peer_versions()}."
    lines = [head, "", *summary(rows), *section("## Transposes", [*table(rows)])]
    lines += section("## Predicted", [*predicted(rows)])
    lines += section("## Padding of NC1HWC0", [*padding(rows)])
    publish([*lines, *section("Not assigned:", left_out)], arguments.write)
    return int(any(f.agrees == "differs" for one in rows for f in one.targets.values()))


if __name__ == "__main__":
    sys.exit(main())
