"""Is a Transpose over fewer axes slower anywhere than as it was written, and how far from a copy?

    python -m benchmarks.transposes [FOLDER...] [--minutes M] [--write FILE]

Every Transpose of the gallery and of the `.onnx` files of the folders, once for each shape, after
the default passes: as it is written, as `reduce-transposes` writes it, and a plain copy of as many
bytes by numpy, in turns (`profiling.transposes`). The table has GB/s of what is read and written,
and how many times as fast the reduced one is, with its 95 % interval by bootstrap. Last come those
that stay far below a copy: they need another kernel, not another shape. The largest are measured
first; those that the minutes are too short for are named. `--write` draws a picture beside the
file, too.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.machine import describe
from benchmarks.models import opened
from benchmarks.report import MIB, parser, publish, section
from benchmarks.transposes_picture import picture
from optimizer.errors import Cancelled, StudioError
from optimizer.layout.transposes import MovedTensor, transposes
from optimizer.passes.layout.reduce_transposes import ReduceTransposes
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from profiling.transposes.measurement import FAR, TransposeTimes, measure_transposes
from profiling.workers import default_pool

MINUTES = 8.0
LARGE_BYTES = 1 << 18
MOST_SECONDS = 1.0
"""For one of them."""
OPENED = 0.7
"""What measuring takes beside its turns: sessions, random draws."""

Names = Mapping[MovedTensor, str]


def found_in(folders: Sequence[Path], left_out: list[str]) -> dict[MovedTensor, str]:
    """Those of all models, each once, with the model in which it was seen first; largest first."""
    found: dict[MovedTensor, str] = {}
    for name, loaded in opened(folders):
        print(name, file=sys.stderr)
        try:
            model = complete(loaded, isolate=default_pool())
            optimize(model, Pipeline.of("portable"))
        except StudioError as error:
            left_out.append(f"- {name}: {error.message}")
            continue
        for placed in transposes(model.ir.graph):
            found.setdefault(placed.tensor, name)
    return dict(sorted(found.items(), key=lambda item: -item[0].size_bytes))


def measured(names: Names, *, ends: float, left_out: list[str]) -> tuple[TransposeTimes, ...]:
    """As many as there is time for.

    Args:
        names: what to measure, the most important first.
        ends: when to end, on the monotonic clock.
        left_out: gets a line for each of the others.
    """
    rows: tuple[TransposeTimes, ...] = ()

    def observe(found: tuple[TransposeTimes, ...]) -> None:
        nonlocal rows
        rows = found

    each = max(0.1, min(MOST_SECONDS, (ends - time.monotonic()) / max(1, len(names)) * OPENED))
    try:
        measure_transposes(
            [*names], pool=default_pool(), seconds=each, observe=observe,
            progress=lambda text, share: print(f"{share:.0%} {text}", file=sys.stderr),
            cancelled=lambda: time.monotonic() > ends,
        )  # fmt: skip
    except Cancelled:
        missing = [*names][len(rows) :]
        left_out += [f"- {names[one]}: {one.text}, the time was over" for one in missing]
    left_out += [f"- {names[one.tensor]}: {one.error}" for one in rows if one.error]
    return tuple(one for one in rows if not one.error)


def table(rows: Sequence[TransposeTimes], names: Names) -> Iterator[str]:
    """The rows as a Markdown table, largest tensors first."""
    yield (
        "| first in | as written | axes | as needed | axes | MiB | GB/s written | reduced | a copy"
        " | gain |"
    )
    yield "|---|---|---|---|---|--:|--:|--:|--:|--:|"
    for one in rows:
        low, high = one.interval
        cells = [
            names[one.tensor],
            *one.tensor.text.split(", "),
            *one.tensor.reduced().text.split(", "),
            f"{one.tensor.size_bytes / MIB:.3f}",
            *(f"{one.rate_gbps(us):.1f}" for us in (one.written_us, one.reduced_us, one.copy_us)),
            f"{one.gain:.2f} [{low:.2f}, {high:.2f}]",
        ]
        yield f"| {' | '.join(cells)} |"


def summary(rows: Sequence[TransposeTimes], names: Names) -> Iterator[str]:
    """What the table says of the tensors that the pass takes by itself."""
    fewer = [one for one in rows if is_reduced(one)]
    taken = [one for one in fewer if one.tensor.size_bytes >= ReduceTransposes().least_bytes]
    slower = [one for one in taken if one.interval[1] < 1]
    yield (
        f"- {len(rows)} Transposes, of which fewer axes would do {len(fewer)};"
        f" {len(taken)} are large enough for the pass"
    )
    if taken:
        gains = [one.gain for one in taken]
        yield (
            f"- of these {sum(one.interval[0] > 1 for one in taken)} are surely faster,"
            f" {len(slower)} surely slower; median gain {np.median(gains):.2f},"
            f" most {max(gains):.2f}"
        )
    if slower:
        largest = slower[0].tensor.size_bytes / MIB
        yield f"- above {largest:.3g} MiB none is surely slower"
    for one in slower:
        yield f"  - slower: {names[one.tensor]}: {one.tensor.text}, {one.gain:.2f}"
    same = [one.gain for one in rows if is_large(one) and not is_reduced(one)]
    if same:
        yield (
            f"- {len(same)} large ones that need all their axes ran twice as the same graph, as a"
            f" control: {min(same):.2f} to {max(same):.2f} times as fast"
        )


def is_reduced(one: TransposeTimes) -> bool:
    """Whether fewer axes do."""
    return len(one.tensor.reduced().perm) < len(one.tensor.perm)


def is_large(one: TransposeTimes) -> bool:
    """Whether moving it takes long enough to tell rates apart."""
    return one.tensor.size_bytes >= LARGE_BYTES


def far(rows: Sequence[TransposeTimes], names: Names) -> list[str]:
    """Work for generated kernels: a line for each that is far from a copy, the farthest first."""
    slow = sorted((one for one in rows if one.share < FAR), key=lambda one: one.share)
    return [
        f"- {names[one.tensor]}: {one.tensor.reduced().text}"
        f" ({one.tensor.size_bytes / MIB:.3g} MiB), {one.share:.0%} of a copy"
        for one in slow
        if is_large(one)
    ]


def main() -> int:
    """Print the report; 1 if a reduced one that the pass takes is surely slower than as written."""
    asked = parser(__doc__)
    asked.add_argument("--minutes", type=float, default=MINUTES, help="for all of it")
    arguments = asked.parse_args()
    ends, left_out = time.monotonic() + 60 * arguments.minutes, list[str]()
    names = found_in(arguments.folders, left_out)
    rows = measured(names, ends=ends, left_out=left_out)
    told = [*summary(rows, names)]
    lines = [f"{describe('passlens', 'onnxruntime-gpu')}, one thread.", "", *told]
    if arguments.write:
        drawn = arguments.write.with_suffix(".svg")
        drawn.write_text(picture([one for one in rows if is_large(one)]), encoding="utf-8")
        lines += ["", f"![GB/s of every large Transpose beside a plain copy]({drawn.name})"]
    lines += section(f"Far from a copy, below {FAR:.0%} of its rate either way:", far(rows, names))
    lines += ["", *table(rows, names), *section("Not measured:", left_out)]
    publish(lines, arguments.write)
    return int(any(line.startswith("  - slower") for line in told))


if __name__ == "__main__":
    sys.exit(main())
