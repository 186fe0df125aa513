"""Algorithms put together tensor by tensor: each says how one of its elements is found.

A tensor that only moves elements of another is a function of indices, never a Func of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import (
    Algorithm,
    Func,
    InputTensor,
    LoopAxis,
    Reduction,
    ReductionKind,
)
from optimizer.loops.scalar import Element, Number, Scalar, apply, cast, index

_T = ir.DataType
ELEMENT_TYPES = frozenset(
    (
        _T.BOOL, _T.INT8, _T.INT16, _T.INT32, _T.INT64, _T.UINT8, _T.UINT16, _T.UINT32, _T.UINT64,
        _T.FLOAT16, _T.BFLOAT16, _T.FLOAT, _T.DOUBLE,
    )
)  # fmt: skip
"""What loops compute with."""

Indices = Sequence[Scalar]
At = Callable[[Indices], Scalar]


class NotGenerated(Exception):
    """No loops are written for this; the text says why, in words a user can act on."""


@dataclass(frozen=True, slots=True)
class LoopTensor:
    """A tensor inside an algorithm that is being built.

    Attributes:
        at: one of its elements.
        func: the Func that it is as it stands; empty for a view or an input.
    """

    dtype: ir.DataType
    shape: tuple[Dimension, ...]
    at: At
    func: str = ""

    def view(self, shape: Sequence[Dimension], place: Callable[[Indices], Indices]) -> LoopTensor:
        """Its elements in another arrangement; `place` says where an element comes from."""
        return LoopTensor(self.dtype, tuple(shape), lambda indices: self.at(place(indices)))

    def broadcast(self, shape: Sequence[Dimension]) -> LoopTensor:
        """Its elements repeated along axes that have extent 1 here, or are missing in front.

        Raises:
            NotGenerated: nothing says whether an axis is repeated.
        """
        if tuple(shape) == self.shape:
            return self
        lead = len(shape) - len(self.shape)
        pairs = list(zip(self.shape, shape[lead:], strict=True))
        for own, wanted in pairs:
            if own not in (1, wanted):
                raise NotGenerated(f"nothing says whether sizes {own} and {wanted} are equal")
        kept = [own != 1 or wanted == 1 for own, wanted in pairs]

        def place(indices: Indices) -> Indices:
            return [i if k else index(0) for i, k in zip(indices[lead:], kept, strict=True)]

        return self.view(shape, place)


def common_shape(tensors: Sequence[LoopTensor]) -> tuple[Dimension, ...]:
    """The shape of tensors broadcast together: an axis is repeated where its extent is 1.

    Raises:
        NotGenerated: two sizes are not known to be equal.
    """
    rank = max(len(tensor.shape) for tensor in tensors)
    result: list[Dimension] = [1] * rank
    for tensor in tensors:
        lead = rank - len(tensor.shape)
        for axis, size in enumerate(tensor.shape, lead):
            if result[axis] == 1:
                result[axis] = size
            elif size not in (1, result[axis]):
                raise NotGenerated(
                    f"nothing says whether sizes {result[axis]} and {size} are equal"
                )
    return tuple(result)


def one_number(value: float, dtype: ir.DataType) -> LoopTensor:
    """A constant of rank 0."""
    made = Number(value, dtype)
    return LoopTensor(dtype, (), lambda _: made)


MAX_CHOICES = 16
"""Elements of a constant that are written into a kernel one by one."""


def constant_tensor(array: np.ndarray, dtype: ir.DataType) -> LoopTensor | None:
    """A constant as numbers: one for all, whole numbers evenly spaced, or few; else None."""
    if not array.size or dtype not in ELEMENT_TYPES:
        return None
    elements = [Number(one.item(), dtype) for one in array.reshape(-1)[: MAX_CHOICES + 1]]
    if (array == array.reshape(-1)[0]).all():
        return LoopTensor(dtype, (), lambda _: elements[0]).broadcast(array.shape)
    if array.dtype.kind in "iu" and (steps := _even_steps(array)) is not None:
        return LoopTensor(dtype, array.shape, lambda i: _spaced(elements[0], steps, i))
    if array.size > MAX_CHOICES:
        return None
    return LoopTensor(dtype, array.shape, lambda i: _chosen(elements, array.shape, i))


def _even_steps(array: np.ndarray) -> list[int] | None:
    """What an element grows by along each axis, where that is the same everywhere."""
    whole = array.astype(np.int64)
    first = int(whole.reshape(-1)[0])
    steps = [
        int(whole.take(1, axis).reshape(-1)[0]) - first if size > 1 else 0
        for axis, size in enumerate(array.shape)
    ]
    grid = np.indices(array.shape)
    spaced = first + sum(one * step for one, step in zip(grid, steps, strict=True))
    return steps if np.array_equal(spaced, whole) else None


def _spaced(first: Number, steps: Sequence[int], indices: Indices) -> Scalar:
    total: Scalar = first
    for step, one in zip(steps, indices, strict=True):
        if step:
            factor = Number(step, first.dtype)
            total = apply("add", total, apply("mul", cast(one, first.dtype), factor))
    return total


def _chosen(elements: Sequence[Number], shape: Sequence[int], indices: Indices) -> Scalar:
    """One of a few numbers, by its place in row-major order."""
    place: Scalar = index(0)
    for size, one in zip(shape, indices, strict=True):
        place = apply("add", apply("mul", place, index(size)), one)
    result: Scalar = elements[-1]
    for number, element in reversed(list(enumerate(elements[:-1]))):
        result = apply("select", apply("eq", place, index(number)), element, result)
    return result


class LoopBuilder:
    """Gathers the inputs and Funcs of one algorithm."""

    def __init__(self) -> None:
        self._inputs: list[InputTensor] = []
        self._funcs: list[Func] = []
        self._names: set[str] = set()

    def input(self, name: str, dtype: ir.DataType, shape: Sequence[Dimension]) -> LoopTensor:
        """A tensor that the kernel reads."""
        made = InputTensor(self._name(name), _checked(dtype), tuple(shape))
        self._inputs.append(made)
        return LoopTensor(
            dtype, made.shape, lambda indices: Element(made.name, tuple(indices), dtype)
        )

    def func(
        self,
        name: str,
        shape: Sequence[Dimension],
        body: At,
        *,
        dtype: ir.DataType | None = None,
        origin: str = "",
    ) -> LoopTensor:
        """A tensor that is computed element by element.

        Args:
            name: what it is called, numbered where that is taken.
            shape: its extents.
            body: an element, by its indices.
            dtype: another type than the body's, which is cast.
            origin: see `Func`.
        """
        axes = _axes("i", shape)
        scalar = body([axis.var for axis in axes])
        kind = _checked(dtype or scalar.dtype)
        return self._made(Func(self._name(name), kind, axes, cast(scalar, kind), None, origin))

    def reduced(
        self,
        name: str,
        kind: ReductionKind,
        *,
        shape: Sequence[Dimension],
        along: Sequence[Dimension],
        body: Callable[[Indices, Indices], Scalar],
        origin: str = "",
        ignores_nan: bool = False,
    ) -> LoopTensor:
        """A tensor whose elements combine many; `body` gets indices of its axes and of `along`."""
        axes, others = _axes("i", shape), _axes("r", along)
        scalar = body([axis.var for axis in axes], [axis.var for axis in others])
        reduction = Reduction(kind, others, ignores_nan)
        return self._made(
            Func(self._name(name), _checked(scalar.dtype), axes, scalar, reduction, origin)
        )

    def algorithm(self, outputs: Sequence[LoopTensor]) -> Algorithm:
        """What was gathered, with these outputs; one that is a view gets a Func of its own."""
        names: list[str] = []
        for output in outputs:
            whole = output.func if output.func not in names else ""
            names.append(whole or self.func("output", output.shape, output.at).func)
        return Algorithm(tuple(self._inputs), tuple(self._funcs), tuple(names))

    def _made(self, func: Func) -> LoopTensor:
        self._funcs.append(func)
        return LoopTensor(func.dtype, func.shape, func.at, func.name)

    def _name(self, wish: str) -> str:
        base = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", re.sub(r"\W", "_", wish)).lower()
        name, count = base, 1
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return name


def _axes(letter: str, shape: Sequence[Dimension]) -> tuple[LoopAxis, ...]:
    return tuple(LoopAxis(f"{letter}{number}", extent) for number, extent in enumerate(shape))


def _checked(dtype: ir.DataType) -> ir.DataType:
    if dtype not in ELEMENT_TYPES:
        raise NotGenerated(f"no loops are written for elements of type {dtype.name}")
    return dtype
