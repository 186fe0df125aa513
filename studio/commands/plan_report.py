"""What `passlens plan` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from optimizer.errors import PlanError
from optimizer.memory.buffer import live_curve, lower_bound
from optimizer.memory.plan import Plan
from optimizer.memory.registry import find_planner
from studio.commands.output import table
from studio.commands.plan_subject import Planned
from studio.numbers import bytes_text, counted

SCHEMA = "passlens.plan/1"

_RIGHT = frozenset({1, 2, 3, 5})


def report_text(planned: Planned) -> str:
    """The arena, a table of planners with the bound and the floor, and the bodies."""
    return "\n".join(_lines(planned))


def _lines(planned: Planned) -> Iterator[str]:
    if planned.unknown:
        yield f"{planned.title}: {planned.unknown}"
        return
    yield f"{planned.title}: {_subject(planned)}"
    if planned.note:
        yield planned.note
    yield table(list(_rows(planned)), right=_RIGHT)
    if planned.regions:
        sizes = {region: bytes_text(size) for region, size in planned.regions.items()}
        weights, outside = sizes["weights"], sizes["inputs and outputs"]
        yield f"Not planned: weights {weights}, inputs and outputs {outside}."
    for body in planned.bodies:
        yield ""
        yield f"Body of {next(lines := _lines(body))}"
        yield from lines
    if planned.bodies and not planned.unplanned:
        yield ""
        yield f"With the largest body on top: {bytes_text(planned.need_bytes)}."


def _subject(planned: Planned) -> str:
    parts = [] if planned.steps is None else [counted(planned.steps, "node")]
    parts.append(counted(len(planned.buffers), "buffer"))
    if planned.buffers:
        parts.append(f"most alive at step {live_curve(planned.buffers).peak_step}")
    return ", ".join(parts)


def _rows(planned: Planned) -> Iterator[list[str]]:
    bound = lower_bound(planned.buffers)
    yield ["planner", "peak bytes", "peak", "× bound", "certificate", "ms", "note"]
    for plan in planned.plans:
        yield [
            find_planner(plan.planner).id,
            *_sizes(plan.peak_bytes, bound),
            plan.certificate or "",
            f"{plan.seconds * 1e3:.1f}",
            plan.note,
        ]
    yield ["", "", "", "", "", "", ""]
    yield ["bound", *_sizes(bound, bound), "most alive at once", "", ""]
    if planned.floor_bytes is not None:
        floor = _sizes(planned.floor_bytes, bound)
        yield ["floor", *floor, "largest operator's own", "", ""]


def _sizes(size_bytes: int, bound: int) -> list[str]:
    ratio = f"{size_bytes / bound:.3f}" if bound else ""
    return [f"{size_bytes:,}", bytes_text(size_bytes), ratio]


def report_json(
    planned: Planned, *, capacity_bytes: int | None, settings: dict[str, Any]
) -> dict[str, Any]:
    """The same as data."""
    fits = None if capacity_bytes is None else planned.need_bytes <= capacity_bytes
    capacity = {"capacity_bytes": capacity_bytes, "fits": fits}
    return {"schema": SCHEMA, **settings, **capacity, **_arena_json(planned)}


def _arena_json(planned: Planned) -> dict[str, Any]:
    curve = live_curve(planned.buffers)
    try:
        need = planned.need_bytes
    except PlanError:
        need = None
    return {
        "title": planned.title,
        "nodes": planned.steps,
        "buffers": len(planned.buffers),
        "bound_bytes": None if planned.unknown else curve.peak_bytes,
        "peak_step": None if planned.unknown else curve.peak_step,
        "floor_bytes": planned.floor_bytes,
        "regions": {region.replace(" ", "_"): size for region, size in planned.regions.items()},
        "plans": [_plan_json(plan) for plan in planned.plans],
        "need_bytes": need,
        "unknown": planned.unknown,
        "note": planned.note,
        "bodies": [_arena_json(body) for body in planned.bodies],
    }


def _plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "planner": plan.planner,
        "peak_bytes": plan.peak_bytes,
        "certificate": plan.certificate,
        "seconds": plan.seconds,
        "note": plan.note,
    }
