"""The `passlens` command."""

from __future__ import annotations

import argparse
import gc
import logging
import sys
import uuid
from collections.abc import Sequence
from importlib import import_module

from optimizer.errors import StudioError, plain
from optimizer.numbers import counted
from studio.commands import BAD_INPUT, OUR_BUG
from studio.commands.output import say
from studio.postponed import postpone

COMMANDS = {
    "studio": "open the browser studio",
    "inspect": "summary, findings, statuses of a model",
    "passes": "the passes there are",
    "optimize": "run a pipeline over a model",
    "why": "what the passes said of a node, and why they stopped",
    "replay": "write the model at a step of a trace",
    "layout": "assign layouts to a device",
    "verify": "compare the outputs of two models",
    "bisect": "find the step that changed the outputs",
    "bench": "race models against each other",
    "quantize": "find the precision of each part of a model within what may be lost",
    "kernels": "generate kernels for a model's regions, race them against the runtime's own",
    "schedule": "the loops of a kernel: nest, meters, code, time",
    "plan": "plan where activations lie in memory",
    "records": "what was measured: list, show, export, import",
    "cache": "what is kept on disk to be fast: show it, empty it",
}
"""Each a module of `studio.commands`. Only the one that is called is imported: all of them take
longer than most commands do."""

THREADED = frozenset({"studio", "bench", "kernels", "quantize", "schedule"})
BUILD_ONCE = frozenset({"inspect", "optimize", "replay", "why"})
"""What they build is needed until they end: the cycle collector would find nothing."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="passlens",
        description="See every rewrite an optimizer makes to a model, and what it bought.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="the version, and leave")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    words = sys.argv[1:] if argv is None else argv
    called = next((word for word in words if word in COMMANDS), None)
    if argv is None and called not in THREADED:  # a process of its own
        postpone()
        if called in BUILD_ONCE:
            gc.disable()
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary)
        if name == called:
            module = import_module(f"studio.commands.{name}")
            command.set_defaults(run=module.run)
            module.declare(command)
    arguments = parser.parse_args(words)
    try:
        return arguments.run(arguments)
    except StudioError as error:
        _explain(error)
        return BAD_INPUT
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0
    except Exception:
        reference = uuid.uuid4().hex[:8]
        logging.getLogger(__name__).exception("reference %s", reference)
        say(f"passlens: this is a bug of ours (reference {reference}); please report it.")
        return OUR_BUG


class _Version(argparse.Action):
    """Looks the version up when it is asked for: reading it takes as long as `--help` does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"passlens {version('passlens')}")
        parser.exit()


def _explain(error: StudioError) -> None:
    """The error on one line."""
    others = sum(finding.message not in error.message for finding in error.findings)
    more = f" ({counted(others, 'more finding')})" if others > 0 else ""
    say(f"passlens: {plain(error.message)}{more}")


if __name__ == "__main__":
    sys.exit(main())
