"""`passlens passes`: the registry."""

from __future__ import annotations

import argparse
from typing import Any

from optimizer.declarations import declarations
from studio.commands import DONE
from studio.commands.output import print_json, table
from studio.graphview.catalogue import pass_record

SCHEMA = "passlens.passes/1"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("--json", action="store_true", help="machine-readable, to stdout")


def run(arguments: argparse.Namespace) -> int:
    """Print every registered pass."""
    records: list[dict[str, Any]] = [
        {**pass_record(p), "options": dict(p().options())} for p in declarations()
    ]
    if arguments.json:
        print_json({"schema": SCHEMA, "passes": records})
        return DONE
    head = ["pass", "family", "numerics", "presets", "what it does"]
    rows = [
        [r["id"], r["family"], r["exactness"], " ".join(r["presets"]) or "-", r["title"]]
        for r in records
    ]
    print(table([head, *rows]))
    return DONE
