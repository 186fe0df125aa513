"""A region of a graph that becomes one kernel, or why it does not."""

from __future__ import annotations

from collections.abc import Collection, Iterable
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
        return "better kernel" if self.price.working == 1 and self.price.slow else "fusion"

    @property
    def reason(self) -> str:
        """What it gains, for people."""
        price = self.price
        count = len(self.nodes)
        if self.kind == "better kernel":
            what = f"Better kernel: ONNX Runtime's own {price.slow[0]} is slow"
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


class Kernels:
    """Regions that are kernels already, as far as others ask: who still needs a value.

    Attributes:
        gone: nodes that are no more.
        inputs: what the kernels read.
    """

    def __init__(self) -> None:
        self.gone: set[ir.Node] = set()
        self.inputs: set[ir.Value] = set()

    def add(self, nodes: Collection[ir.Node], outputs: Collection[ir.Value]) -> None:
        """One more."""
        self.gone.update(self.leaving(nodes, outputs))
        self.inputs.update(read_outside(nodes))

    def exported(self, nodes: Iterable[ir.Node], around: Iterable[ir.Node]) -> list[ir.Value]:
        """Values of nodes that others than those around read, or that are the graph's outputs."""
        inside = set(around)
        return [v for node in nodes for v in node.outputs if self._needed(v, inside)]

    def leaving(self, nodes: Collection[ir.Node], outputs: Collection[ir.Value]) -> list[ir.Node]:
        """Nodes of a region that nobody needs once its outputs come from a kernel."""
        gone: set[ir.Node] = set()
        replaced = set(outputs)
        for node in reversed([*nodes]):
            if not any(v not in replaced and self._needed(v, gone) for v in node.outputs):
                gone.add(node)
        return [node for node in nodes if node in gone]

    def _needed(self, value: ir.Value, inside: Collection[ir.Node]) -> bool:
        """Whether others than some nodes read a value; nodes of a kernel do through its inputs."""
        return value.is_graph_output() or any(
            use.node not in inside and (use.node not in self.gone or value in self.inputs)
            for use in value.uses()
        )


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
