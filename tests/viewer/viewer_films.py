"""Films of fixtures: every node's output is one buffer, alive until its last reader has run."""

from __future__ import annotations

from typing import Any

from optimizer.memory.arena import Arena, Lifetime
from studio.memory.arena_map import NodeLabel
from studio.memory.film.job import film_json

Json = dict[str, Any]
UNIT = 262_144


def arena_of(graph: Json) -> tuple[Arena, dict[str, NodeLabel]]:
    """An arena of a fixture's graph, and its nodes by id; sizes repeat every seven nodes."""
    nodes = [node["id"] for node in graph["nodes"]]
    step = {node: i for i, node in enumerate(nodes)}
    last = dict(step)
    for source, target, *_ in graph["edges"]:
        if source in step and target in step:
            last[source] = max(last[source], step[target])
    lives = tuple(
        Lifetime(
            value=f"v-{node}", name=f"{node}_out", values=(f"v-{node}",), node=node, readers=(),
            region="activations", size_bytes=UNIT * (1 + i * 5 % 7), start=i, end=last[node] + 1,
            shape=(1, 64, 56, 56), dtype="FLOAT",
        )
        for i, node in enumerate(nodes)
    )  # fmt: skip
    labels = {n["id"]: NodeLabel(n["op"], n["name"], n["cat"]) for n in graph["nodes"]}
    return Arena("g", "", tuple(nodes), lives, (), (), 64), labels


def film(graph: Json) -> Json:
    """`passlens.film/1` of a fixture's graph."""
    return film_json(*arena_of(graph))
