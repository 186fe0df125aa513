"""`passlens bench`: race models, or one model under several options, on this machine's CPU."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from profiling.config import options
from profiling.config.settings import from_settings, variations
from profiling.racing.measure import Plan, measure
from profiling.racing.race import Race, Timing, Variant
from profiling.workers import default_pool
from studio.commands import CHECK_FAILED, DONE
from studio.commands.models import model_path
from studio.commands.output import plain, print_json, say, table

SCHEMA = "passlens.bench/1"


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    listed = ", ".join(option.name for option in options())
    parser = commands.add_parser(
        "bench", help="race models against each other", epilog=f"Options: {listed}."
    )
    parser.add_argument("models", nargs="+", metavar="MODEL", help="the first is the baseline")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--vary", action="append", default=[], metavar="OPTION=V1,V2")
    parser.add_argument("--runs", type=int, default=200, help="steady runs of each variant")
    parser.add_argument("--seconds", type=float, default=20.0, help="for the steady state of all")
    parser.add_argument("--json", action="store_true", help="machine-readable, to stdout")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Race every model under every combination of the varied options.

    Raises:
        StudioError: a model or an option does not exist, or the baseline does not run.
    """
    variants = list(_variants(arguments))
    race = measure(
        variants,
        pool=default_pool(),
        plan=Plan(runs=arguments.runs, seconds=arguments.seconds),
    )
    if arguments.json:
        print_json(race_json(race))
    else:
        print(_text(race))
    failed = [timing for timing in race.timings if not timing.believable]
    return CHECK_FAILED if failed else DONE


def _variants(arguments: argparse.Namespace) -> Iterator[Variant]:
    combinations = variations(from_settings(arguments.set), arguments.vary)
    for model in dict.fromkeys(arguments.models):
        path = model_path(model)
        for settings, config in combinations:
            label = f"{path.name} {settings}" if arguments.vary else path.name
            yield Variant(label, path, config)


def race_json(race: Race) -> dict[str, Any]:
    """A race as plain data."""
    return {
        "schema": SCHEMA,
        "machine": asdict(race.machine),
        "load_after": race.load_after,
        "started_at": race.started_at,
        "seconds": race.seconds,
        "variants": [_timing_json(race, timing) for timing in race.timings],
    }


def _timing_json(race: Race, timing: Timing) -> dict[str, Any]:
    phases, summary = timing.phases, timing.summary
    contrast = None if timing.error else race.contrast(timing.label)
    return {
        "label": timing.label,
        "options": timing.config.changed(),
        "error": timing.error,
        "verdict": race.verdict(timing.label),
        "phases": None if phases is None else asdict(phases),
        "summary": None if summary is None else asdict(summary),
        "contrast": None if contrast is None or contrast.rounds == 0 else asdict(contrast),
        "latencies_ms": list(timing.latencies_ms),
        "peak_bytes": timing.peak_bytes,
        "providers": list(timing.providers),
        "outputs_equal": all(output.ok for output in timing.outputs),
    }


def _text(race: Race) -> str:
    rows = [["variant", "p50 ms", "p95 ms", "first ms", "create ms", "runs", "verdict"]]
    for timing in race.timings:
        summary, phases = timing.summary, timing.phases
        rows.append(
            [
                plain(timing.label),
                "-" if summary is None else f"{summary.p50_ms:.4g}",
                "-" if summary is None else f"{summary.p95_ms:.4g}",
                "-" if phases is None else f"{phases.first_ms:.4g}",
                "-" if phases is None else f"{phases.create_ms:.4g}",
                "-" if summary is None else str(summary.runs),
                plain(race.verdict(timing.label)),
            ]
        )
    machine = race.machine
    say(f"{machine.cpu}, {machine.cores} cores, {machine.runtime}, load {machine.load:.1f}")
    return table(rows, right=frozenset({1, 2, 3, 4, 5}))
