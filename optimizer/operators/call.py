"""One application of an operator, as the rules see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.model.constants import constant_of
from optimizer.model.dimension import Dimension, Expression, at_least

Dim = Dimension | None
"""A size, or None where nothing is known about it."""

Shape = tuple[Dim, ...]
Typed = tuple[ir.DataType | None, Shape | None]
"""Element type and shape of one output; None is unknown, a shape of None has unknown rank."""

Content = tuple[Dim, ...] | Dim
"""What a small integer tensor holds: one `Dimension` (rank 0), a tuple of them, or None."""

MAX_CONTENT = 64
"""Elements of an integer tensor that are followed."""

MAX_CONSTANT = 4096
"""Elements of a constant that a rule may look at."""

CONTRIB = "com.microsoft"

INTEGERS = frozenset(
    getattr(ir.DataType, name)
    for name in ("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")
)


class Contradiction(ValueError):
    """The graph cannot mean what it says; the outputs are treated as unknown."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known about one value, whatever inputs the model gets.

    Attributes:
        dtype: the element type of a tensor.
        shape: the dimensions; an unknown size is a symbol of its own, never None.
        content: the elements of a small integer tensor, in row-major order.
    """

    dtype: ir.DataType | None = None
    shape: tuple[Dimension, ...] | None = None
    content: Content = None


UNKNOWN = Fact()


class Call:
    """A node with what is known about its inputs.

    Attributes:
        node: the node itself.
        inputs: one fact for each input; None where an optional input is left out.
        opset: version of the default operator set.
        slices_fit: whether symbolic bounds of a Slice may be taken to lie inside the tensor.
    """

    __slots__ = ("inputs", "node", "opset", "slices_fit")

    def __init__(
        self, node: ir.Node, inputs: list[Fact | None], *, opset: int, slices_fit: bool
    ) -> None:
        self.node = node
        self.inputs = inputs
        self.opset = opset
        self.slices_fit = slices_fit

    def has(self, index: int) -> bool:
        """Whether the optional input is there."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def fact(self, index: int) -> Fact:
        """Everything known about an input; `UNKNOWN` where it is left out."""
        return (self.inputs[index] if index < len(self.inputs) else None) or UNKNOWN

    def shape(self, index: int) -> tuple[Dimension, ...] | None:
        """Dimensions of an input."""
        return self.fact(index).shape

    def dtype(self, index: int) -> ir.DataType | None:
        """Element type of an input."""
        return self.fact(index).dtype

    def elements(self, index: int) -> tuple[Dim, ...] | None:
        """Elements of a small integer input of rank 0 or 1, as a tuple."""
        fact = self.fact(index)
        if fact.content is None or (fact.shape is not None and len(fact.shape) > 1):
            return None
        return fact.content if isinstance(fact.content, tuple) else (fact.content,)

    def integers(self, index: int) -> tuple[int, ...] | None:
        """Elements of a small integer input where all are numbers."""
        elements = self.elements(index)
        if elements is None:
            return None
        numbers = tuple(element for element in elements if isinstance(element, int))
        return numbers if len(numbers) == len(elements) else None

    def number(self, name: str, default: int) -> int:
        """An integer attribute."""
        attribute = self.node.attributes.get(name)
        return default if attribute is None else int(attribute.value)

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """An attribute that is a list of integers; None where it is left out."""
        attribute = self.node.attributes.get(name)
        return None if attribute is None else tuple(attribute.value)

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        attribute = self.node.attributes.get(name)
        return default if attribute is None else str(attribute.value)

    def tensor(self, name: str) -> ir.TensorProtocol | None:
        """A tensor attribute."""
        attribute = self.node.attributes.get(name)
        return None if attribute is None else attribute.as_tensor()

    def element_type(self, name: str) -> ir.DataType | None:
        """An attribute that names an element type; None where it is left out or 0."""
        number = self.number(name, 0)
        return ir.DataType(number) if number else None

    def constant(self, index: int) -> np.ndarray | None:
        """The elements of an input that is a small constant of the model, of any type."""
        value = self.node.inputs[index] if index < len(self.node.inputs) else None
        tensor = constant_of(value)
        if tensor is None or tensor.size > MAX_CONSTANT or tensor.dtype == ir.DataType.STRING:
            return None
        return tensor.numpy()

    def axes(self, name: str, index: int, rank: int) -> tuple[int, ...] | None:
        """Axes from an attribute or, in newer operator sets, from an input; all in [0, rank).

        Returns: the axes; the empty tuple where none are given; None where they are not known.
        """
        given = self.numbers(name)
        if given is None:
            if not self.has(index):
                return ()
            given = self.integers(index)
            if given is None:
                return None
        return tuple(axis_in(axis, rank) for axis in given)


