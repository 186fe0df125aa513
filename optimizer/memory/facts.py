"""What an arena says before anybody plans it: live bytes by step, the floor, who is to blame."""

from __future__ import annotations

from optimizer.memory.arena import Arena, Lifetime, Region


def live_bytes(arena: Arena, *regions: Region) -> tuple[int, ...]:
    """The aligned bytes alive at every step; activations, or the regions named."""
    raise NotImplementedError


def region_bytes(arena: Arena) -> dict[Region, int]:
    """The sum of all sizes by region: what it takes when nothing shares memory over time."""
    raise NotImplementedError


def floor_bytes(arena: Arena, *regions: Region) -> int:
    """The largest single operator's own inputs and outputs: no order of nodes needs less."""
    raise NotImplementedError


def contributors(arena: Arena, step: int, *regions: Region) -> tuple[Lifetime, ...]:
    """What is alive at a step, largest first."""
    raise NotImplementedError


def worst_case_bytes(arena: Arena, *regions: Region) -> int:
    """The peak with the largest body of every owner on top of what is alive at the owner's step."""
    raise NotImplementedError
