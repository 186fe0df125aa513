"""What `passlens plan` plans: intervals from a file, or a model's activations with all bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from optimizer.errors import PlanError, quoted
from optimizer.memory.arena import Arena, LifetimeOptions, Region
from optimizer.memory.buffer import Buffer, aligned
from optimizer.memory.facts import floor_bytes, region_bytes
from optimizer.memory.intervals import read_intervals
from optimizer.memory.lifetimes import lifetimes
from optimizer.memory.order import Method, reorder
from optimizer.memory.plan import Plan
from optimizer.memory.registry import Budget
from optimizer.model.binding import free_dimensions
from optimizer.model.graph import node_id, walk_nodes
from optimizer.model.loader import load_path
from optimizer.source import complete
from profiling.workers import default_pool
from studio.numbers import counted

MakePlans = Callable[[Sequence[Buffer]], tuple[Plan, ...]]
"""Runs the planners that were asked for."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An arena and what the planners made of it.

    Attributes:
        title: the file, or the node that owns a body.
        buffers: what is planned.
        plans: one for each planner; none where sizes are unknown.
        steps: nodes that run; None for intervals.
        floor_bytes: the largest operator's own inputs and outputs; None for intervals.
        regions: bytes of all that lives in a region; empty for intervals.
        beside_bytes: inputs and outputs of a loop's body, which come on top.
        unknown: why there is no plan.
        bodies: of the nodes.
        note: what the order has to say.
    """

    title: str
    buffers: tuple[Buffer, ...]
    plans: tuple[Plan, ...]
    steps: int | None = None
    floor_bytes: int | None = None
    regions: Mapping[Region, int] = field(default_factory=dict[Region, int])
    beside_bytes: int = 0
    unknown: str = ""
    bodies: tuple[Planned, ...] = ()
    note: str = ""

    @property
    def smallest(self) -> Plan:
        """The plan with the lowest peak, the first of equals."""
        return min(self.plans, key=lambda plan: plan.peak_bytes)

    @property
    def unplanned(self) -> str:
        """Why this or a body of it has no plan; empty where all have one."""
        return self.unknown or next((b.unplanned for b in self.bodies if b.unplanned), "")

    @property
    def need_bytes(self) -> int:
        """The smallest plan, and on top of it the largest body's need: the worst case.

        Raises:
            PlanError: some sizes are unknown.
        """
        if self.unknown:
            raise PlanError(self.unknown)
        inside = max((body.need_bytes for body in self.bodies), default=0)
        return self.smallest.peak_bytes + self.beside_bytes + inside


def intervals(path: Path, alignment: int, make_plans: MakePlans) -> Planned:
    """Plan a file of intervals.

    Raises:
        PlanError: it cannot be read.
    """
    buffers = tuple(
        replace(buffer, size_bytes=aligned(buffer.size_bytes, alignment))
        for buffer in read_intervals(path)
    )
    return Planned(path.name, buffers, make_plans(buffers))


def activations(
    path: Path,
    options: LifetimeOptions,
    make_plans: MakePlans,
    *,
    bind: Mapping[str, int],
    order: Method,
    budget: Budget,
) -> Planned:
    """Plan the activations of a model.

    Raises:
        StudioError: it cannot be opened, or sizes are unknown.
    """
    model = complete(load_path(path), isolate=default_pool(), bind=bind)
    graph = model.ir.graph
    arena = lifetimes(graph, options)
    _refuse_unbound(arena, free_dimensions(model.ir))
    note = ""
    if order != "file":
        found = reorder(graph, order, options=options, budget=budget)
        arena, note = lifetimes(graph, options, order=found.nodes), found.note
    owners = {node_id(node): node.name or node_id(node) for node in walk_nodes(graph)}
    planned = _planned(arena, path.name, make_plans, owners)
    return replace(planned, note=note)


def _planned(arena: Arena, title: str, make_plans: MakePlans, owners: Mapping[str, str]) -> Planned:
    buffers = arena.buffers()
    regions = region_bytes(arena)
    loops = arena.operator not in ("", "If")
    return Planned(
        title,
        _named(arena, buffers),
        make_plans(buffers),
        steps=len(arena.nodes),
        floor_bytes=floor_bytes(arena),
        regions=regions,
        beside_bytes=regions["inputs and outputs"] if loops else 0,
        bodies=tuple(_body(body, make_plans, owners) for body in arena.bodies),
    )


def _body(arena: Arena, make_plans: MakePlans, owners: Mapping[str, str]) -> Planned:
    title = f"{arena.operator} {owners[arena.owner]}"
    try:
        return _planned(arena, title, make_plans, owners)
    except PlanError as error:
        return Planned(title, (), (), steps=len(arena.nodes), unknown=error.message)


def _named(arena: Arena, buffers: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
    """The buffers under the names of their values, where those are distinct."""
    names = [known.name for known in arena.of("activations")]
    if "" in names or len(set(names)) < len(names):
        return buffers
    return tuple(replace(one, name=name) for one, name in zip(buffers, names, strict=True))


def _refuse_unbound(arena: Arena, free: Sequence[str]) -> None:
    """Name the dimensions to bind where sizes are unknown for want of them."""
    missing = [one for one in arena.unknown if one.region == "activations"]
    if not missing:
        return
    values = counted(len(missing), "value has", "values have")
    if free:
        wanted = " ".join(f"--bind {name}=SIZE" for name in free)
        raise PlanError(f"{values} no known size; settle {wanted}.")
    first = f"{quoted(missing[0].name)}: {missing[0].reason}"
    raise PlanError(f"{values} no known size, so that nothing can be planned ({first}).")
