"""Optimizes NNSmith's random networks with every preset and compares on ONNX Runtime: `make fuzz`.

`python -m benchmarks.fuzz [--first SEED] [--count N] [--keep FOLDER] [--write FILE]` ends with 1
where an output is wrong. The networks are made by seeds in a process of their own and stay in the
folder; a wrong one's optimized file and trace lie beside it, named for seed and preset, and the
report names the first step that is wrong. Needs what the extra `fuzz` installs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fuzz.second_opinion import only_rounding
from benchmarks.machine import describe
from benchmarks.report import publish, section
from optimizer.errors import StudioError
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.pipeline import Pipeline
from optimizer.registry import PRESETS, passes
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.trace_file import save_trace
from optimizer.source import complete
from optimizer.verify import Verification, bisect, verify
from optimizer.verify.comparison import Tolerance
from profiling.workers import default_pool

EXACT = "exact passes, to the bit"


@dataclass(frozen=True, slots=True)
class Done:
    """One network and what one pipeline made of it.

    Attributes:
        trace: the rewrites; None where the optimizer itself failed.
        found: the comparison; None where nothing changed.
        culprit: the first wrong step, or what failed, in words.
        rounded: whether it differs by no more than the rounding of float16.
    """

    seed: str
    pipeline: str
    trace: Trace | None
    found: Verification | None
    culprit: str = ""
    rounded: bool = False


def pipelines() -> Mapping[str, Pipeline]:
    """Each preset, and all exact passes of the presets together."""
    exact = tuple(p() for p in passes() if p.exactness == "exact" and p.presets)
    return {**{preset: Pipeline.of(preset) for preset in PRESETS}, EXACT: Pipeline(exact)}


def networks(folder: Path, first: int, count: int) -> list[Path]:
    """The files of the seeds, made where they are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    maker = [sys.executable, "-m", "benchmarks.fuzz.nnsmith_models", str(folder)]
    # What NNSmith finds out about operators is true of this environment alone.
    ours = {**os.environ, "XDG_CACHE_HOME": str(Path(sys.prefix) / "cache")}
    subprocess.run([*maker, str(first), str(count)], check=True, env=ours)
    wanted = (folder / f"{seed}.onnx" for seed in range(first, first + count))
    return [path for path in wanted if path.exists()]


def held(path: Path, name: str, pipeline: Pipeline) -> Done:
    """Optimize one network and compare; what is wrong is kept beside it."""
    pool = default_pool()
    model = complete(load_bytes(path.read_bytes(), name=path.name), isolate=pool)
    source = to_bytes(model.ir)
    trace = optimize(model, pipeline, isolate=pool)
    if trace.failed:
        return Done(path.stem, name, trace, None, f"a rule failed: {trace.failed[0]}")
    if not trace.rewrites:
        return Done(path.stem, name, trace, None)
    held_to = Tolerance(exact=name == EXACT)
    found = verify(source, to_bytes(model.ir), isolate=pool, exact=held_to.exact)
    if not found.failed:
        return Done(path.stem, name, trace, found)
    if only_rounding(source, to_bytes(model.ir), found, held_to):
        return Done(path.stem, name, trace, found, rounded=True)
    return Done(path.stem, name, trace, found, _kept(path, name, trace, held_to))


def _kept(path: Path, name: str, trace: Trace, held_to: Tolerance) -> str:
    """The wrong file and its trace, written; the step that made it wrong, in words."""
    stem = f"{path.stem}-{name.split()[0]}"
    cursor = Cursor.at_end(trace)
    path.with_name(f"{stem}.onnx").write_bytes(cursor.materialize(trace.steps))
    save_trace(cursor, path.with_name(f"{stem}.trace"))
    found = bisect(cursor.materialize, trace.steps, isolate=default_pool(), tolerance=held_to)
    if found.step is None:
        return found.reason or "no step alone is wrong"
    step = trace.rewrites[found.step - 1]
    return f"step {found.step}, {step.pass_id} ({step.rule}) at {step.root}"


def all_held(paths: Sequence[Path]) -> Iterator[Done]:
    """Every network with every pipeline."""
    every = pipelines()
    for number, path in enumerate(paths):
        print(f"{number + 1} of {len(paths)}: {path.name}", file=sys.stderr)
        for name, pipeline in every.items():
            try:
                yield held(path, name, pipeline)
            except StudioError as error:
                yield Done(path.stem, name, None, None, error.message)


def table(done: Sequence[Done]) -> Iterator[str]:
    """A row for each pipeline."""
    heads = "networks", "changed", "rewrites", "equal", "to the bit", "float16", "not run", "wrong"
    yield f"| pipeline | {' | '.join(heads)} |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for name in pipelines():
        rows = [one for one in done if one.pipeline == name]
        found = [one.found for one in rows if one.found is not None]
        cells = [
            len(rows),
            len(found),
            sum(one.trace.steps for one in rows if one.trace is not None),
            sum(one.verdict == "equal" for one in found),
            sum(one.verdict == "equal" and one.same_bits for one in found),
            sum(one.rounded for one in rows),
            sum(one.verdict == "not_run" for one in found),
            sum(one.found is None or one.found.failed for one in rows if one.culprit),
        ]
        yield f"| {name} | {' | '.join(map(str, cells))} |"


def fired(done: Sequence[Done]) -> str:
    """How often each pass fired, over all pipelines of presets."""
    counts = Counter(
        rewrite.pass_id
        for one in done
        if one.trace is not None and one.pipeline != EXACT
        for rewrite in one.trace.rewrites
    )
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


def not_run(done: Sequence[Done]) -> Iterator[str]:
    """Why networks were not run, and how many of them."""
    reasons = {
        one.seed: one.found.reason.splitlines()[0][:160]
        for one in done
        if one.found is not None and one.found.verdict == "not_run"
    }
    yield from (f"- {number}: {reason}" for reason, number in Counter(reasons.values()).items())


def main() -> int:
    """Print the report; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--count", type=int, default=200, metavar="N")
    parser.add_argument("--keep", type=Path, default=Path(".fuzz"), metavar="FOLDER")
    parser.add_argument("--write", type=Path, help="also write the report here")
    given = parser.parse_args()
    paths = networks(given.keep, given.first, given.count)
    done = list(all_held(paths))
    wrong = [f"- {one.seed}, {one.pipeline}: {one.culprit}" for one in done if one.culprit]
    seeds = f"Seeds {given.first} to {given.first + given.count - 1}: {len(paths)} networks."
    versions = describe("passlens", "nnsmith", "torch", "onnx", "onnxruntime-gpu")
    told = (
        "float16: differs on ONNX Runtime, which keeps such values in float32 between some nodes;"
        " by ONNX's reference implementation, which rounds each, or in float64 it does not."
    )
    lines = [f"{versions}. {seeds}", "", *table(done), "", told, "", f"Fired: {fired(done)}."]
    lines += section("Not run:", list(not_run(done)))
    publish([*lines, *section("Wrong:", wrong)], given.write)
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
