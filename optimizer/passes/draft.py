"""New operators on paper, each in the form that the model's operator set has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import ArrayLike, NDArray

from optimizer.constants import constant_of
from optimizer.rules import NewInitializer, NewNode, NewOutput, Operand

MICROSOFT = "com.microsoft"
TO_THE_END = int(np.iinfo(np.int64).max)
"""An end of a Slice beyond every size."""
Floats = NDArray[np.float32]
_SINCE = {
    "ConvInteger": 10, "DynamicQuantizeLinear": 11, "Erf": 9, "Expand": 8, "Gemm": 7, "Max": 8,
    "Min": 8, "Reshape": 5, "Round": 11, "Where": 9,
}  # fmt: skip
_AXES_AS_INPUT = {"ReduceSum": 13}
"""Versions since which a reduction reads its axes; 18 for all others."""


class NotHere(Exception):
    """This cannot be written this way; the text says why."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What new nodes are made with.

    Attributes:
        opset: of the model.
        base: begins the names of new constants.
        made: the new nodes, producers first.
        lists: lists of integers that there are already.
    """

    opset: int
    base: str
    made: list[NewNode] = field(default_factory=list[NewNode])
    lists: dict[tuple[int, ...], NewInitializer] = field(
        default_factory=dict[tuple[int, ...], NewInitializer]
    )

    def new(
        self, operator: str, *inputs: Operand | None, domain: str = "", **attributes: Any
    ) -> NewOutput:
        """The result of a new operator.

        Raises:
            NotHere: the model's operator set does not have it.
        """
        return self.news(operator, *inputs, domain=domain, **attributes)[0]

    def news(
        self,
        operator: str,
        *inputs: Operand | None,
        count: int = 1,
        domain: str = "",
        **attributes: Any,
    ) -> tuple[NewOutput, ...]:
        """The results of a new operator that has several."""
        self.needs(_SINCE.get(operator, 1), operator)
        made = NewNode(operator, inputs, attributes, domain, outputs=count)
        self.made.append(made)
        return tuple(made.output(index) for index in range(count))

    def needs(self, opset: int, operator: str) -> None:
        """Guard: an operator as it is since an operator set.

        Raises:
            NotHere: the model's is older.
        """
        if self.opset < opset:
            raise NotHere(f"{operator} needs operator set {opset}")

    def weight(self, array: NDArray[Any]) -> NewInitializer:
        """A new constant."""
        tensor = ir.Tensor(np.ascontiguousarray(array).reshape(array.shape))
        return NewInitializer(tensor, f"{self.base}_weight")

    def optional(self, array: NDArray[Any] | None) -> tuple[NewInitializer, ...]:
        """A new constant, if there is one."""
        return () if array is None else (self.weight(array),)

    def like(self, numbers: ArrayLike, value: ir.Value | None) -> NewInitializer:
        """A constant in the element type of a value.

        Raises:
            NotHere: the type is not known.
        """
        return self.weight(np.asarray(numbers).astype(dtype_of(value).numpy()))

    def integers(self, *numbers: int) -> NewInitializer:
        """A list of sizes, axes or places; the same list is one constant."""
        known = self.lists.get(numbers)
        if known is None:
            known = self.lists[numbers] = self.weight(np.array(numbers, np.int64))
        return known

    def place(self, number: int) -> NewInitializer:
        """A single number: an axis, a place, a size."""
        return self.weight(np.asarray(number, np.int64))

    def reshape(self, value: Operand, *target: int) -> NewOutput:
        """The same elements in another shape; 0 copies a size, -1 is what is left."""
        return self.new("Reshape", value, self.integers(*target))

    def unsqueeze(self, value: Operand, *axes: int) -> NewOutput:
        """The same elements with axes of size 1."""
        if self.opset < 13:
            return self.new("Unsqueeze", value, axes=[*axes])
        return self.new("Unsqueeze", value, self.integers(*axes))

    def squeeze(self, value: Operand, *axes: int) -> NewOutput:
        """The same elements without axes of size 1."""
        if self.opset < 13:
            return self.new("Squeeze", value, axes=[*axes])
        return self.new("Squeeze", value, self.integers(*axes))

    def slice(
        self,
        value: Operand,
        axes: Sequence[int],
        starts: Sequence[int],
        ends: Sequence[int],
        steps: Sequence[int] = (),
    ) -> NewOutput:
        """A part along some axes."""
        stepping = any(step != 1 for step in steps)
        if self.opset < 10:
            if stepping:
                raise NotHere("a Slice with steps needs operator set 10")
            return self.new("Slice", value, axes=[*axes], starts=[*starts], ends=[*ends])
        lists = [starts, ends, axes, *([steps] if stepping else [])]
        return self.new("Slice", value, *(self.integers(*numbers) for numbers in lists))

    def split(self, value: Operand, count: int, size: int, *, axis: int) -> tuple[NewOutput, ...]:
        """Equal parts along an axis, each of this size."""
        sizes = [size] * count
        if self.opset < 13:
            return self.news("Split", value, count=count, axis=axis, split=sizes)
        return self.news("Split", value, self.integers(*sizes), count=count, axis=axis)

    def pad(
        self, value: Operand, pads: Sequence[int], filling: NewInitializer | None = None
    ) -> Operand:
        """A constant, or 0, around a value: at the beginning of every axis, then at the end."""
        if not any(pads):
            return value
        extra = () if filling is None else (filling,)
        if self.opset < 11:
            number = float(filling.tensor.numpy().item()) if filling is not None else 0.0
            return self.new("Pad", value, pads=[*pads], value=number)
        return self.new("Pad", value, self.integers(*pads), *extra)

    def reduce(
        self, operator: str, value: Operand, axes: Sequence[int], *, keep: bool = True
    ) -> NewOutput:
        """A reduction over some axes."""
        if self.opset < _AXES_AS_INPUT.get(operator, 18):
            return self.new(operator, value, axes=[*axes], keepdims=int(keep))
        return self.new(operator, value, self.integers(*axes), keepdims=int(keep))

    def each(self, operator: str, values: Sequence[Operand]) -> Operand:
        """An operator of two applied along a list, from the left."""
        result = values[0]
        for value in values[1:]:
            result = self.new(operator, result, value)
        return result


def array_of(value: ir.Value | None) -> NDArray[Any]:
    """A constant's elements.

    Raises:
        NotHere: it is computed.
    """
    tensor = constant_of(value)
    if tensor is None:
        raise NotHere("its weights are computed, not constant")
    return tensor.numpy()


def floats_of(value: ir.Value | None) -> Floats:
    """A float32 constant's elements.

    Raises:
        NotHere: it is computed, or of another type.
    """
    array = array_of(value)
    if array.dtype != np.float32:
        raise NotHere(f"its weights are {array.dtype}, not float32")
    return array


def dtype_of(value: ir.Value | None) -> ir.DataType:
    """The element type of a value.

    Raises:
        NotHere: it is not known.
    """
    if value is None or value.dtype is None:
        raise NotHere("the type of its input is not known")
    return value.dtype


def dims_of(value: ir.Value | None) -> tuple[int | None, ...]:
    """Sizes of a value, None for those that the file leaves free.

    Raises:
        NotHere: not even the rank is known, or it has no elements.
    """
    if value is None or value.shape is None:
        raise NotHere("the rank of its input is not known")
    if 0 in value.shape:
        raise NotHere("its input has no elements")
    return tuple(dim if isinstance(dim, int) else None for dim in value.shape)


def numbers_of(value: ir.Value | None) -> tuple[int, ...]:
    """Sizes of a value, all of them.

    Raises:
        NotHere: one is free.
    """
    dims = dims_of(value)
    known = tuple(dim for dim in dims if dim is not None)
    if len(known) < len(dims):
        raise NotHere("a size of its input is free in the file")
    return known


def only_one_free(*dims: int | None) -> tuple[int, ...]:
    """Sizes for a Reshape: the one that is free becomes -1.

    Raises:
        NotHere: more than one is free.
    """
    if sum(dim is None for dim in dims) > 1:
        raise NotHere("more than one of its sizes is free in the file")
    return tuple(-1 if dim is None else dim for dim in dims)


def attributes_of(node: ir.Node) -> Mapping[str, Any]:
    """A node's attributes by name, as plain values."""
    return {name: attribute.value for name, attribute in node.attributes.items()}
