"""A report on many models: a row for each, or the reason why there is none; printed and written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from optimizer.errors import StudioError

MIB = 2**20

Model = TypeVar("Model")
Row = TypeVar("Row")


def parser(description: str | None) -> argparse.ArgumentParser:
    """What every report asks for: folders, and where to write."""
    made = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    made.add_argument("folders", nargs="*", type=Path, help="folders with .onnx files")
    made.add_argument("--write", type=Path, help="also write the report here")
    return made


def rows_of(
    models: Iterable[tuple[str, Model]], make: Callable[[str, Model], Row]
) -> tuple[list[Row], list[str]]:
    """A row for each model, and a line for each model of which none can be made."""
    rows: list[Row] = []
    left_out: list[str] = []
    for name, model in models:
        print(name, file=sys.stderr)
        try:
            rows.append(make(name, model))
        except StudioError as error:
            left_out.append(f"- {name}: {error.message}")
    return rows, left_out


def section(title: str, lines: Sequence[str]) -> Iterator[str]:
    """Lines below a title; nothing where there are none."""
    if lines:
        yield from ("", title, "", *lines)


def publish(lines: Iterable[str], path: Path | None) -> None:
    """Print the report, and write it where asked."""
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if path is not None:
        path.write_text(text, encoding="utf-8")


def mib(size_bytes: int) -> str:
    """Bytes in MiB."""
    return f"{size_bytes / MIB:.3f}"
