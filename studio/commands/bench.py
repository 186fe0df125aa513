"""`passlens bench`: race models, or one model under several options, on this machine."""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from optimizer.errors import StudioError, quoted
from optimizer.verify import jobs
from profiling.config import options
from profiling.config.settings import from_settings, variations
from profiling.fleet.choice import executor
from profiling.racing.dimensions import check_dimension, inputs_of
from profiling.racing.executor import RaceJob, race_of
from profiling.racing.plan import Plan
from profiling.racing.race import Variant
from profiling.racing.sweep import Sweep, SweepPoint, sweep
from profiling.workers import default_pool
from studio.commands import CHECK_FAILED, DONE
from studio.commands.bench_report import Threshold, conditions, failures, report_json, report_text
from studio.commands.models import bindings, model_path
from studio.commands.output import plain, print_json, say
from studio.commands.progress_line import progress_line


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    listed = ", ".join(option.name for option in options())
    parser = commands.add_parser(
        "bench", help="race models against each other", epilog=f"Options: {listed}."
    )
    add = parser.add_argument
    add("models", nargs="+", metavar="MODEL", help="the first is the baseline")
    add("--set", action="append", default=[], metavar="OPTION=VALUE", help="for all variants")
    add("--vary", action="append", default=[], metavar="OPTION=V1,V2", help="a variant for each")
    add("--runs", type=int, default=200, help="steady runs of each variant at least")
    add("--seconds", type=float, default=20.0, help="for the steady state of all")
    add("--sweep", metavar="DIM=1,2,4", help="race at each of these sizes")
    add("--bind", action="append", default=[], metavar="DIM=SIZE", help="settle a free dimension")
    add("--no-transfers", action="store_true", help="on a GPU, without copies from and to the host")
    add(
        "--fail-slower-than", metavar="10%", type=Threshold.parsed,
        help="exit 1 if a variant is surely slower than the baseline by more than this: "
        "its whole 95 %% interval lies beyond",
    )  # fmt: skip
    add("--json", action="store_true", help="machine-readable, to stdout")
    add("--record", action="store_true", help="keep it for the History page")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Race every model under every combination of the varied options.

    Raises:
        StudioError: a model, an option or a dimension does not exist, or nothing runs at all.
    """
    plan = _plan(arguments)
    variants = list(_variants(arguments))
    dimension, sizes = _swept(arguments.sweep)
    if plan.request.bindings:
        inputs = inputs_of(variants[0].model, default_pool())
        for name in plan.request.bindings:
            check_dimension(name, inputs)
    with progress_line() as progress:
        if dimension:
            found = sweep(
                variants,
                dimension=dimension,
                sizes=sizes,
                pool=default_pool(),
                executor=executor(default_pool()),
                plan=plan,
                progress=progress,
            )
        else:
            job = RaceJob(tuple(variants), plan)
            (outcome,) = executor(default_pool()).run([job], progress=progress)
            race = race_of(outcome)
            labels = tuple(variant.label for variant in variants)
            found = Sweep("", labels, (SweepPoint(0, race),))
    problems = failures(found, arguments.fail_slower_than)
    if arguments.json:
        print_json(report_json(found, arguments.fail_slower_than, problems))
    else:
        for line in conditions(found):
            say(plain(line))
        print(report_text(found))
    for problem in problems:
        say(f"passlens: {plain(problem)}")
    if arguments.record:
        _record(found, variants)
    return CHECK_FAILED if problems else DONE


def _plan(arguments: argparse.Namespace) -> Plan:
    if arguments.runs < 1 or arguments.seconds <= 0:
        raise StudioError("--runs and --seconds must be above 0.")
    request = jobs.Request(seeds=1, bindings=bindings(arguments.bind))
    return Plan(
        runs=arguments.runs,
        seconds=arguments.seconds,
        transfers=not arguments.no_transfers,
        request=request,
    )


def _variants(arguments: argparse.Namespace) -> Iterator[Variant]:
    combinations = variations(from_settings(arguments.set), arguments.vary)
    paths = [model_path(model) for model in arguments.models]
    for path, name in zip(paths, distinct_names(paths), strict=True):
        for settings, config in combinations:
            yield Variant(f"{name} {settings}" if arguments.vary else name, path, config)


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """File names, with as many folders before them as it takes to tell them apart.

    One and the same file gets a number: a race against itself shows how far the machine can tell.
    """
    whole = [path.resolve() for path in paths]
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


def _record(found: Sweep, variants: Sequence[Variant]) -> None:
    # The database is a lot of imports that a race does without.
    from studio import services
    from studio.experiments.race import Raced, RaceReport
    from studio.experiments.sweep import SweepReport

    digests = [_digest(Path(str(variant.model))) for variant in variants]
    graphs = tuple(Raced(0, workload=digest) for digest in digests)
    name = Path(str(variants[0].model)).name
    race = found.points[0].race
    report = (
        RaceReport(race, graphs, name, digests[0])
        if race is not None and not found.dimension
        else SweepReport(found, graphs, name, digests[0])
    )
    recording = report.recording()
    if recording is None:
        say("passlens: nothing was measured, so nothing was recorded.")
        return
    say(f"recorded as number {services.records().add(recording)}")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
