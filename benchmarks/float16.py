"""Which networks compute in float16, what has to stay float32, and how many casts does that take?

    python -m benchmarks.float16 FOLDER|FILE... [--write FILE]

Rows of other networks that FILE has already stay there. Every `.onnx` file as it is: the keep-list
is looked for (budget 1 % of the output's scale, three generated inputs), the network converted and
run, once as a CPU runs it and once emulated, every result rounded to 16 bits. Beside it
onnxconverter-common with inputs and outputs left as they are, judged by the same emulation; install
it beside Passlens (extra `peers`). Weights of the zoo and inputs are random: errors compare ways to
convert, and tell nothing of accuracy. No speed is claimed: a CPU has few kernels of 16 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx_ir as ir

from benchmarks.float16_peer import convert_by_peer
from benchmarks.machine import describe
from benchmarks.report import mib, parser, publish, rows_of, section
from optimizer.errors import StudioError
from optimizer.limits import JobLimits
from optimizer.model.graph import Model
from optimizer.model.writer import write
from optimizer.passes.precision.convert_to_float16 import ConvertToFloat16
from optimizer.pipeline import Pipeline
from optimizer.precision.emulation import emulated
from optimizer.precision.samples import Samples
from optimizer.rewrite.driver import optimize
from optimizer.source import open_source
from optimizer.verify import ErrorBudget, Tolerance, jobs
from profiling.precision.keep_list import KeepList
from profiling.precision.keep_list_search import find_keep_list, reference_on
from profiling.workers import default_pool

BUDGET = ErrorBudget(1.0, "%")
SAMPLES = Samples(count=3)
LIMITS = JobLimits(seconds=900.0)
_COLUMNS = 12
FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16)


@dataclass(frozen=True, slots=True)
class Result:
    """A file in float16.

    Attributes:
        size_bytes: of the file.
        casts: between float32 and float16.
        run: error as a CPU runs it, a share of the scale; None where it does not run.
        emulated: the same with every result rounded.
    """

    size_bytes: int
    casts: int
    run: float | None
    emulated: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """One network.

    Attributes:
        size_bytes: of its file.
        found: the keep-list.
        ours: by the pass with that list; None where nothing computes in 16 bits.
        peer: by onnxconverter-common, or why there is none.
    """

    name: str
    size_bytes: int
    found: KeepList
    ours: Result | None
    peer: Result | str


def row(name: str, path: Path) -> Row:
    """Convert one network both ways.

    Raises:
        StudioError: it cannot be optimized, or does not run.
    """
    isolate = default_pool()
    model = open_source(path, isolate=isolate)
    found = find_keep_list(model, isolate=isolate, samples=SAMPLES, budget=BUDGET, limits=LIMITS)
    print(found, flush=True)
    ours, peer = None, "–"
    if found.sixteen:
        reference = isolate(reference_on, path.absolute(), SAMPLES, limits=LIMITS)
        optimize(model, Pipeline((ConvertToFloat16(keep=found.ids),)))
        with TemporaryDirectory() as folder:
            ours = judged(model, reference, Path(folder))
            peer = by_peer(path, reference, Path(folder))
    return Row(name, path.stat().st_size, found, ours, peer)


def judged(model: Model, reference: jobs.Reference, folder: Path) -> Result:
    """Write a model and run it both ways."""
    file, rounded = folder / "written.onnx", folder / "emulated.onnx"
    write(model.ir, file)
    write(emulated(model.ir), rounded)
    errors = [error_of(reference, one) for one in (file, rounded)]
    casts = sum(converts(node) for node in model.ir.graph)
    return Result(file.stat().st_size, casts, errors[0], errors[1])


def error_of(reference: jobs.Reference, file: Path) -> float | None:
    """The worst output's error; None where it does not run, or gives other infinities."""
    tolerance = Tolerance(budget=BUDGET)
    found = default_pool()(jobs.check, reference, file, tolerance, limits=LIMITS)
    if found.failure or any(not one.ok and not one.scaled for one in found.outputs):
        return None
    return max((one.scaled for one in found.outputs), default=0.0)


