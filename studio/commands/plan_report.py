"""What `passlens plan` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from optimizer.errors import PlanError
from optimizer.memory.buffer import live_curve
from optimizer.memory.planned import PlannedArena
from optimizer.numbers import bytes_text, counted
from studio.commands.output import table

SCHEMA = "passlens.plan/1"

_OF_PLAN = ("planner", "peak_bytes", "certificate", "seconds", "note")
_RIGHT = frozenset({1, 2, 3, 5})


def report_lines(planned: PlannedArena, title: str) -> Iterator[str]:
    """The arena, a table of planners with the bound and the floor, and the bodies."""
    arena = planned.arena
    if arena.unplanned:
        yield f"{title}: {arena.unplanned}"
        return
    yield f"{title}: {_counts(planned)}"
    if planned.note:
        yield planned.note
    yield from table(list(_rows(planned)), right=_RIGHT).split("\n")
    if arena.graph:
        sizes = {region: bytes_text(size) for region, size in arena.region_bytes().items()}
        weights, outside = sizes["weights"], sizes["inputs and outputs"]
        yield f"Not planned: weights {weights}, inputs and outputs {outside}."
    for body in planned.bodies:
        yield ""
        yield f"Body of {next(lines := report_lines(body, _title(body)))}"
        yield from lines
    need = _need(planned)
    if planned.bodies and need is not None:
        yield ""
        yield f"With the largest body on top: {bytes_text(need)}."


def _title(body: PlannedArena) -> str:
    return f"{body.arena.operator} {body.arena.owner_name or body.arena.owner}"


def _need(planned: PlannedArena) -> int | None:
    try:
        return planned.need_bytes
    except PlanError:
        return None


def _counts(planned: PlannedArena) -> str:
    arena, buffers = planned.arena, planned.arena.buffers()
    parts = [counted(len(arena.nodes), "node")] if arena.graph else []
    parts.append(counted(len(buffers), "buffer"))
    if buffers:
        parts.append(f"most alive at step {live_curve(buffers).peak_step}")
    return ", ".join(parts)


def _rows(planned: PlannedArena) -> Iterator[list[str]]:
    bound = live_curve(planned.arena.buffers()).peak_bytes
    yield ["planner", "peak bytes", "peak", "× bound", "certificate", "ms", "note"]
    for plan in planned.own_plans:
        sizes = _sizes(plan.peak_bytes, bound)
        yield [
            plan.planner, *sizes, plan.certificate or "", f"{plan.seconds * 1e3:.1f}", plan.note
        ]  # fmt: skip
    for planner, reason in planned.failed.items():
        yield [planner, "", "", "", "", "", reason]
    yield ["", "", "", "", "", "", ""]
    yield ["bound", *_sizes(bound, bound), "most alive at once", "", ""]
    if planned.arena.graph:
        floor = _sizes(planned.floor_bytes, bound)
        yield ["floor", *floor, "largest operator's own", "", ""]


def _sizes(size_bytes: int, bound: int) -> list[str]:
    ratio = f"{size_bytes / bound:.3f}" if bound else ""
    return [f"{size_bytes:,}", bytes_text(size_bytes), ratio]


def report_json(planned: PlannedArena, title: str, *, capacity_bytes: int | None) -> dict[str, Any]:
    """The same as data."""
    fits = None if capacity_bytes is None else planned.need_bytes <= capacity_bytes
    return {"capacity_bytes": capacity_bytes, "fits": fits, **_arena_json(planned, title)}


def _arena_json(planned: PlannedArena, title: str) -> dict[str, Any]:
    arena = planned.arena
    is_known, is_graph = not arena.unplanned, bool(arena.graph)
    buffers = arena.buffers() if is_known else ()
    curve = live_curve(buffers)
    regions = arena.region_bytes() if is_graph and is_known else {}
    return {
        "title": title,
        "nodes": len(arena.nodes) if is_graph else None,
        "buffers": len(buffers),
        "bound_bytes": curve.peak_bytes if is_known else None,
        "peak_step": curve.peak_step if is_known else None,
        "floor_bytes": planned.floor_bytes if is_graph and is_known else None,
        "regions": {region.replace(" ", "_"): size for region, size in regions.items()},
        "plans": [{name: getattr(plan, name) for name in _OF_PLAN} for plan in planned.own_plans],
        "need_bytes": _need(planned),
        "unknown": arena.unplanned,
        "note": planned.note,
        "bodies": [_arena_json(body, _title(body)) for body in planned.bodies],
    }
