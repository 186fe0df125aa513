"""`passlens layout`: assign layouts to a device, or write what it lacks; check the outputs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from optimizer.errors import plain
from optimizer.hardware import shipped
from optimizer.layout.formats import Waste
from optimizer.layout.targets import TARGETS, target_of
from optimizer.layout_assignment import (
    NOTHING_TO_ASSIGN,
    AssignedLayouts,
    Converted,
    assign_layouts,
)
from optimizer.numbers import bytes_text, counted, three_digits
from optimizer.source import open_source
from optimizer.verify import Verification
from profiling.workers import default_pool
from studio.commands import legal
from studio.commands.models import bindings, model_path
from studio.commands.outcome import conclude
from studio.commands.output import table
from studio.commands.verify import verification_json

SCHEMA = "passlens.layout/1"
MOST_ROWS = 8
"""Conversions, wastes and reasons that are shown; all of them are in the JSON."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    add = parser.add_argument
    add("model", metavar="MODEL")
    add(
        "--target", required=True, metavar="|".join((*TARGETS, "PROFILE")),
        help="the device whose layouts are assigned, or a hardware profile whose operators the "
        f"model is to keep to: {', '.join(shipped())}, or a TOML file",
    )  # fmt: skip
    add("--block", type=int, default=0, metavar="C", help="channels of a block on a CPU, 8 or 16")
    add("-o", "--output", type=Path, metavar="OUT", help="write the model, and check its outputs")
    add("--bind", action="append", default=[], metavar="DIM=SIZE", help="settle a free dimension")
    add("--trace", type=Path, metavar="FILE", help="write the trace")
    add("--json", action="store_true", help="machine-readable, to stdout")


def run(arguments: argparse.Namespace) -> int:
    """Assign, write, verify, report.

    Raises:
        StudioError: the model cannot be opened or optimized, or an argument makes no sense.
    """
    if arguments.target not in TARGETS:
        return legal.run(arguments)
    target = target_of(arguments.target, block=arguments.block)
    path = model_path(arguments.model)
    model = open_source(path, isolate=default_pool(), bind=bindings(arguments.bind))
    found = assign_layouts(model, target)
    return conclude(
        arguments, model, found.trace, document=partial(layout_json, found), text=layout_text(found)
    )


def layout_json(found: AssignedLayouts, checked: Verification | None) -> dict[str, Any]:
    """All of it as plain data."""
    return {
        "schema": SCHEMA,
        "model": found.trace.model_name,
        "target": found.target.id,
        "layout": found.target.layout,
        "device": found.target.device.title,
        "certificate": found.certificate,
        "nchw_us": found.first_us,
        "written_us": found.written_us,
        "assigned_us": found.assigned_us,
        "moved": dict(found.moved.most_common()),
        "conversions": [asdict(one) for one in found.conversions],
        "padding": {
            "bytes": sum(one.bytes for one in found.wastes),
            "plain_bytes": sum(one.plain for one in found.wastes),
            "tensors": [asdict(one) for one in found.wastes],
        },
        "unmoved": dict(found.unmoved.most_common()),
        "transposes": dict(zip(("source", "default", "assigned"), found.transposes, strict=True)),
        "findings": [asdict(one) for one in found.findings],
        "rewrites": found.trace.steps,
        "verification": None if checked is None else verification_json(checked),
    }


def layout_text(found: AssignedLayouts) -> str:
    """What a person reads."""
    first, written = (
        f"no kernel {how}" if one is None else f"{_us(one)} {how}"
        for one, how in ((found.first_us, "all in NCHW"), (found.written_us, "as written"))
    )
    source, default, assigned = found.transposes
    moved = (
        f"{counted(found.moved.total(), 'node')} moved, {counted(found.trace.steps, 'rewrite')};"
        f" predicted {first}, {written} -> {_us(found.assigned_us)}, {found.certificate}"
    )
    parts = [
        f"{plain(found.trace.model_name)} for {found.target.id} ({found.target.device.title})",
        moved if found.assigned_us or found.unmoved else NOTHING_TO_ASSIGN,
        f"Transposes: {source} in the file, {default} after the default passes, {assigned} now",
    ]
    if found.moved:
        parts.append("Moved: " + ", ".join(f"{n} {op}" for op, n in found.moved.most_common()))
    parts += [f"\n{plain(str(one))}" for one in found.findings]
    if found.conversions:
        rows = [
            [plain(c.value), c.made, c.wanted, bytes_text(c.size_bytes), _us(c.us), plain(c.reader)]
            for c in found.conversions[:MOST_ROWS]
        ]
        head = ["conversion of", "from", "to", "moved", "predicted", "for"]
        parts += ["", table([head, *rows], right=frozenset({3, 4})), *_more(found.conversions)]
    if found.wastes:
        parts += ["", *_padding(found.wastes)]
    if found.unmoved:
        rows = [[str(n), plain(why)] for why, n in found.unmoved.most_common(MOST_ROWS)]
        parts += ["", table([["nodes", "that stay, and why"], *rows], right=frozenset({0}))]
    return "\n".join(parts)


def _padding(wastes: Sequence[Waste]) -> list[str]:
    """What fills up blocks: in all, then tensor by tensor."""
    lost, used = sum(one.bytes for one in wastes), sum(one.plain for one in wastes)
    head = f"Padding: {bytes_text(lost)} beside {bytes_text(used)}, {lost / max(1, used):.1%}"
    if not lost:
        return [head]
    rows = [
        [plain(one.name), bytes_text(one.plain), bytes_text(one.bytes), f"{one.share:.1%}"]
        for one in wastes[:MOST_ROWS]
        if one.bytes
    ]
    return [head, table([["tensor", "data", "padding", ""], *rows], right=frozenset({1, 2, 3}))]


def _more(rows: Sequence[Converted]) -> list[str]:
    return [f"and {len(rows) - MOST_ROWS} more"] if len(rows) > MOST_ROWS else []


def _us(number: float) -> str:
    return f"{three_digits(number)} µs"
