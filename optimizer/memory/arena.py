"""An arena: what one graph keeps in memory, region by region, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from optimizer.errors import PlanError, quoted
from optimizer.memory.buffer import Buffer, aligned
from optimizer.numbers import counted

Region = Literal["weights", "inputs and outputs", "activations"]
"""Weights stay for ever, inputs and outputs are the caller's, activations are what is planned."""

_SHOWN = 3
_ITERATED: tuple[Region, ...] = ("activations", "inputs and outputs")


@dataclass(frozen=True, slots=True)
class LifetimeOptions:
    """What may share memory, and how it is aligned.

    Attributes:
        views: Reshape and its kind share the memory of what they look at.
        in_place: an elementwise operator may write over an input that dies at it.
        alignment: every size is rounded up to a multiple of this many bytes; 64 on a CPU, 256 on
            CUDA.
    """

    views: bool = True
    in_place: bool = True
    alignment: int = 64


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A piece of memory, from the step that makes it to the last that needs it.

    Attributes:
        value: id of the value it was made for.
        name: display text.
        values: ids of all values in it, in the order in which they are made: views, in place.
        node: id of the node that makes it; empty for inputs and weights.
        readers: ids of the nodes that read it, in order.
        region: where it lives.
        size_bytes: not aligned.
        start: first step at which it is needed.
        end: first step at which it is not.
        shape: of the first value.
        dtype: of the first value, as ONNX calls it.
    """

    value: str
    name: str
    values: tuple[str, ...]
    node: str
    readers: tuple[str, ...]
    region: Region
    size_bytes: int
    start: int
    end: int
    shape: tuple[int, ...] = ()
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class UnknownSize:
    """A value whose bytes nobody knows, and why.

    Attributes:
        value: its id.
        name: display text.
        reason: for people, for example the free dimension that has no size.
        region: where it would live.
    """

    value: str
    name: str
    reason: str
    region: Region = "activations"


@dataclass(frozen=True, slots=True)
class Arena:
    """What one graph keeps in memory.

    Attributes:
        graph: id of the graph.
        owner: id of the node whose body it is; empty for the main graph.
        nodes: ids of the nodes that run, step by step; constants take no step.
        lifetimes: of all three regions, by start.
        unknown: what is missing in every total.
        bodies: arenas of the bodies of its nodes.
        alignment: of what is planned, in bytes.
        operator: of the owner: If, Loop, Scan; empty for the main graph.
        owner_name: what the owner is called; display text.
    """

    graph: str
    owner: str
    nodes: tuple[str, ...]
    lifetimes: tuple[Lifetime, ...]
    unknown: tuple[UnknownSize, ...]
    bodies: tuple[Arena, ...]
    alignment: int
    operator: str = ""
    owner_name: str = ""

    def of(self, region: Region) -> tuple[Lifetime, ...]:
        """The lifetimes of a region."""
        return tuple(known for known in self.lifetimes if known.region == region)

    @property
    def unplanned(self) -> str:
        """Why its activations cannot be planned: some have no known size; empty where all do."""
        return self._unknown(("activations",))

    def buffers(self, *regions: Region) -> tuple[Buffer, ...]:
        """What a planner plans: activations, or the regions named; in the order of `lifetimes`.

        Raises:
            PlanError: some sizes are unknown; a plan without them would be too small.
        """
        chosen = regions or ("activations",)
        if missing := self._unknown(chosen):
            raise PlanError(f"{missing}. Give the free dimensions a size.")
        return tuple(
            Buffer(one.value, aligned(one.size_bytes, self.alignment), one.start, one.end)
            for one in self.lifetimes
            if one.region in chosen
        )

    def live_bytes(self, *regions: Region) -> tuple[int, ...]:
        """The aligned bytes alive at every step; activations, or the regions named."""
        changes = [0] * (len(self.nodes) + 1)
        for lifetime, size in self._sized(regions):
            if lifetime.start < lifetime.end:
                changes[lifetime.start] += size
                changes[lifetime.end] -= size
        return tuple(accumulate(changes[:-1]))

    def region_bytes(self) -> dict[Region, int]:
        """All aligned sizes by region: what it takes when every piece has its own bytes."""
        every: tuple[Region, ...] = ("weights", "inputs and outputs", "activations")
        return {region: sum(size for _, size in self._sized((region,))) for region in every}

    def floor_bytes(self, *regions: Region) -> int:
        """The largest single operator's own inputs and outputs.

        No order needs less, but that another order may allow a result to be written over an input,
        which counts once then. Only activations count, or the regions named.
        """
        step_of = {node: step for step, node in enumerate(self.nodes)}
        own = [0] * len(self.nodes)
        for lifetime, size in self._sized(regions):
            for node in {lifetime.node, *lifetime.readers}:
                if node in step_of:
                    own[step_of[node]] += size
        return max(own, default=0)

    def contributors(self, step: int, *regions: Region) -> tuple[Lifetime, ...]:
        """What is alive at a step, largest first."""
        alive = [one for one, _ in self._sized(regions) if one.start <= step < one.end]
        return tuple(sorted(alive, key=lambda one: -one.size_bytes))

    def worst_case(self) -> tuple[int, ...]:
        """Activation bytes at every step, with what the largest body of its node needs on top.

        Of the bodies of an If only one runs, and its outputs are the If's own. A Loop or Scan keeps
        the inputs and outputs of its body beside its own.
        """
        iterates = self.operator not in ("", "If")
        live = list(self.live_bytes(*(_ITERATED if iterates else ())))
        step_of = {node: step for step, node in enumerate(self.nodes)}
        inside: dict[int, int] = {}
        for body in self.bodies:
            step = step_of[body.owner]
            inside[step] = max(inside.get(step, 0), body.worst_case_bytes())
        for step, size in inside.items():
            live[step] += size
        return tuple(live)

    def worst_case_bytes(self) -> int:
        """The peak of `worst_case`."""
        return max(self.worst_case(), default=0)

    def all_unknown(self) -> int:
        """How many values have no known size, those in bodies included: totals lack them."""
        return len(self.unknown) + sum(body.all_unknown() for body in self.bodies)

    def _sized(self, regions: tuple[Region, ...]) -> Iterator[tuple[Lifetime, int]]:
        chosen = regions or ("activations",)
        for lifetime in self.lifetimes:
            if lifetime.region in chosen:
                yield lifetime, aligned(lifetime.size_bytes, self.alignment)

    def _unknown(self, regions: tuple[Region, ...]) -> str:
        missing = [one for one in self.unknown if one.region in regions]
        if not missing:
            return ""
        shown = "; ".join(f"{quoted(one.name)}: {one.reason}" for one in missing[:_SHOWN])
        values = counted(len(missing), "value has", "values have")
        return f"{values} no known size ({shown})"
