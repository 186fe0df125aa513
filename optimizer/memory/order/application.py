"""Writes an order into a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import onnx_ir as ir

from optimizer.memory.lifetimes import positions
from optimizer.memory.program import read_program
from optimizer.memory.sizes import KnownSizes
from optimizer.model.graph import Model
from optimizer.runtime.graph import read_by_bodies


def apply_order(model: Model, nodes: Sequence[str]) -> Model:
    """A copy of `model` whose nodes stand in this order; ids, names and bodies stay as they are.

    Args:
        model: stays as it is.
        nodes: ids of the main graph's nodes that run; constants go to their first readers.

    Raises:
        PlanError: not all nodes are there, or one stands before what it reads.
    """
    copy = model.ir.clone()
    program = read_program(copy.graph, KnownSizes(copy.graph))
    running = [program.operations[index].node for index in positions(program, nodes)]
    fixed = {value: node for node in program.fixed for value in node.outputs}
    order = dict.fromkeys(_with_constants(running, fixed))
    rest = [node for node in copy.graph if node not in order]  # constants nobody here reads
    copy.graph.extend([*order, *rest])
    return replace(model, ir=copy)


def _with_constants(
    running: Sequence[ir.Node], fixed: dict[ir.Value, ir.Node]
) -> Iterator[ir.Node]:
    """Every node after the constants it needs, which come as late as they can."""
    done: set[ir.Node] = set()
    for node in running:
        waiting = [node]
        while waiting:
            current = waiting[-1]
            makers = [fixed[value] for value in _reads(current) if value in fixed]
            missing = [maker for maker in makers if maker not in done]
            waiting += missing
            if not missing:
                done.add(current)
                yield waiting.pop()


def _reads(node: ir.Node) -> Iterator[ir.Value]:
    """What a node needs, its bodies included."""
    yield from (value for value in node.inputs if value is not None)
    yield from read_by_bodies(node)
