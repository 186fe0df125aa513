"""`passlens bench`: race models, or one model under several options, on this machine."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from optimizer.errors import StudioError, plain, quoted
from optimizer.verify import jobs
from profiling.config import options
from profiling.config.question import ALL_AS, ask
from profiling.config.settings import read_settings, variations
from profiling.fleet.ray_cluster import executor
from profiling.racing.dimensions import check_dimension, inputs_of
from profiling.racing.plan import RacePlan
from profiling.racing.questions import run_races
from profiling.racing.race import Variant
from profiling.racing.sweep import Sweep, SweepPoint, run_sweeps
from profiling.workers import default_pool
from studio.commands import CHECK_FAILED, DONE
from studio.commands.bench_report import Threshold, conditions, failures, report_json, report_text
from studio.commands.models import bindings, model_path
from studio.commands.output import print_json, say
from studio.commands.progress_line import progress_line

Asked = Sequence[Sequence[Variant]]
"""The same variants for each question, deployed first."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    listed = ", ".join(option.name for option in options())
    parser.epilog = f"Options: {listed}."
    add = parser.add_argument
    add("models", nargs="+", metavar="MODEL", help="the first is the baseline")
    add("--set", action="append", default=[], metavar="OPTION=VALUE", help="for all variants")
    add("--vary", action="append", default=[], metavar="OPTION=V1,V2", help="a variant for each")
    add(
        "--as", dest="asked", choices=ALL_AS, default="both",
        help="deployed: all of the runtime's own rewrites, on all cores; bare: the file itself, "
        "none of them, on one thread; both, one after the other, unless told otherwise",
    )  # fmt: skip
    add("--runs", type=int, default=200, help="steady runs of each variant at least")
    add("--seconds", type=float, default=20.0, help="for the steady state of all, both questions")
    add("--sweep", metavar="DIM=1,2,4", help="race at each of these sizes")
    add("--bind", action="append", default=[], metavar="DIM=SIZE", help="settle a free dimension")
    add("--no-transfers", action="store_true", help="on a GPU, without copies from and to the host")
    add(
        "--fail-slower-than", metavar="10%", type=Threshold.parsed,
        help="exit 1 if a variant is surely slower than the baseline by more than this: "
        "its whole 95 %% interval lies beyond; deployed, unless only --as bare is raced",
    )  # fmt: skip
    add("--json", action="store_true", help="machine-readable, to stdout")
    add("--record", action="store_true", help="keep it for the History page")


def run(arguments: argparse.Namespace) -> int:
    """Race every model under every combination of the varied options.

    Raises:
        StudioError: a model, an option or a dimension does not exist, or nothing runs at all.
    """
    asked, left_out = _asked(arguments)
    plan = _plan(arguments, questions=len(asked))
    dimension, sizes = _swept(arguments.sweep)
    if plan.request.bindings:
        inputs = inputs_of(asked[0][0].model, default_pool())
        for name in plan.request.bindings:
            check_dimension(name, inputs)
    with progress_line() as progress:
        if dimension:
            found = run_sweeps(
                asked, plan, executor(default_pool()), dimension=dimension, sizes=sizes,
                pool=default_pool(), progress=progress,
            )  # fmt: skip
        else:
            races = run_races(asked, plan, executor(default_pool()), progress=progress)
            labels = tuple(variant.label for variant in asked[0])
            found = tuple(Sweep("", labels, (SweepPoint(0, race),)) for race in races)
    return _report(arguments, found, asked, left_out)


def _report(
    arguments: argparse.Namespace, found: Sequence[Sweep], asked: Asked, left_out: str
) -> int:
    """Say what was found; the exit status."""
    problems = failures(found, arguments.fail_slower_than)
    if arguments.json:
        print_json(report_json(found, arguments.fail_slower_than, problems))
    else:
        for line in filter(None, [left_out, *conditions(found)]):
            say(plain(line))
        print(report_text(found))
    for problem in problems:
        say(f"passlens: {plain(problem)}")
    if arguments.record:
        _record(found, asked[0])
    return CHECK_FAILED if problems else DONE


def _plan(arguments: argparse.Namespace, *, questions: int) -> RacePlan:
    if arguments.runs < 1 or arguments.seconds <= 0:
        raise StudioError("--runs and --seconds must be above 0.")
    request = jobs.Request(seeds=1, bindings=bindings(arguments.bind))
    return RacePlan(
        runs=arguments.runs,
        seconds=arguments.seconds / questions,
        transfers=not arguments.no_transfers,
        request=request,
    )


def _asked(arguments: argparse.Namespace) -> tuple[Asked, str]:
    """The variants for each question, and why one is left out."""
    combinations = variations(read_settings(arguments.set), arguments.vary)
    paths = [model_path(model) for model in arguments.models]
    variants = [
        (f"{name} {settings}" if arguments.vary else name, path, values)
        for path, name in zip(paths, distinct_names(paths), strict=True)
        for settings, values in combinations
    ]
    found = ask(arguments.asked, [values for *_, values in variants])
    asked = [
        [
            Variant(label, path, config)
            for (label, path, _), config in zip(variants, configs, strict=True)
        ]
        for configs in found.configs
    ]
    return asked, found.left_out


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """File names, with as many folders before them as it takes to tell them apart.

    One and the same file gets a number: a race against itself shows how far the machine can tell.
    """
    whole = [path.absolute() for path in paths]
    depth = 1
    while _shortened(whole, depth) != _shortened(whole, depth + 1):
        if len(set(_shortened(whole, depth))) == len(set(whole)):
            break
        depth += 1
    names, seen = _shortened(whole, depth), Counter[str]()
    for index, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            names[index] = f"{name} ({seen[name]})"
    return names


def _shortened(paths: Sequence[Path], depth: int) -> list[str]:
    return [str(Path(*path.parts[-depth:])) for path in paths]


def _swept(text: str | None) -> tuple[str, list[int]]:
    if text is None:
        return "", []
    name, equals, listing = text.rpartition("=")
    sizes = [size.strip() for size in listing.split(",")]
    if not equals or not name or not all(size.isdecimal() and len(size) < 9 for size in sizes):
        raise StudioError(f"--sweep takes DIM=SIZES, for example batch=1,2,4, not {quoted(text)}.")
    return name, [int(size) for size in sizes]


def _record(found: Sequence[Sweep], variants: Sequence[Variant]) -> None:
    # The database is a lot of imports that a race does without.
    from studio.race.job import RACE_EXPERIMENT, RacedGraph, RaceReport, workload_of
    from studio.race.sweep.job import SWEEP_EXPERIMENT, SweepReport
    from studio.services import records

    graphs = tuple(RacedGraph(0, workload=workload_of(variant.model)) for variant in variants)
    source = Path(str(variants[0].model)).name, graphs[0].workload
    if found[0].dimension:
        recording = SWEEP_EXPERIMENT.recording(SweepReport(*source, tuple(found), graphs))
    else:
        races = tuple(one.points[0].race for one in found if one.points[0].race is not None)
        recording = RACE_EXPERIMENT.recording(RaceReport(*source, races, graphs))
    if recording is None:
        say("passlens: nothing was measured, so nothing was recorded.")
        return
    say(f"recorded as number {records().add(recording)}")
