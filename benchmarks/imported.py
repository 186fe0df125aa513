"""Other projects' optimizers before and after our preset: nodes left, outputs, provenance.

    python -m benchmarks.imported FOLDER... --keep FOLDER [--minutes M] [--seconds S] [--write FILE]

Each imported pass runs alone, on every model in two orders: *before* the preset `portable`, in one
pipeline, and *after* it, on what the preset made of the model. The small models come first. What
is found is kept in a folder as it comes, and the report is written after each model; the same
command goes on where it ended. A call of a tool has `--seconds` of wall clock, and so have all
rewrites of a run. Run it with an interpreter that has the extra `peers` (`sh .ci/beside peers`).
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.machine import describe
from benchmarks.report import parser, publish, section
from optimizer.errors import StudioError
from optimizer.limits import Limits
from optimizer.model.graph import count_nodes
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, passes
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from optimizer.verify import Verification, verify
from profiling.workers import default_pool

IMPORTED = tuple(p.id for p in passes() if p.family == "imported" and not p.missing())
PRESET = Pipeline.of("portable").ids
TOOLS = (
    "passlens",
    "onnx",
    "onnxruntime-gpu",
    "onnxsim",
    "onnxslim",
    "onnxoptimizer",
    "onnxscript",
)
EQUAL = "equal"
_TEMPORARY = re.compile(r"\S*/passlens-\w+-\w+/")


@dataclass(frozen=True, slots=True)
class Cell:
    """One run.

    Attributes:
        nodes: before and after.
        verdict: of the comparison with the source; empty where there was no run.
        steps: of the imported pass.
        failed: what was taken back, in the words of the trace.
        confidence: of the inferred provenance, a step each; exact steps have none.
        declined: why the pass did nothing, or not all.
        seconds: CPU time of optimizing.
        failure: why there is no result.
    """

    nodes: tuple[int, int] = (0, 0)
    verdict: str = ""
    steps: int = 0
    failed: tuple[str, ...] = ()
    confidence: tuple[float, ...] = ()
    declined: tuple[str, ...] = ()
    seconds: float = 0.0
    failure: str = ""


@dataclass(slots=True)
class Kept:
    """What is kept of a model: its runs by pass and order."""

    name: str
    cells: dict[str, Cell] = field(default_factory=dict[str, Cell])

    @staticmethod
    def read(file: Path, name: str) -> Kept:
        """What an earlier run has found, if there was one."""
        found: dict[str, dict[str, Any]] = json.loads(file.read_bytes()) if file.exists() else {}
        return Kept(name, {key: _cell(value) for key, value in found.items()})

    def cell(self, pass_id: str, order: str) -> Cell | None:
        """One run."""
        return self.cells.get(f"{pass_id}/{order}")


def _cell(document: dict[str, Any]) -> Cell:
    for key, value in document.items():
        if type(value) is list:
            document[key] = (*value,)
    return Cell(**document)


def run_once(source: Path, target: Path, listed: Sequence[str], *, seconds: float) -> Cell:
    """One run: open, optimize, write, compare with what was opened.

    Args:
        source: the model.
        target: what is made of it.
        listed: passes, in order.
        seconds: wall clock of one call of a tool, and of all rewriting.
    """
    pool = default_pool()
    limits = replace(Limits(), optimize_seconds=seconds)
    chosen = (_within(one, seconds) for one in Pipeline.listed(listed).passes)
    pipeline = replace(Pipeline(), passes=tuple(chosen))
    pass_id = next((one for one in listed if one in IMPORTED), "")
    try:
        model = complete(load_path(source), isolate=pool)
        before = count_nodes(model.ir.graph)
        trace = optimize(model, pipeline, limits=limits, isolate=pool)
        write(model.ir, target)
        verdict = verify(source, target, isolate=pool, exact=trace.exactness == "exact")
    except StudioError as error:
        return Cell(failure=error.message)
    steps = [one for one in trace.rewrites if one.pass_id == pass_id]
    reasons = (one.reason for one in trace.declined if one.pass_id == pass_id)
    return Cell(
        (before, count_nodes(model.ir.graph)),
        verdict.verdict if verdict.verdict == EQUAL else f"{verdict.verdict}: {_why(verdict)}",
        len(steps),
        tuple(one.error for one in trace.failed),
        tuple(one.inferred.confidence for one in steps if one.inferred is not None),
        tuple(dict.fromkeys(reasons)),
        trace.seconds,
        trace.stopped,
    )


def _within(one: Pass, seconds: float) -> Pass:
    """A pass of a tool, with this limit of time."""
    options = {**one.options(), "seconds": seconds} if one.id in IMPORTED else one.options()
    return type(one)(**options)


def _why(verification: Verification) -> str:
    wrong = (f"{one.name}: {one.reason}" for one in verification.outputs if not one.ok)
    return verification.reason or next(wrong, "")


def measure(source: Path, kept: Kept, *, seconds: float, until: float) -> Iterator[None]:
    """What is still missing of a model; stops after each run."""
    with tempfile.TemporaryDirectory() as folder:
        ours, target = Path(folder) / "ours.onnx", Path(folder) / "made.onnx"
        orders = ("before", "after")
        wanted = [(one, order) for one in IMPORTED for order in orders]
        for pass_id, order in [("portable", "preset"), *wanted]:
            if kept.cell(pass_id, order) is not None or time.monotonic() > until:
                continue
            if order == "after" and not ours.exists():
                run_once(source, ours, PRESET, seconds=seconds)
            if order == "preset":
                made = run_once(source, ours, PRESET, seconds=seconds)
            elif order == "before":
                made = run_once(source, target, (pass_id, *PRESET), seconds=seconds)
            elif ours.exists():
                made = run_once(ours, target, (pass_id,), seconds=seconds)
            else:
                made = Cell(failure="the preset alone failed")
            kept.cells[f"{pass_id}/{order}"] = made
            yield


def report(rows: Sequence[Kept]) -> Iterator[str]:
    """The table, what breaks, and what it comes to."""
    names = [one.replace("rewrite", "rules").replace("-by-", ", ") for one in IMPORTED]
    names = [one.removeprefix("optimize, ") for one in names]
    yield "Nodes left: before the preset / after it. The note behind says what is special: `!` a"
    yield "step was taken back, `–` nothing done, `≠` outputs differ, `?` not compared, `t` the"
    yield "limit of time was reached (on a machine with other work, that may be the load), `·` not"
    yield "reached."
    yield ""
    yield "| model | source | portable | " + " | ".join(names) + " |"
    yield "|---|--:|--:|" + "--:|" * len(names)
    for row in rows:
        preset = row.cell("portable", "preset")
        if preset is not None:
            cells = (
                " / ".join(_short(row.cell(one, order)) for order in ("before", "after"))
                for one in IMPORTED
            )
            source = preset.nodes[0] or "?"
            yield f"| {row.name} | {source} | {_short(preset)} | {' | '.join(cells)} |"
    yield ""
    yield from _totals(rows)
    yield ""
    yield "## What breaks, and at what"
    yield ""
    yield "| pass | order | model | in the words of the trace |"
    yield "|---|---|---|---|"
    for (pass_id, name, told), orders in _broken(rows).items():
        yield f"| {pass_id} | {' and '.join(orders)} | {name} | {told.replace('|', '/')} |"


def _broken(rows: Sequence[Kept]) -> dict[tuple[str, str, str], list[str]]:
    """The orders in which a pass says something of a model; what no run opens is said once."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in rows:
        preset = row.cell("portable", "preset")
        unopened = preset.failure if preset is not None else ""
        for key, cell in row.cells.items():
            pass_id, order = key.split("/")
            if not unopened or key == "portable/preset":
                for told in dict.fromkeys(filter(None, [*cell.failed, cell.failure])):
                    told = _TEMPORARY.sub("", told)
                    found.setdefault((pass_id, row.name, told), []).append(order)
    return found


def _short(cell: Cell | None) -> str:
    if cell is None:
        return "·"
    if cell.failure:
        return "t" if cell.failure.startswith("Stopped after") else "failed"
    marks = "!" if cell.failed else "–" if not cell.steps and cell.declined else ""
    if not cell.verdict.startswith(EQUAL):
        marks += "≠" if cell.verdict.startswith("diff") else "?"
    return f"{cell.nodes[1]}{marks}"


def _totals(rows: Sequence[Kept]) -> Iterator[str]:
    """A line a pass and order: how many ran, agreed, were taken back; fewest nodes; confidence."""
    yield (
        "| pass | order | models | outputs agree | not comparable | steps taken back in "
        "| fewer nodes than portable alone | more | mean confidence |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for pass_id in IMPORTED:
        for order in ("before", "after"):
            found = [
                (cell, preset)
                for row in rows
                if (cell := row.cell(pass_id, order)) and (preset := row.cell("portable", "preset"))
            ]
            ran = [pair for pair in found if not pair[0].failure]
            verdicts = Counter(cell.verdict.split(":")[0] for cell, _ in ran)
            sure = [value for cell, _ in ran for value in cell.confidence]
            mean = f"{sum(sure) / len(sure):.2f}" if sure else "exact"
            less = sum(cell.nodes[1] < preset.nodes[1] for cell, preset in ran)
            more = sum(cell.nodes[1] > preset.nodes[1] for cell, preset in ran)
            back = sum(bool(cell.failed) for cell, _ in ran)
            rest = len(ran) - verdicts[EQUAL]
            yield (
                f"| {pass_id} | {order} | {len(ran)} of {len(found)} | {verdicts[EQUAL]} | {rest} "
                f"| {back} | {less} | {more} | {mean} |"
            )


def main() -> None:
    """Go on where it ended, and report after each model."""
    made = parser(__doc__)
    made.add_argument("--keep", type=Path, required=True, help="folder for what was found")
    made.add_argument("--minutes", type=float, default=60.0, help="for all models together")
    made.add_argument("--seconds", type=float, default=120.0, help="of a tool, wall clock")
    arguments = made.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * arguments.minutes
    models = sorted(
        {path for folder in arguments.folders for path in folder.rglob("*.onnx")},
        key=lambda path: (path.stat().st_size, path.name),
    )
    rows: list[Kept] = []
    for path in models:
        file = arguments.keep / f"{path.stem}.json"
        kept = Kept.read(file, path.stem)
        rows.append(kept)
        for _ in measure(path, kept, seconds=arguments.seconds, until=until):
            document = {key: asdict(cell) for key, cell in kept.cells.items()}
            file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        print(f"{len(rows)}/{len(models)} {path.stem}", file=sys.stderr, flush=True)
    publish(lines(rows), arguments.write)


def lines(rows: Sequence[Kept]) -> Iterator[str]:
    """The whole report."""
    yield f"{describe(*TOOLS)}"
    yield ""
    yield from report(rows)
    yield from section(
        "Not reached in the time given:",
        [f"- {row.name}" for row in rows if row.cell("portable", "preset") is None],
    )


if __name__ == "__main__":
    main()
