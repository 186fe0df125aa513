"""`passlens verify`: do two models compute the same?"""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from optimizer.errors import plain
from optimizer.precision.layers import LayerErrors, layer_errors
from optimizer.precision.samples import Samples
from optimizer.verify import Comparison, Tolerance, Verification, budget_of, verify
from optimizer.verify.comparison import ATOL, RTOL
from profiling.workers import default_pool
from studio.commands import CHECK_FAILED, DONE
from studio.commands.models import model_path
from studio.commands.output import print_json, say

SCHEMA = "passlens.verify/1"
GENERATED, MOST_SAMPLES = 3, 100
"""Inputs for the values inside, where nobody gave any, and where somebody did."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("a", metavar="A")
    parser.add_argument("b", metavar="B")
    declare_check(parser)
    parser.add_argument("--layers", action="store_true", help="also the values inside")
    parser.add_argument(
        "--samples", type=Path, metavar="DIR", help="of .npz or .npy files, for --layers"
    )


def declare_check(parser: argparse.ArgumentParser) -> None:
    """Arguments of every command that compares outputs."""
    parser.add_argument("--rtol", type=float, default=RTOL, metavar="R")
    parser.add_argument("--atol", type=float, default=ATOL, metavar="A")
    parser.add_argument(
        "--budget",
        metavar="5%|25dB",
        help="error that is allowed, of an output's scale or as signal over error; not equality",
    )
    parser.add_argument("--json", action="store_true", help="machine-readable, to stdout")


def tolerance_of(arguments: argparse.Namespace) -> Tolerance:
    """What outputs are held to.

    Raises:
        StudioError: the budget is none.
    """
    budget = None if arguments.budget is None else budget_of(arguments.budget)
    return Tolerance(arguments.rtol, arguments.atol, budget=budget)


def run(arguments: argparse.Namespace) -> int:
    """Run both models on the same feeds and compare.

    Raises:
        StudioError: a model cannot be found, the budget is none, or a sample does not fit.
    """
    a, b, held_to = model_path(arguments.a), model_path(arguments.b), tolerance_of(arguments)
    checked = verify(
        a,
        b,
        isolate=default_pool(),
        rtol=held_to.rtol,
        atol=held_to.atol,
        budget=held_to.budget,
    )
    say(str(checked))
    inside = None
    if arguments.layers or arguments.samples is not None:
        count = GENERATED if arguments.samples is None else MOST_SAMPLES
        samples = Samples(arguments.samples, count)
        inside = layer_errors(a, b, samples, isolate=default_pool(), budget=held_to.budget)
    if arguments.json:
        layers = {} if inside is None else {"layers": _layers_json(inside)}
        print_json(verification_json(checked) | {"schema": SCHEMA} | layers)
    if inside is not None:
        say(plain(str(inside)))
    return CHECK_FAILED if checked.failed else DONE


def verification_json(checked: Verification) -> dict[str, Any]:
    """A verification as plain data; endless and undefined errors become text."""
    return {
        "verdict": checked.verdict,
        "reason": plain(checked.reason),
        "seeds": checked.seeds,
        "rtol": checked.tolerance.rtol,
        "atol": checked.tolerance.atol,
        "exact": checked.tolerance.exact,
        "budget": None if checked.tolerance.budget is None else str(checked.tolerance.budget),
        "max_abs": _finite(checked.max_abs),
        "relative_to_scale": _finite(checked.scaled),
        "sqnr_db": _finite(checked.sqnr_db),
        "worst_db": _finite(checked.worst_db),
        "same_bits": checked.same_bits,
        "informative": checked.informative,
        "interface": list(checked.interface),
        "outputs": [_output_json(output) for output in checked.outputs],
    }


def _layers_json(inside: LayerErrors) -> dict[str, Any]:
    return {
        "first": None if inside.first is None else inside.first.name,
        "samples": inside.samples,
        "generated": inside.generated,
        "unmatched": list(inside.unmatched),
        "values": [_output_json(value) for value in inside.values],
    }


def _output_json(output: Comparison) -> dict[str, Any]:
    figures = asdict(output)
    return {k: _finite(v) if isinstance(v, float) else v for k, v in figures.items()}


def _finite(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)
