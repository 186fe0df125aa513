"""A region of a graph that becomes one kernel, or why it does not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.errors import quoted
from optimizer.fusion.growth import Level
from optimizer.fusion.prices import Price
from optimizer.model.region_functions import stands_inside
from optimizer.numbers import bytes_text, three_digits

Kind = Literal["fusion", "better kernel"]
"""Several nodes as one, or one node whose kernel in the runtime is slow."""


@dataclass(frozen=True, slots=True)
class Region:
    """Nodes that become one kernel.

    Attributes:
        level: see `Group`.
        nodes: in the order of the graph.
        outputs: values of theirs that are read outside; all of one shape.
        name: of the function.
        price: predicted.
        ends: what stands at its borders and stays, told.
    """

    level: Level
    nodes: tuple[ir.Node, ...]
    outputs: tuple[ir.Value, ...]
    name: str
    price: Price
    ends: str = ""

    @property
    def kind(self) -> Kind:
        """What is gained: by joining, or by another kernel alone."""
        return "better kernel" if self.price.launches == 1 else "fusion"

    @property
    def reason(self) -> str:
        """What it gains, for people."""
        price = self.price
        count = len(self.nodes)
        if self.kind == "better kernel":
            what = f"Better kernel: ONNX Runtime's own {self.nodes[0].op_type} is slow"
        else:
            what = f"Fusion: {count} nodes as one kernel"
        slow = ""
        if price.slow and self.kind == "fusion":
            slow = f" ONNX Runtime's own {' and '.join(dict.fromkeys(price.slow))} is slow."
        return f"{what}: {priced_text(price)}.{slow}{self.ends}"


def priced_text(price: Price) -> str:
    """Predicted times and traffic of both ways."""
    times = f"{_us(price.separate_us)} predicted apart, {_us(price.kernel_us)} as one"
    moved = f"{bytes_text(price.separate_bytes)} moved, then {bytes_text(price.kernel_bytes)}"
    launched = f", {price.launches} launches, then 1" if price.launches > 1 else ""
    return f"{times}; {moved}{launched}"


def exported(nodes: Collection[ir.Node]) -> list[ir.Value]:
    """Values of some nodes that are read by others, or are the graph's outputs."""
    inside = set(nodes)
    return [
        value
        for node in nodes
        for value in node.outputs
        if value.is_graph_output() or any(use.node not in inside for use in value.uses())
    ]


def leaving(nodes: Collection[ir.Node], outputs: Collection[ir.Value]) -> list[ir.Node]:
    """Nodes of a region that nobody needs once its outputs come from a kernel."""
    gone: set[ir.Node] = set()
    replaced = set(outputs)
    for node in reversed([*nodes]):
        needed = (
            value
            for value in node.outputs
            if value not in replaced
            and (value.is_graph_output() or any(use.node not in gone for use in value.uses()))
        )
        if next(needed, None) is None:
            gone.add(node)
    return [node for node in nodes if node in gone]


def read_outside(nodes: Collection[ir.Node]) -> list[ir.Value]:
    """What a region reads, in the order in which it does; constants included."""
    made = {value for node in nodes for value in node.outputs}
    read = (value for node in nodes for value in node.inputs if value is not None)
    return [value for value in dict.fromkeys(read) if value not in made]


def read_by_kernel(nodes: Collection[ir.Node]) -> list[ir.Value]:
    """The same without the constants that become part of a kernel."""
    return [value for value in read_outside(nodes) if not stands_inside(value)]


def ends_at(nodes: Collection[ir.Node], outputs: Collection[ir.Value]) -> str:
    """Products and convolutions on both sides, which the runtime computes better."""
    before = (value.producer() for value in read_outside(nodes))
    after = (use.node for value in outputs for use in value.uses() if use.node not in nodes)
    names = sorted({n.op_type for n in before if n is not None and not is_constant_node(n)})
    readers = sorted({n.op_type for n in after})
    parts = [f"after {', '.join(names)}"] if names else []
    parts += [f"before {', '.join(readers)}"] if readers else []
    return f" It ends {' and '.join(parts)}." if parts else ""


def described(node: ir.Node) -> str:
    """A node for people."""
    return f"{node.op_type} {quoted(node.name or '')}"


def _us(number: float) -> str:
    return f"{three_digits(number)} µs"
