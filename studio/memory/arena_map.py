"""A planned arena as the Memory page draws it, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from typing import Any, cast

from optimizer.memory.arena import Arena, Lifetime, Region, UnknownSize
from optimizer.memory.plan import Plan

REGIONS: tuple[Region, ...] = ("weights", "inputs and outputs", "activations")


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """A node as people know it: operator, name, category of the operator."""

    op: str
    name: str
    category: str


@dataclass(frozen=True, slots=True)
class ArenaMap:
    """One graph's arena at one step of a trace.

    Attributes:
        arena: its lifetimes; bodies are in `bodies`.
        labels: of its nodes, by id.
        owner: the node whose body it is; None for the main graph.
        names: of values that share memory with others, by id.
        plan: where its activations lie; None where sizes are unknown.
        live_bytes: activations alive, step by step.
        floor_bytes: the largest single operator's own inputs and outputs.
        worst_bytes: the peak with the largest body of each node on top.
        regions: bytes by region; for activations the sum of all.
        free: free dimensions that no size was given for, with the sizes proposed.
        note: what the order has to say.
        bodies: of its nodes.
    """

    arena: Arena
    labels: Mapping[str, NodeLabel]
    owner: NodeLabel | None
    names: Mapping[str, str]
    plan: Plan | None
    live_bytes: tuple[int, ...]
    floor_bytes: int
    worst_bytes: int
    regions: Mapping[Region, int]
    free: Mapping[str, int]
    note: str
    bodies: tuple[ArenaMap, ...]

    @property
    def activations(self) -> tuple[Lifetime, ...]:
        """What the plan has offsets for, in its order."""
        return self.arena.of("activations")

    @property
    def known(self) -> bool:
        """Whether every size that is planned is known, so that totals say something."""
        return all(one.region != "activations" for one in self.arena.unknown)

    def all_bodies(self) -> tuple[ArenaMap, ...]:
        """Its bodies and theirs, each owner before what is in it."""
        return tuple(map_ for body in self.bodies for map_ in (body, *body.all_bodies()))

    def find(self, graph: str) -> ArenaMap | None:
        """The map of a body, by the id of its graph."""
        return next((body for body in self.all_bodies() if body.arena.graph == graph), None)

    @property
    def bound_bytes(self) -> int:
        """The most that is alive at once."""
        return max(self.live_bytes, default=0)

    @property
    def peak_step(self) -> int:
        """The first step at which that is so."""
        return self.live_bytes.index(self.bound_bytes) if self.live_bytes else 0

    def node_at(self, step: int) -> str:
        """The id of the node that runs at a step; empty where none does."""
        return self.arena.nodes[step] if 0 <= step < len(self.arena.nodes) else ""

    def label_at(self, step: int) -> NodeLabel:
        """What it is called."""
        return self.labels.get(self.node_at(step), _NOBODY)


_NOBODY = NodeLabel("", "", "io")


def to_json(drawn: ArenaMap) -> dict[str, Any]:
    """Plain lists: a map of ten thousand nodes is read in a blink."""
    arena = drawn.arena
    return {
        "arena": {name: getattr(arena, name) for name in _SIMPLE},
        "nodes": list(arena.nodes),
        "lifetimes": [astuple(one) for one in arena.lifetimes],
        "unknown": [astuple(one) for one in arena.unknown],
        "labels": {node: astuple(label) for node, label in drawn.labels.items()},
        "owner": astuple(drawn.owner) if drawn.owner is not None else None,
        "names": dict(drawn.names),
        "plan": plan_to_json(drawn.plan) if drawn.plan is not None else None,
        "live": list(drawn.live_bytes),
        "floor": drawn.floor_bytes,
        "worst": drawn.worst_bytes,
        "regions": dict(drawn.regions),
        "free": dict(drawn.free),
        "note": drawn.note,
        "bodies": [to_json(body) for body in drawn.bodies],
    }


def from_json(data: Mapping[str, Any]) -> ArenaMap:
    """The map again."""
    arena = Arena(
        nodes=tuple(data["nodes"]),
        lifetimes=tuple(map(_lifetime, data["lifetimes"])),
        unknown=tuple(UnknownSize(*one) for one in data["unknown"]),
        bodies=(),
        **data["arena"],
    )
    return ArenaMap(
        arena,
        {node: NodeLabel(*label) for node, label in data["labels"].items()},
        NodeLabel(*data["owner"]) if data["owner"] is not None else None,
        data["names"],
        plan_from_json(data["plan"]) if data["plan"] is not None else None,
        tuple(data["live"]),
        data["floor"],
        data["worst"],
        {cast("Region", region): size for region, size in data["regions"].items()},
        data["free"],
        data["note"],
        tuple(map(from_json, data["bodies"])),
    )


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """A plan in plain data."""
    return {field.name: getattr(plan, field.name) for field in fields(plan)}


def plan_from_json(data: Mapping[str, Any]) -> Plan:
    """The plan again."""
    known: dict[str, Any] = {**data, "offsets": tuple(data["offsets"])}
    return Plan(**known)


def _lifetime(row: list[Any]) -> Lifetime:
    named = dict(zip(_LIFETIME, row, strict=True))
    for name in ("values", "readers", "shape"):
        named[name] = tuple(named[name])
    return Lifetime(**named)


_SIMPLE = ("graph", "owner", "alignment", "operator")
_LIFETIME = [field.name for field in fields(Lifetime)]
