"""What an arena says before anybody plans it: live bytes by step, the floor, who is to blame."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from optimizer.memory.arena import Arena, Lifetime, Region
from optimizer.memory.buffer import aligned

_ITERATED: tuple[Region, ...] = ("activations", "inputs and outputs")


def live_bytes(arena: Arena, *regions: Region) -> tuple[int, ...]:
    """The aligned bytes alive at every step; activations, or the regions named."""
    changes = [0] * (len(arena.nodes) + 1)
    for lifetime, size in _sized(arena, regions):
        if lifetime.start < lifetime.end:
            changes[lifetime.start] += size
            changes[lifetime.end] -= size
    return tuple(accumulate(changes[:-1]))


def region_bytes(arena: Arena) -> dict[Region, int]:
    """The sum of all aligned sizes by region: what it takes when every piece has its own bytes."""
    every: tuple[Region, ...] = ("weights", "inputs and outputs", "activations")
    return {region: sum(size for _, size in _sized(arena, (region,))) for region in every}


def floor_bytes(arena: Arena, *regions: Region) -> int:
    """The largest single operator's own inputs and outputs.

    No order needs less, but that another order may allow a result to be written over an input,
    which counts once then. Only activations count, or the regions named.
    """
    step_of = {node: step for step, node in enumerate(arena.nodes)}
    own = [0] * len(arena.nodes)
    for lifetime, size in _sized(arena, regions):
        for node in {lifetime.node, *lifetime.readers}:
            if node in step_of:
                own[step_of[node]] += size
    return max(own, default=0)


def contributors(arena: Arena, step: int, *regions: Region) -> tuple[Lifetime, ...]:
    """What is alive at a step, largest first."""
    alive = [one for one, _ in _sized(arena, regions) if one.start <= step < one.end]
    return tuple(sorted(alive, key=lambda one: -one.size_bytes))


def worst_case(arena: Arena) -> tuple[int, ...]:
    """Activation bytes at every step, with what the largest body of its node needs on top.

    Of the bodies of an If only one runs, and its outputs are the If's own. A Loop or Scan keeps the
    inputs and outputs of its body beside its own.
    """
    iterates = arena.operator not in ("", "If")
    live = list(live_bytes(arena, *(_ITERATED if iterates else ())))
    step_of = {node: step for step, node in enumerate(arena.nodes)}
    inside: dict[int, int] = {}
    for body in arena.bodies:
        step = step_of[body.owner]
        inside[step] = max(inside.get(step, 0), worst_case_bytes(body))
    for step, size in inside.items():
        live[step] += size
    return tuple(live)


def worst_case_bytes(arena: Arena) -> int:
    """The peak of `worst_case`."""
    return max(worst_case(arena), default=0)


def all_unknown(arena: Arena) -> int:
    """How many values have no known size, those in bodies included: totals lack them."""
    return len(arena.unknown) + sum(all_unknown(body) for body in arena.bodies)


def _sized(arena: Arena, regions: tuple[Region, ...]) -> Iterator[tuple[Lifetime, int]]:
    chosen = regions or ("activations",)
    for lifetime in arena.lifetimes:
        if lifetime.region in chosen:
            yield lifetime, aligned(lifetime.size_bytes, arena.alignment)
