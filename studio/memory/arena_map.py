"""A planned arena as the Memory page draws it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from optimizer.codec import Format
from optimizer.memory.planned import PlannedArena


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """A node as people know it: operator, name, category of the operator."""

    op: str
    name: str
    category: str


@dataclass(frozen=True)
class ArenaMap(PlannedArena):
    """One graph's arena at one step of a trace.

    Attributes:
        labels: of its nodes and those of its bodies, by id.
        names: of values that share memory with others, by id.
        free: free dimensions that no size was given for, with the sizes proposed.
    """

    labels: Mapping[str, NodeLabel] = field(default_factory=dict[str, NodeLabel])
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    free: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def known(self) -> bool:
        """Whether every size that is planned is known, so that totals say something."""
        return not self.arena.unplanned

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

    def label_at(self, step: int) -> NodeLabel:
        """What the node is called that runs at a step."""
        nodes = self.arena.nodes
        return self.labels.get(nodes[step] if 0 <= step < len(nodes) else "", _NOBODY)


_NOBODY = NodeLabel("", "", "io")

MAP_FORM = Format(ArenaMap, "passlens.memory-map/1", "memory map")