def axis_in(axis: int, rank: int) -> int:
    """The axis counted from the front."""
    if not -rank <= axis < rank:
        raise Contradiction(f"axis {axis} is outside a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis


def same(left: Dim, right: Dim) -> Dim:
    """The size of two dimensions that must be equal: the number where one is known."""
    if left is None or (isinstance(right, int) and not isinstance(left, int)):
        return right
    if isinstance(left, int) and isinstance(right, int) and left != right:
        raise Contradiction(f"{left} and {right} should be the same size")
    return left


def broadcast_dim(left: Dim, right: Dim) -> Dim:
    """The size where two sizes are broadcast together.

    A number above 1 wins over anything unknown: the other one is either 1 or the same.
    """
    if left == right or right == 1:
        return left
    if left == 1:
        return right
    if isinstance(left, int) and isinstance(right, int):
        raise Contradiction(f"sizes {left} and {right} do not broadcast")
    if isinstance(left, int):
        return left
    return right if isinstance(right, int) else None


def broadcast(*shapes: Shape | None) -> Shape | None:
    """The common shape of several tensors under ONNX's multidirectional broadcasting."""
    result: Shape = ()
    for shape in shapes:
        if shape is None:
            return None
        if shape == result:
            continue
        longer, shorter = (shape, result) if len(shape) >= len(result) else (result, shape)
        lead = len(longer) - len(shorter)
        pairs = zip(longer[lead:], shorter, strict=True)
        result = longer[:lead] + tuple(broadcast_dim(a, b) for a, b in pairs)
    return result


def non_negative(dim: Dim) -> Dim:
    """The size, or None where it might be negative for some sizes of the inputs."""
    if isinstance(dim, Expression):
        return dim if at_least(dim, 0) else None
    if dim is not None and dim < 0:
        raise Contradiction(f"a size of {dim}")
    return dim


def agreed_type(one: Fact, other: Fact) -> Typed:
    """What two alternatives have in common."""
    dtype = one.dtype if one.dtype == other.dtype else None
    if one.shape is None or other.shape is None or len(one.shape) != len(other.shape):
        return dtype, None
    pairs = zip(one.shape, other.shape, strict=True)
    return dtype, tuple(a if a == b else None for a, b in pairs)


TypeRule = Callable[[Call], Sequence[Typed]]
ContentRule = Callable[[Call], Sequence[Content]]
TYPE_RULES: dict[tuple[str, str], TypeRule] = {}
CONTENT_RULES: dict[tuple[str, str], ContentRule] = {}


def types(*operators: str, domain: str = "") -> Callable[[TypeRule], TypeRule]:
    """Register a rule for types and shapes under the names of its operators."""

    def register(rule: TypeRule) -> TypeRule:
        TYPE_RULES.update({(domain, operator): rule for operator in operators})
        return rule

    return register


def contents(*operators: str) -> Callable[[ContentRule], ContentRule]:
    """Register a rule for small integer values under the names of its operators."""

    def register(rule: ContentRule) -> ContentRule:
        CONTENT_RULES.update({("", operator): rule for operator in operators})
        return rule

    return register
