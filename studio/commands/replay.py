"""`passlens replay`: the model at a step of a trace."""

from __future__ import annotations

import argparse
from pathlib import Path

from optimizer.model.writer import write
from optimizer.rewrite.trace_file import open_trace
from studio.commands import DONE
from studio.commands.output import say


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("trace", type=Path, metavar="TRACE")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="where the source's data files are"
    )
    parser.add_argument("--step", type=int, required=True, metavar="K", help="0 is the source")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT")


def run(arguments: argparse.Namespace) -> int:
    """Rebuild the step and write it.

    Raises:
        StudioError: the trace cannot be opened or has no such step.
    """
    cursor = open_trace(arguments.trace, data=arguments.data)
    write(cursor.seek(arguments.step), arguments.output)
    say(f"Wrote step {arguments.step} of {cursor.trace.steps} to {arguments.output}.")
    return DONE
