"""`passlens cache`: what is kept on disk to be fast, and emptying it."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from optimizer.numbers import bytes_text, counted
from profiling.cache.folder import cache_folder
from studio.artifacts.contents import CacheUsage, clear, usage
from studio.commands import DONE
from studio.commands.output import print_json, say, table

SCHEMA = "passlens.cache/1"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "--clear",
        action="store_true",
        help="remove all but models and plans that a studio has open",
    )
    parser.add_argument("--json", action="store_true", help="machine-readable, to stdout")


def run(arguments: argparse.Namespace) -> int:
    """Empty the cache if asked to, and print what it holds.

    Raises:
        StudioError: the limit is no number.
    """
    root = cache_folder()
    if arguments.clear:
        done = clear(root)
        stays = f"; {bytes_text(done.over_bytes)} are open in a studio" if done.over_bytes else ""
        say(f"Removed {bytes_text(done.removed_bytes)}{stays}.")
    found = usage(root)
    if arguments.json:
        print_json(_document(found))
    else:
        print(_text(found))
    return DONE


def _document(found: CacheUsage) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "folder": str(found.folder),
        "size_bytes": found.size_bytes,
        "limit_bytes": found.limit_bytes,
        "kinds": [asdict(kind) for kind in found.kinds],
    }


def _text(found: CacheUsage) -> str:
    rows = [[kind.kind, str(kind.count), bytes_text(kind.size_bytes)] for kind in found.kinds]
    head = (
        f"{found.folder}: {counted(found.count, 'item')}, {bytes_text(found.size_bytes)} of"
        f" {bytes_text(found.limit_bytes)}"
    )
    if not rows:
        return head
    columns = table([["kind", "items", "size"], *rows], right=frozenset({1, 2}))
    return f"{head}\n\n{columns}"
