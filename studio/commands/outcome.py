"""The end of a command that changed a model: written, checked, told."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from optimizer.model.graph import Model
from optimizer.model.writer import write
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace
from optimizer.rewrite.trace_file import save_trace
from optimizer.verify import Verification, verify
from profiling.workers import default_pool
from studio.commands import CHECK_FAILED, DONE
from studio.commands.models import bindings, model_path
from studio.commands.output import print_json, say


def conclude(
    arguments: argparse.Namespace,
    model: Model,
    trace: Trace,
    *,
    document: Callable[[Verification | None], dict[str, Any]],
    text: str,
) -> int:
    """Write what is asked for, verify what was written, report; the exit status.

    Args:
        arguments: with `model`, `bind`, `output`, `trace` and `json`.
        model: at the end of its trace.
        trace: how it came to be so.
        document: all of it as plain data, with what the check said.
        text: all of it for a person.

    Raises:
        StudioError: something cannot be written.
    """
    checked = None
    if arguments.output is not None:
        write(model.ir, arguments.output)
        source, bound = model_path(arguments.model), bindings(arguments.bind)
        checked = verify(source, arguments.output, isolate=default_pool(), bindings=bound)
    if arguments.trace is not None:
        save_trace(Cursor.at_end(trace), arguments.trace)
    if arguments.json:
        print_json(document(checked))
    else:
        print(text)
    if checked is not None:
        say(str(checked))
    differs = checked is not None and checked.verdict == "differs"
    return CHECK_FAILED if differs or trace.failed else DONE