def converts(node: ir.Node) -> bool:
    """Whether it is a cast between float32 and float16."""
    if node.op_type != "Cast" or node.domain or node.inputs[0] is None:
        return False
    ends = (node.inputs[0].dtype, node.outputs[0].dtype)
    return ends in (FLOATS, FLOATS[::-1])


def by_peer(path: Path, reference: jobs.Reference, folder: Path) -> Result | str:
    """The same by onnxconverter-common."""
    if find_spec("onnxconverter_common") is None:
        return "not installed"
    target = folder / "peer.onnx"
    try:
        default_pool()(convert_by_peer, path.absolute(), target, limits=LIMITS)
    except StudioError as error:
        return error.message
    try:
        return judged(open_source(target, isolate=default_pool()), reference, folder)
    except StudioError:
        return "no valid file"


def files(folders: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """The models of the folders by name, small ones first."""
    found = (
        path
        for folder in folders
        for path in ([folder] if folder.is_file() else folder.glob("*.onnx"))
    )
    yield from ((path.stem, path) for path in sorted(found, key=lambda path: path.stat().st_size))


def rows_in(report: Path | None) -> dict[str, list[str]]:
    """Cells of the networks in a report that was written before."""
    if report is None or not report.exists():
        return {}
    table = [line.strip("| ").split(" | ") for line in report.read_text().splitlines()]
    return {cells[0]: cells for cells in table if len(cells) == _COLUMNS and cells[1].isdigit()}


def report(rows: Mapping[str, Sequence[str]], left_out: Sequence[str]) -> Iterator[str]:
    """The table, of cells by network."""
    yield f"{describe()}, budget {BUDGET} of an output's scale, {SAMPLES}"
    yield ""
    heads = (
        "network", "nodes in float16", "kept", "runs", "error, nothing kept", "error emulated",
        "error as a CPU runs it", "MiB before", "after", "casts", "theirs", "their error",
    )  # fmt: skip
    yield f"| {' | '.join(heads)} |"
    yield f"|---|{'--:|' * (len(heads) - 1)}"
    for _, row_cells in sorted(rows.items()):
        yield f"| {' | '.join(row_cells)} |"
    in16 = [found for found in rows.values() if found[1] != "0"]
    within = sum(is_within(found[5]) for found in in16)
    kept = sum(found[2] != "0" for found in in16)
    yield ""
    yield (
        f"{len(in16)} networks compute in float16, {within} of them within {BUDGET};"
        f" {kept} need a keep-list. '*': there were not enough runs to make it smaller."
    )
    yield from section("Left out", left_out)


def is_within(error: str) -> bool:
    """Whether the budget holds for what a cell says."""
    return error.endswith(" %") and float(error[:-2]) <= BUDGET.amount


def cells(one: Row) -> list[str]:
    """A row of the table."""
    found, ours, peer = one.found, one.ours, one.peer
    nothing_kept = next((trial.error for trial in found.trials if not trial.kept), None)
    if ours is None:
        return [one.name, "0", *("–",) * 5, mib(one.size_bytes), *("–",) * 4]
    theirs = [str(peer.casts), share(peer.emulated)] if isinstance(peer, Result) else ["–", peer]
    return [
        one.name,
        str(found.sixteen),
        f"{len(found.nodes)}{'' if found.irreducible else '*'}",
        str(len(found.trials)),
        "out of range" if nothing_kept is None else share(nothing_kept),
        share(ours.emulated),
        share(ours.run),
        mib(one.size_bytes),
        mib(ours.size_bytes),
        str(ours.casts),
        *theirs,
    ]


def share(error: float | None) -> str:
    """A share of the scale in percent."""
    if error is None:
        return "does not run, or other infinities"
    return "other infinities" if error == float("inf") else f"{100 * error:.2f} %"


def main() -> None:
    """Print the report, or write it."""
    arguments = parser(__doc__).parse_args()
    rows = rows_in(arguments.write)
    left_out: list[str] = []
    for one in files(arguments.folders):
        more, without = rows_of([one], row)
        rows |= {found.name: cells(found) for found in more}
        left_out += without
        if arguments.write is not None:  # it takes long: what is known is kept
            arguments.write.write_text("\n".join(report(rows, left_out)) + "\n")
    publish(report(rows, left_out), arguments.write)


if __name__ == "__main__":
    main()
