"""A pass whose rules raise, planted into the registry while a test runs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import onnx_ir as ir

from optimizer import registry
from optimizer.registry import Pass, rule
from optimizer.rules.context import Context
from optimizer.rules.replacement import NewNode, Outcome, Replacement


@dataclass(frozen=True)
class PlantedBug(Pass):
    """Break in the middle.

    What it does:
        Nothing good.
    """

    id = "planted-bug"
    family = "node"
    exactness = "exact"
    presets = ("portable",)
    order = 1

    @rule("Relu", name="RaisesAtOnce")
    def at_once(self, node: ir.Node, context: Context) -> Outcome:
        """Raises before it has an answer."""
        raise KeyError(f"no scale for {node.op_type}")

    @rule("Sigmoid", name="RaisesHalfway")
    def halfway(self, node: ir.Node, context: Context) -> Outcome:
        """Its first new node is fine, its second one has an attribute nobody can write."""
        first = NewNode("Gelu", [node.inputs[0]], domain="com.microsoft")
        second = NewNode("Identity", [first.output()], {"what": object()})
        return Replacement([node], {node.outputs[0]: second.output()}, "None.", [first, second])

    @rule("Tanh", name="FirstTheSecondTime")
    def the_second_time(self, node: ir.Node, context: Context) -> Outcome:
        """Removes what it can, until it raises."""
        if node.name == "last":
            raise ValueError
        return Replacement([node], {node.outputs[0]: _value(node)}, "A test may.")


def _value(node: ir.Node) -> ir.Value:
    value = node.inputs[0]
    assert value is not None
    return value


@contextmanager
def planted() -> Generator[type[Pass]]:
    """The pass, registered for as long as this lasts."""
    registry.passes()
    registry.register(PlantedBug)
    try:
        yield PlantedBug
    finally:
        del registry._REGISTRY[PlantedBug.id]  # pyright: ignore[reportPrivateUsage] - nothing else ever leaves it
