"""`passlens verify`: do two models compute the same?"""

from __future__ import annotations

import argparse
from typing import Any

from optimizer.verify import Verification, verify
from profiling.workers import default_pool
from studio.commands import CHECK_FAILED, DONE
from studio.commands.models import model_path
from studio.commands.output import plain, print_json, say

SCHEMA = "passlens.verify/1"


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser("verify", help="compare the outputs of two models")
    parser.add_argument("a", metavar="A")
    parser.add_argument("b", metavar="B")
    parser.add_argument("--rtol", type=float, default=1e-3, metavar="R")
    parser.add_argument("--atol", type=float, default=0.0, metavar="A")
    parser.add_argument("--json", action="store_true", help="machine-readable, to stdout")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run both models on the same feeds and compare.

    Raises:
        StudioError: a model cannot be found.
    """
    a, b = model_path(arguments.a), model_path(arguments.b)
    checked = verify(a, b, isolate=default_pool(), rtol=arguments.rtol, atol=arguments.atol)
    if arguments.json:
        print_json(verification_json(checked) | {"schema": SCHEMA})
    say(verdict_text(checked))
    return CHECK_FAILED if checked.verdict == "differs" else DONE


def verification_json(checked: Verification) -> dict[str, Any]:
    """A verification as plain data."""
    raise NotImplementedError


def verdict_text(checked: Verification) -> str:
    """A verification in one line."""
    return plain(str(checked))
