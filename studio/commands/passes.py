"""`passlens passes`: the registry, and what each pass would do to a model."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from optimizer.declarations import declarations
from studio.commands import DONE
from studio.commands.output import print_json, table
from studio.graphview.catalogue import pass_record

if TYPE_CHECKING:
    from optimizer.rewrite.what_if import Preview

SCHEMA = "passlens.passes/1"


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument(
        "model", nargs="?", metavar="MODEL", help="tell how often each would fire on it as it is"
    )
    parser.add_argument("--bind", action="append", default=[], metavar="DIM=SIZE")
    parser.add_argument("--json", action="store_true", help="machine-readable, to stdout")


def run(arguments: argparse.Namespace) -> int:
    """Print every registered pass.

    Raises:
        StudioError: the model cannot be opened or optimized.
    """
    records: list[dict[str, Any]] = [
        {**pass_record(p), "options": dict(p().options())} for p in declarations()
    ]
    found = _previews(arguments)
    if arguments.json:
        told = [{**r, **_told(found[r["id"]])} if r["id"] in found else r for r in records]
        print_json({"schema": SCHEMA, "passes": told})
        return DONE
    head = ["pass", *(["would fire", "declined"] if found else [])]
    rows = [[*head, "family", "numerics", "presets", "what it does"]]
    for r in records:
        counts = _counts(found.get(r["id"])) if found else []
        presets = " ".join(r["presets"]) or "-"
        missing = f" ({r['missing']})" if "missing" in r else ""
        title = r["title"] + missing
        rows.append([r["id"], *counts, r["family"], r["exactness"], presets, title])
    print(table(rows, right=frozenset({1, 2}) if found else frozenset[int]()))
    return DONE


def _previews(arguments: argparse.Namespace) -> Mapping[str, Preview]:
    """By pass id; nothing where no model was named."""
    if arguments.model is None:
        return {}
    from studio.commands.would_fire import previews  # graphs take a second more to import

    return previews(arguments.model, arguments.bind)


def _told(preview: Preview) -> dict[str, Any]:
    return {
        "would_fire": preview.matches,
        "would_decline": preview.declined,
        "places": list(preview.places),
        "whole": preview.whole,
    }


def _counts(preview: Preview | None) -> list[str]:
    """How often it fires and declines, or at least how often where the time was up."""
    if preview is None:
        return ["?", "?"]
    least = "" if preview.whole else ">="
    return [f"{least}{n}" if n or least else "-" for n in (preview.matches, preview.declined)]
