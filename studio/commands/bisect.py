"""`passlens bisect`: the first step of a trace whose outputs differ."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from optimizer.errors import plain
from optimizer.numbers import counted
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace_file import open_trace
from optimizer.verify import Bisection, bisect
from profiling.workers import default_pool
from studio.commands import CHECK_FAILED, DONE
from studio.commands.output import print_json, say
from studio.commands.verify import declare_check, tolerance_of, verification_json

SCHEMA = "passlens.bisect/1"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("trace", type=Path, metavar="TRACE")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="where the source's data files are"
    )
    declare_check(parser)


def run(arguments: argparse.Namespace) -> int:
    """Search the trace.

    Raises:
        StudioError: the trace cannot be opened, or the budget is none.
    """
    held_to = tolerance_of(arguments)
    cursor = open_trace(arguments.trace, data=arguments.data)
    steps = cursor.trace.steps
    found = bisect(cursor.materialize, steps, isolate=default_pool(), tolerance=held_to)
    if arguments.json:
        print_json(_report(found, cursor))
    say(_text(found, cursor))
    return CHECK_FAILED if found.step is not None else DONE


def _text(found: Bisection, cursor: Cursor) -> str:
    if found.reason:
        return plain(found.reason)
    if found.step is None or found.bad is None:
        steps = counted(cursor.trace.steps, "step")
        if found.good is not None and found.good.verdict == "within":
            return f"No culprit among {steps}. The last of them: {found.good}"
        return f"All {steps} compute the same."
    rewrite = cursor.trace.rewrites[found.step - 1]
    place = f"{rewrite.pass_id} ({rewrite.rule}) at {rewrite.root}"
    return f"Step {found.step}, {plain(place)}: {found.bad}"


def _report(found: Bisection, cursor: Cursor) -> dict[str, Any]:
    bad = found.step
    rewrite = None if bad is None else cursor.trace.rewrites[bad - 1]
    return {
        "schema": SCHEMA,
        "steps": cursor.trace.steps,
        "step": bad,
        "pass": None if rewrite is None else rewrite.pass_id,
        "rule": None if rewrite is None else rewrite.rule,
        "root": None if rewrite is None else rewrite.root,
        "reason": plain(found.reason),
        "good": None if found.good is None else verification_json(found.good),
        "bad": None if found.bad is None else verification_json(found.bad),
        "checked": {str(step): v.verdict for step, v in sorted(found.checks.items())},
    }
