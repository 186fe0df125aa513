"""One application of an operator, as the rules see it."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
import onnx_ir as ir

from optimizer.constants import constant_of, tensor_in
from optimizer.dimension import Dimension
from optimizer.frozen import frozen

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

FRESH = "?"
"""What the name of a symbol starts with that stands for a size nothing is known about."""

UNNAMED = f"{FRESH}i"
"""The same, for a size of an input that nobody has named; any other one may be 0."""

CONTRIB = "com.microsoft"

INTEGERS = frozenset(
    getattr(ir.DataType, name)
    for name in ("BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")
)


Array = np.ndarray


class NotFoldable(Exception):
    """The node stays as it is; the text says why, in words a user can act on."""


class Contradiction(ValueError):
    """The graph cannot mean what it says; the outputs are treated as unknown."""


@frozen()
class Fact:
    """What is known about one value, whatever inputs the model gets.

    Attributes:
        dtype: the element type of a tensor.
        shape: the dimensions; an unknown size is a symbol of its own, never None.
        content: the elements of a small integer tensor, in row-major order.
        array: the data, where an operator is applied to constants.
    """

    dtype: ir.DataType | None = None
    shape: tuple[Dimension, ...] | None = None
    content: Content = None
    array: Array | None = None


UNKNOWN = Fact()

Known = Callable[[ir.Value], Fact]
"""Tells what is known about a value."""


class Call:
    """A node with what is known about the values it reads and makes.

    Attributes:
        node: the node itself.
        known: tells what is known about any value.
        opset: version of the default operator set.
        slices_fit: whether symbolic bounds of a Slice may be taken to lie inside the tensor.
    """

    __slots__ = ("_values", "known", "node", "opset", "slices_fit")

    def __init__(
        self, node: ir.Node, known: Known, *, opset: int = 0, slices_fit: bool = False
    ) -> None:
        """Look at `node`; what is known about a value is asked for when it is needed."""
        self.node = node
        self._values = node.inputs  # the property is asked often
        self.opset = opset
        self.slices_fit = slices_fit
        self.known = known

    @property
    def inputs(self) -> range:
        """Positions of all inputs, those that are left out included."""
        return range(len(self._values))

    def has(self, index: int) -> bool:
        """Whether the optional input is there."""
        return index < len(self._values) and self._values[index] is not None

    def fact(self, index: int) -> Fact:
        """Everything known about an input; `UNKNOWN` where it is left out."""
        value = self._values[index] if index < len(self._values) else None
        return UNKNOWN if value is None else self.known(value)

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
        attribute = self._attribute(name)
        return default if attribute is None else int(attribute.value)

    def real(self, name: str, default: float) -> float:
        """A floating-point attribute."""
        attribute = self._attribute(name)
        return default if attribute is None else float(attribute.value)

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """An attribute that is a list of integers; None where it is left out."""
        attribute = self._attribute(name)
        return None if attribute is None else tuple(attribute.value)

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        attribute = self._attribute(name)
        return default if attribute is None else str(attribute.value)

    def tensor(self, name: str) -> ir.TensorProtocol | None:
        """A tensor attribute."""
        attribute = self._attribute(name)
        return None if attribute is None else tensor_in(attribute)

    def element_type(self, name: str) -> ir.DataType | None:
        """An attribute that names an element type; None where it is left out or 0."""
        number = self.number(name, 0)
        return ir.DataType(number) if number else None

    def constant(self, index: int) -> np.ndarray | None:
        """The elements of an input that is a small constant of the model, of any type."""
        if (found := self.fact(index).array) is not None:
            return found
        value = self._values[index] if index < len(self._values) else None
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

    def _attribute(self, name: str) -> ir.Attr | None:
        """An attribute that has a value of its own, unlike one that refers to a function's."""
        attribute = self.node.attributes.data.get(name)  # of the dict itself: `get` is slow
        return None if attribute is None or attribute.is_ref() else attribute

    def array(self, index: int) -> Array:
        """The elements of an input whose data are there.

        Raises:
            NotFoldable: the input is left out, or its data are not there.
        """
        found = self.fact(index).array
        if found is None:
            raise NotFoldable(f"input {index} of {self.node.op_type} is missing")
        return found

    def arrays(self) -> list[Array]:
        """The data of all inputs that are given."""
        return [self.array(index) for index in self.inputs if self.has(index)]

    def ints(self, index: int, name: str) -> list[int] | None:
        """Integers that newer versions take as an input and older ones as an attribute."""
        if self.has(index):
            return [int(x) for x in self.array(index).reshape(-1)]
        given = self.numbers(name)
        return None if given is None else list(given)

    def sizes(self, index: int) -> tuple[int, ...] | None:
        """The shape of an input where every size is a number."""
        return in_numbers(self.shape(index))

    def count(self, index: int = 0) -> int | None:
        """Elements of an input."""
        sizes = self.sizes(index)
        return None if sizes is None else prod(sizes)

    def result(self, index: int = 0) -> tuple[int, ...] | None:
        """The shape of an output where every size is a number."""
        outputs = self.node.outputs
        return in_numbers(self.known(outputs[index]).shape) if index < len(outputs) else None

    def out(self) -> int | None:
        """Elements of the first output."""
        sizes = self.result()
        return None if sizes is None else prod(sizes)


IndexRule = Callable[[Call], Dim]
"""The size of the axis that indices run along; None where it is not known."""


def in_numbers(shape: Shape | None) -> tuple[int, ...] | None:
    """The shape, if all of it are numbers."""
    if shape is None:
        return None
    numbers = tuple(dim for dim in shape if isinstance(dim, int))
    return numbers if len(numbers) == len(shape) else None


def axis_in(axis: int, rank: int) -> int:
    """The axis counted from the front."""
    if not -rank <= axis < rank:
        raise Contradiction(f"axis {axis} is outside a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis
