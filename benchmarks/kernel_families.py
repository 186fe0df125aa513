"""How much faster are generated kernels than the best that ONNX Runtime makes of the same nodes?

    python -m benchmarks.kernel_families --keep FOLDER [--prepare] [--minutes M] [--threads N]*
                                         [--only TEXT]* [--write FILE]

Nine families of loops (`benchmarks.kernel_models`), with one thread and with two: the file as it
came under all of ONNX Runtime's rewrites, and without the two that are slow on a CPU, against the
preset `generated` with code from Halide and with plain C, in one interleaved race each, outputs
compared first. What counts is times as fast as the better of the runtime's two forms, with its 95 %
interval. Small cases run in copies, one after the other; times are of one copy.

`--prepare` generates and builds everything and times nothing. `--minutes` is for all races; the
same command goes on where it ended.
"""

from __future__ import annotations

import hashlib
import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from benchmarks.kernel_models import KernelCase, cases
from benchmarks.machine import describe
from benchmarks.report import parser, publish, section
from optimizer.errors import StudioError
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.operators.generated import GENERATED
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from optimizer.verify.feeds import Feed
from profiling.config import RunConfig
from profiling.config.settings import from_values
from profiling.kernels.generated.implementations import AS_RUN, IMPLEMENTATIONS, UNFUSED
from profiling.kernels.repeated import repeated
from profiling.racing.measure import RacePlan, measure
from profiling.racing.race import RACE, Race, Variant
from profiling.workers import default_pool

HALIDE = "Halide"
MINUTES = 6.0
WANTED, LEAST = 1.5, 1.2
"""Times as fast: wanted of six families, and at least of all."""

_RACED = (AS_RUN, UNFUSED, HALIDE, "C")
_LEAST_S, _MOST_S = 2.0, 12.0
_OF_RACE = 0.55
"""Of a case's time; the rest starts processes and warms them up."""


@dataclass(frozen=True, slots=True)
class CaseRace:
    """One row.

    Attributes:
        threads: of the sessions.
    """

    case: KernelCase
    threads: int
    race: Race

    @property
    def best(self) -> str:
        """The faster of the runtime's own forms."""
        times = {
            timing.label: timing.summary.p50_ms
            for timing in self.race.timings
            if timing.label in (AS_RUN, UNFUSED) and timing.believable and timing.summary
        }
        return min(times, key=lambda label: times[label])

    def us(self, label: str) -> float:
        """Median of one copy; not a number where there is none."""
        summary = next(one.summary for one in self.race.timings if one.label == label)
        return math.nan if summary is None else 1000 * summary.p50_ms / self.case.copies

    @property
    def speedup(self) -> float:
        """Of Halide's code over the best; 0 where it is wrong."""
        found = self.race.contrast(HALIDE, baseline=self.best)
        timing = next(one for one in self.race.timings if one.label == HALIDE)
        return 0.0 if found is None or not timing.believable else found.speedup


def generated(case: KernelCase) -> ir.Model:
    """The case with a kernel in place of all of its nodes.

    Raises:
        StudioError: it does not become one kernel.
    """
    model = complete(load_bytes(case.model, name="case.onnx"), isolate=default_pool())
    trace = optimize(model, Pipeline.of("generated"), isolate=default_pool())
    left = [node for node in model.ir.graph if node.domain != GENERATED]
    if left or len(model.ir.graph) != 1:
        reasons = "; ".join(dict.fromkeys(one.reason for one in trace.declined))
        names = ", ".join(node.op_type for node in left)
        raise StudioError(f"{len(model.ir.graph)} nodes are left, of them {names}: {reasons}")
    return model.ir


def variants(case: KernelCase, threads: int) -> list[Variant]:
    """The runtime's forms of the file as it came, and the generated kernel by who generates it.

    Raises:
        StudioError: it does not become one kernel, or that cannot be built.
    """
    source = to_bytes(repeated(load_bytes(case.model, name="case.onnx").ir, case.copies))
    made = to_bytes(repeated(generated(case), case.copies))
    found: list[Variant] = []
    for one in (one for one in IMPLEMENTATIONS if one.label in _RACED):
        own = one.label in (AS_RUN, UNFUSED)
        one.build(made, default_pool())
        config = from_values(dict(one.changes), base=RunConfig(intra_threads=threads))
        found.append(Variant(one.label, source if own else made, config))
    return found


def feeds(case: KernelCase) -> list[Feed]:
    """Standard normal numbers, but for what the case says."""
    model = repeated(load_bytes(case.model, name="case.onnx").ir, case.copies)
    return [_feed(case, value) for value in model.graph.inputs]


def _feed(case: KernelCase, value: ir.Value) -> Feed:
    name = value.name or ""
    assert value.dtype is not None
    assert value.shape is not None
    shape, dtype = tuple(map(int, value.shape.numpy())), value.dtype.numpy().name
    if name in case.choices:
        return Feed(name, dtype, shape, "choice", values=case.choices[name])
    if dtype == "uint8":
        return Feed(name, dtype, shape, "integers", 0, 256)
    return Feed(name, dtype, shape)


def find(case: KernelCase, threads: int, *, seconds: float) -> CaseRace:
    """Race a case.

    Raises:
        StudioError: it does not become a kernel, or does not run.
    """
    race = measure(
        variants(case, threads),
        pool=default_pool(),
        plan=RacePlan(seconds=seconds, runs=1, precision=0.005),
        feeds=feeds(case),
    )
    return CaseRace(case, threads, race)


def table(rows: Sequence[CaseRace]) -> Iterator[str]:
    """The rows in Markdown."""
    yield (
        "| family | shape | threads | ONNX Runtime, µs | without two fusions | Halide | C "
        "| times as fast | 95 % interval |"
    )
    yield "|---|---|--:|--:|--:|--:|--:|--:|---|"
    for row in rows:
        found = row.race.contrast(HALIDE, baseline=row.best)
        times = (row.us(label) for label in (AS_RUN, UNFUSED, HALIDE, "C"))
        cells = [
            row.case.family, row.case.shape, row.threads,
            *("—" if math.isnan(us) else f"{us:.3g}" for us in times),
            f"{row.speedup:.2f}" if row.speedup else "wrong",
            "—" if found is None else f"{found.low:.2f}–{found.high:.2f}",
        ]  # fmt: skip
        yield f"| {' | '.join(map(str, cells))} |"


def summary(rows: Sequence[CaseRace]) -> Iterator[str]:
    """What the families come to."""
    families: dict[str, list[float]] = {}
    for row in rows:
        families.setdefault(row.case.family, []).append(row.speedup)
    means = {name: _mean(found) for name, found in families.items()}
    met = sum(mean >= WANTED for mean in means.values())
    yield (
        f"{met} of {len(means)} families are {WANTED:g} times as fast as ONNX Runtime's best form "
        f"or more, by the geometric mean of their rows; {sum(m < LEAST for m in means.values())} "
        f"are below {LEAST:g}."
    )
    yield ""
    yield from (
        f"- {name}: {mean:.2f} (lowest row {min(families[name]):.2f})"
        for name, mean in means.items()
    )


def _mean(found: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, found)) / len(found)) if all(found) else 0.0


def lines(
    rows: Sequence[CaseRace], left_out: Sequence[str], not_reached: Sequence[str]
) -> Iterator[str]:
    """The whole report."""
    yield describe("passlens", "onnxruntime-gpu", "halide")
    if rows:
        yield from ("", *summary(rows), "", *table(rows))
    yield from section("Left out:", left_out)
    yield from section("Not reached in the time given:", [f"- {name}" for name in not_reached])


def kept(case: KernelCase, threads: int, folder: Path) -> Path:
    """Where a row is kept."""
    digest = hashlib.sha256(case.name.encode() + case.model).hexdigest()[:12]
    return folder / f"{digest}-{threads}.json"


def prepare(wanted: Sequence[KernelCase]) -> Iterator[str]:
    """Generate and build everything; a line for each case that fails."""
    for case in wanted:
        print(case.name, file=sys.stderr, flush=True)
        try:
            variants(case, 1)
        except StudioError as error:
            yield f"- {case.name}: {error.message}"


def main() -> None:
    """Race as long as there is time, and report."""
    made = parser(__doc__)
    made.add_argument("--keep", type=Path, required=True, help="folder for what was found")
    made.add_argument("--prepare", action="store_true", help="build everything, time nothing")
    made.add_argument("--minutes", type=float, default=MINUTES, help="for all races together")
    made.add_argument("--threads", type=int, action="append", help="1 and 2 unless given")
    made.add_argument("--only", action="append", default=[], help="cases with this in their name")
    arguments = made.parse_args()
    only: list[str] = arguments.only
    wanted = [one for one in cases() if not only or any(text in one.name for text in only)]
    if arguments.prepare:
        publish(section("Left out:", list(prepare(wanted))), None)
        return
    arguments.keep.mkdir(parents=True, exist_ok=True)
    counts: list[int] = arguments.threads or [1, 2]
    left = [(case, count) for count in counts for case in wanted]
    publish(raced(left, arguments.keep, minutes=arguments.minutes), arguments.write)


def raced(left: list[tuple[KernelCase, int]], folder: Path, *, minutes: float) -> Iterator[str]:
    """The report on as many rows as there is time for.

    Args:
        left: cases and numbers of threads.
        folder: of what was found before.
        minutes: for all of them.
    """
    ends, rows, left_out = time.monotonic() + 60 * minutes, list[CaseRace](), list[str]()
    while left and time.monotonic() < ends:
        share = _OF_RACE * (ends - time.monotonic()) / len(left)
        case, count = left.pop(0)
        file = kept(case, count, folder)
        if file.exists():
            rows.append(CaseRace(case, count, RACE.loads(file.read_bytes())))
            continue
        print(f"{case.name}, {count}", file=sys.stderr, flush=True)
        try:
            row = find(case, count, seconds=min(_MOST_S, max(_LEAST_S, share)))
        except StudioError as error:
            left_out.append(f"- {case.name}, {count}: {error.message}")
            continue
        file.write_bytes(RACE.dumps(row.race))
        rows.append(row)
    yield from lines(rows, left_out, [f"{case.name}, {count}" for case, count in left])


if __name__ == "__main__":
    main()
