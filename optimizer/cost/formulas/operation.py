"""What a formula is given, and the table it stands in."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import onnx_ir as ir

from optimizer.cost.sizes import Sizes


class Operation:
    """A node with its shapes in numbers."""

    __slots__ = ("_sizes", "node")

    def __init__(self, node: ir.Node, sizes: Sizes) -> None:
        self.node = node
        self._sizes = sizes

    def shape(self, index: int) -> tuple[int, ...] | None:
        """The shape of an input."""
        return self._sizes.shape(self.node.inputs[index]) if self.has(index) else None

    def has(self, index: int) -> bool:
        """Whether the input is there."""
        return index < len(self.node.inputs) and self.node.inputs[index] is not None

    def count(self, index: int = 0) -> int | None:
        """Elements of an input."""
        shape = self.shape(index)
        return None if shape is None else prod(shape)

    def out(self) -> int | None:
        """Elements of the first output."""
        return self._sizes.elements(self.node.outputs[0])

    def result(self, index: int) -> tuple[int, ...] | None:
        """The shape of an output."""
        outputs = self.node.outputs
        return self._sizes.shape(outputs[index]) if index < len(outputs) else None

    def number(self, name: str, default: int) -> int:
        """An integer attribute."""
        attribute = self.node.attributes.get(name)
        return default if attribute is None or attribute.is_ref() else int(attribute.value)

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        attribute = self.node.attributes.get(name)
        return default if attribute is None or attribute.is_ref() else str(attribute.value)


Formula = Callable[[Operation], int | None]


class Formulas(dict[tuple[str, str], Formula]):
    """Formulas by the domain and the name of their operators."""

    def of(self, *operators: str, domain: str = "") -> Callable[[Formula], Formula]:
        """Register a formula under the names of its operators."""

        def register(function: Formula) -> Formula:
            self.update({(domain, operator): function for operator in operators})
            return function

        return register


def times(factor: int, count: int | None) -> int | None:
    """The product; unknown where the count is."""
    return None if count is None else factor * count
