"""Printing: JSON to stdout with a `schema` field, messages to stderr."""

from __future__ import annotations

import json
import sys
from typing import Any


def print_json(data: dict[str, Any]) -> None:
    """One JSON document."""
    json.dump(data, sys.stdout, allow_nan=False, indent=2)
    sys.stdout.write("\n")


def say(text: str) -> None:
    """A message for a person."""
    print(text, file=sys.stderr)


def table(rows: list[list[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Rows as aligned columns; `right` names the columns aligned to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines: list[str] = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
