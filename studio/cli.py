"""The `passlens` command."""

from __future__ import annotations

import argparse
import logging
import sys
import uuid
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from optimizer.errors import StudioError
from studio.commands import BAD_INPUT, OUR_BUG
from studio.commands.output import plain, say
from studio.numbers import counted

COMMANDS = (
    "studio",
    "inspect",
    "passes",
    "optimize",
    "replay",
    "verify",
    "bisect",
    "bench",
    "plan",
    "records",
)
"""Each a module of `studio.commands`; importing them all takes longer than most commands do."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="passlens",
        description="See every rewrite an optimizer makes to a model, and what it bought.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    words = sys.argv[1:] if argv is None else argv
    for command in _modules(words):
        command.add_parser(commands)
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


def _modules(words: Sequence[str]) -> list[ModuleType]:
    """The module of the command that `words` begin with; all of them if they begin otherwise."""
    named = [name for name in COMMANDS if name in words[:1]]
    return [import_module(f"studio.commands.{name}") for name in named or COMMANDS]


def _explain(error: StudioError) -> None:
    """The error on one line."""
    others = sum(finding.message not in error.message for finding in error.findings)
    more = f" ({counted(others, 'more finding')})" if others > 0 else ""
    say(f"passlens: {plain(error.message)}{more}")


if __name__ == "__main__":
    sys.exit(main())
