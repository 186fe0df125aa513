"""Arenas by hand, planned for real."""

from __future__ import annotations

from optimizer.memory.arena import Arena, Lifetime
from optimizer.memory.planned import plan_arena
from optimizer.memory.registry import Budget
from studio.memory.arena_map import ArenaMap, NodeLabel

KIB = 1024


def life(name: str, size_kib: int, start: int, end: int, **more: object) -> Lifetime:
    """An activation made by node `n<start>` and read by the last step's."""
    known: dict[str, object] = {
        "value": name, "name": name, "values": (name,), "node": f"n{start}",
        "readers": (f"n{end - 1}",), "region": "activations", "size_bytes": size_kib * KIB,
        "start": start, "end": end, "shape": (1, size_kib * 256), "dtype": "FLOAT", **more,
    }  # fmt: skip
    return Lifetime(**known)  # pyright: ignore[reportArgumentType] - each by its name


CHAIN = (life("a", 4, 0, 2), life("b", 8, 1, 3), life("c", 2, 2, 4), life("d", 4, 3, 4))
"""At step 1 a and b are alive, 12 KiB; d fits where a was."""


def mapped(
    lives: tuple[Lifetime, ...] = CHAIN,
    *,
    planner: str = "best",
) -> ArenaMap:
    """The map of some lifetimes."""
    steps = max((one.end for one in lives), default=0)
    nodes = tuple(f"n{step}" for step in range(steps))
    arena = Arena("g0", "", nodes, lives, (), (), 64)
    plans = plan_arena(arena, [planner], lambda: Budget(0.2)).plans
    labels = {node: NodeLabel("Conv", f"/{node}", "conv") for node in nodes}
    return ArenaMap(arena, plans, labels=labels)
