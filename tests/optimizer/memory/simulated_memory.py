"""Runs a graph on planned addresses with tags instead of numbers, and looks for trampled bytes.

It knows nothing of how lifetimes are made: it walks the graph itself, writes the tag of every
value into the bytes its lifetime was planned at, and looks at the tags wherever a node reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random

import numpy as np
import onnx_ir as ir

from optimizer.memory.arena import Arena, Region
from optimizer.memory.buffer import aligned
from optimizer.memory.registry import make_plan
from optimizer.model.graph import bodies, node_id, value_id, walk_graphs, walk_nodes

REGIONS: tuple[Region, ...] = ("weights", "inputs and outputs", "activations")
KEEPS_BYTES = {"Dropout", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"}


def trampled(graph: ir.Graph, arena: Arena, *, planner: str = "lazy-best-fit") -> list[str]:
    """Every read that finds other bytes than were written for it, for people."""
    return list(_Memory(graph, arena, planner).run())


def shuffled(graph: ir.Graph, arena: Arena, seed: int) -> tuple[str, ...]:
    """A random topological order of the nodes that run."""
    random, runs = Random(seed), set(arena.nodes)
    waiting = {
        node_id(node): {
            node_id(maker)
            for value in all_reads(node)
            if (maker := value.producer()) is not None and maker.graph is graph
        }
        & runs
        for node in graph
        if node_id(node) in runs
    }
    order: list[str] = []
    while waiting:
        ready = [node for node, before in waiting.items() if not before]
        order.append(random.choice(ready))
        del waiting[order[-1]]
        for before in waiting.values():
            before.discard(order[-1])
    return tuple(order)


def all_reads(node: ir.Node) -> Iterator[ir.Value]:
    """The inputs of a node, and whatever the nodes of its bodies read."""
    yield from (value for value in node.inputs if value is not None)
    for body in bodies(node):
        for inner in walk_nodes(body):
            yield from (value for value in inner.inputs if value is not None)
        for inside in walk_graphs(body):
            yield from inside.outputs


class _Memory:
    def __init__(self, graph: ir.Graph, arena: Arena, planner: str) -> None:
        self._graph = graph
        self._arena = arena
        buffers = arena.buffers(*REGIONS)
        plan = make_plan(planner, buffers)
        self._where: dict[str, slice] = {}
        for lifetime, buffer, offset in zip(arena.lifetimes, buffers, plan.offsets, strict=True):
            assert buffer.size_bytes == aligned(lifetime.size_bytes, arena.alignment)
            first = offset // arena.alignment
            here = slice(first, first + buffer.size_bytes // arena.alignment)
            self._where.update(dict.fromkeys(lifetime.values, here))
        self._blocks = np.full(plan.peak_bytes // arena.alignment, -1, np.int64)
        self._tags: dict[str, int] = {}

    def run(self) -> Iterator[str]:
        nodes = {node_id(node): node for node in self._graph}
        made = {value_id(v) for name in self._arena.nodes for v in nodes[name].outputs}
        for lifetime in self._arena.lifetimes:
            if lifetime.start == 0:
                outside = [v for v in lifetime.values if v not in made]
                self._write(outside, len(self._tags))
        for step, name in enumerate(self._arena.nodes):
            node = nodes[name]
            yield from self._look(step, node, all_reads(node))
            source = node.inputs[0] if node.inputs else None
            for value in node.outputs:
                tag = len(self._tags)
                if value is node.outputs[0] and node.op_type in KEEPS_BYTES and source is not None:
                    tag = self._tags.get(value_id(source), tag)
                self._write([value_id(value)], tag)
        yield from self._look(len(self._arena.nodes), None, self._graph.outputs)

    def _write(self, values: Sequence[str], tag: int) -> None:
        for value in values:
            if value in self._where:
                self._tags[value] = tag
                self._blocks[self._where[value]] = tag

    def _look(self, step: int, node: ir.Node | None, values: Iterable[ir.Value]) -> Iterator[str]:
        for value in dict.fromkeys(values):
            name = value_id(value)
            if name in self._where and (self._blocks[self._where[name]] != self._tags[name]).any():
                reader = "the caller" if node is None else node.name
                yield f"step {step}: {reader} reads {value.name}, which was overwritten"
