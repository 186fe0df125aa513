"""One operator applied to constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

Array = np.ndarray
Attribute = Callable[[ir.Node, str], object]
"""Gives an attribute's value, the operator's default where the node has none."""


class NotFoldable(Exception):
    """The node stays as it is; the text says why, in words a user can act on."""


def data_inputs(node: ir.Node) -> Sequence[ir.Value | None]:
    """The inputs whose elements matter; of CastLike's second input only the type does."""
    typed = node.op_type == "CastLike" and node.outputs[0].dtype is not None
    return node.inputs[:1] if typed else node.inputs


@dataclass(frozen=True, slots=True)
class Application:
    """A node whose inputs are all known.

    Attributes:
        node: the node.
        inputs: its inputs; None where an optional one is missing.
        opset: version of the default operator set.
        attribute: see `Attribute`.
    """

    node: ir.Node
    inputs: Sequence[Array | None]
    opset: int
    attribute: Attribute

    def has(self, index: int) -> bool:
        """Whether the optional input is given."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def array(self, index: int) -> Array:
        """An input that must be there.

        Raises:
            NotFoldable: it is missing.
        """
        found = self.inputs[index] if index < len(self.inputs) else None
        if found is None:
            raise NotFoldable(f"input {index} of {self.node.op_type} is missing")
        return found

    def ints(self, index: int, name: str) -> list[int] | None:
        """Integers that newer versions take as an input and older ones as an attribute."""
        if self.has(index):
            return [int(x) for x in self.array(index).reshape(-1)]
        value = self.attribute(self.node, name)
        return None if value is None else [int(x) for x in value]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType, reportUnknownArgumentType] - a list of integers by its schema

    def number(self, name: str, default: int = 0) -> int:
        """An integer attribute."""
        value = self.attribute(self.node, name)
        return default if value is None else int(value)  # pyright: ignore[reportArgumentType] - an integer by its schema
