"""`passlens plan`: addresses for the activations of a model, or for intervals from a file."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from optimizer.errors import PlanError, StudioError, plain, quoted
from optimizer.memory.arena import Arena, Lifetime, LifetimeOptions
from optimizer.memory.buffer import Buffer
from optimizer.memory.intervals import read_intervals, write_offsets
from optimizer.memory.order import ORDERS, ordered_arena
from optimizer.memory.planned import plan_arena
from optimizer.memory.registry import Budget, find_planner, planners
from optimizer.model.binding import free_dimensions
from optimizer.model.loader import load_path
from optimizer.source import complete
from profiling.workers import default_pool
from studio.commands import CHECK_FAILED, DONE
from studio.commands.models import bindings, model_path
from studio.commands.output import print_json, say
from studio.commands.plan_report import SCHEMA, report_json, report_lines

_SIZE = re.compile(r"([0-9]{1,15})(B|KiB|MiB|GiB)?")
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_LARGEST_ALIGNMENT = 1 << 20
_LONGEST_SEARCH = 3600.0


def declare(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    listed = ", ".join(known.id for known in planners())
    parser.epilog = f"Planners: {listed}."
    add = parser.add_argument
    add("subject", metavar="MODEL|INTERVALS.csv", help="intervals if the name ends in .csv")
    add("--planner", default="all", metavar="ID|all", help="all by default")
    add("--bind", action="append", default=[], metavar="DIM=SIZE", help="settle a free dimension")
    add("--alignment", type=int, metavar="N", help="bytes; 64 by default, 1 for intervals")
    add("--order", choices=tuple(ORDERS), default="file", help="of the nodes")
    add("--no-views", action="store_true", help="Reshape and its kind get memory of their own")
    add("--no-in-place", action="store_true", help="no operator writes over its input")
    add("--seconds", type=float, default=1.0, help="for each search; 1 by default")
    add("--capacity", metavar="SIZE", help="exit 1 if it needs more; 1048576, 512KiB, 1MiB")
    add("-o", "--output", type=Path, metavar="OFFSETS.csv", help="write the smallest plan")
    add("--json", action="store_true", help="machine-readable, to stdout")


def run(arguments: argparse.Namespace) -> int:
    """Plan, check, report.

    Raises:
        StudioError: the model or the intervals cannot be read, sizes are unknown, or an argument
            makes no sense.
    """
    capacity_bytes = None if arguments.capacity is None else size_of(arguments.capacity)
    _check(arguments)
    subject = Path(arguments.subject)
    is_csv = arguments.subject.lower().endswith(".csv")
    if not is_csv:
        subject = model_path(arguments.subject)
    arena, note = _of_intervals(arguments, subject) if is_csv else _of_model(arguments, subject)
    planned = plan_arena(
        arena,
        [arguments.planner] if arguments.planner != "all" else [known.id for known in planners()],
        partial(Budget, arguments.seconds, goal_bytes=capacity_bytes if is_csv else None),
        note=note,
    )
    need_bytes = 0 if capacity_bytes is None else planned.need_bytes
    if arguments.output is not None and planned.best is not None:
        write_offsets(arguments.output, _named(arena), planned.best.offsets)
    if arguments.json:
        settings = _settings(arguments, is_csv=is_csv)
        report = report_json(planned, subject.name, capacity_bytes=capacity_bytes)
        print_json({"schema": SCHEMA, **settings, **report})
    else:
        print("\n".join(map(plain, report_lines(planned, subject.name))))
    if capacity_bytes is not None and need_bytes > capacity_bytes:
        say(
            f"passlens: the smallest plan found needs {need_bytes:,} bytes, {capacity_bytes:,} is"
            " the capacity."
        )
        return CHECK_FAILED
    return DONE


def size_of(text: str) -> int:
    """`"1MiB"` in bytes.

    Raises:
        StudioError: it is no size.
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        raise StudioError(f"--capacity takes 1048576, 512KiB, 1MiB or 2GiB, not {quoted(text)}.")
    return int(found[1]) * _UNITS[found[2] or "B"]


def _check(arguments: argparse.Namespace) -> None:
    if arguments.planner != "all":
        find_planner(arguments.planner)
    if arguments.alignment is not None and not 1 <= arguments.alignment <= _LARGEST_ALIGNMENT:
        raise StudioError(f"--alignment must be from 1 to {_LARGEST_ALIGNMENT} bytes.")
    if not 0 < arguments.seconds <= _LONGEST_SEARCH:
        raise StudioError(f"--seconds must be above 0, and {_LONGEST_SEARCH:g} at most.")


def _of_intervals(arguments: argparse.Namespace, path: Path) -> tuple[Arena, str]:
    if arguments.bind or arguments.no_views or arguments.no_in_place or arguments.order != "file":
        raise StudioError("--bind, --order, --no-views and --no-in-place are for models.")
    lifetimes = tuple(
        Lifetime(
            one.name, one.name, (one.name,), "", (), "activations",
            one.size_bytes, one.start, one.end,
        )
        for one in read_intervals(path)
    )  # fmt: skip
    return Arena("", "", (), lifetimes, (), (), arguments.alignment or 1), ""


def _of_model(arguments: argparse.Namespace, path: Path) -> tuple[Arena, str]:
    bind = bindings(arguments.bind)
    model = complete(load_path(path), isolate=default_pool(), bind=bind)
    arena, note = ordered_arena(
        model.ir.graph,
        arguments.order,
        options=_options(arguments),
        budget=Budget(arguments.seconds),
    )
    if arena.unplanned:
        free = " ".join(f"--bind {name}=SIZE" for name in free_dimensions(model.ir))
        rest = f"; settle {free}" if free else ", so that nothing can be planned"
        raise PlanError(f"{arena.unplanned}{rest}.")
    return arena, note


def _named(arena: Arena) -> tuple[Buffer, ...]:
    """The buffers under the names of their values, where those are distinct."""
    names = [known.name for known in arena.of("activations")]
    buffers = arena.buffers()
    if "" in names or len(set(names)) < len(names):
        return buffers
    return tuple(replace(one, name=name) for one, name in zip(buffers, names, strict=True))


def _options(arguments: argparse.Namespace) -> LifetimeOptions:
    return LifetimeOptions(
        views=not arguments.no_views,
        in_place=not arguments.no_in_place,
        alignment=arguments.alignment or 64,
    )


def _settings(arguments: argparse.Namespace, *, is_csv: bool) -> dict[str, Any]:
    if is_csv:
        return {"alignment": arguments.alignment or 1}
    options = _options(arguments)
    return {
        "alignment": options.alignment,
        "views": options.views,
        "in_place": options.in_place,
        "order": arguments.order,
        "bindings": bindings(arguments.bind),
    }
