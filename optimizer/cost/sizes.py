"""Numbers for free dimensions, so that a dynamic model has a cost at all."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Self

import onnx_ir as ir

from optimizer.dimension import TooComplex
from optimizer.dimension_text import names_in, parse
from optimizer.free_sizes import ASSUMED, sizes_by_name
from optimizer.operators.call import Fact


class Sizes:
    """The size that every free dimension is taken to have.

    A dimension without a name counts as 1, any other as its name says (`optimizer.free_sizes`)
    unless `given` says otherwise. Expressions follow from their names.

    Attributes:
        assumed: the sizes used so far, by name.
    """

    def __init__(self, given: Mapping[str, int] | None = None) -> None:
        self._given = dict(given or {})
        self._known: dict[str, int | None] = {}
        self.assumed: dict[str, int] = {}

    @classmethod
    def of(cls, graph: ir.Graph, given: Mapping[str, int] | None = None) -> Self:
        """For a whole graph: a total length is taken as what is past and what is new together."""
        dims = (dim for value in graph.inputs for dim in value.shape or ())
        texts = (dim.value for dim in dims if isinstance(dim, ir.SymbolicDim) and dim.value)
        names = dict.fromkeys(name for text in texts for name in names_in(text))
        return cls(sizes_by_name(names, given or {}))

    def shape(self, value: ir.Value | None) -> tuple[int, ...] | None:
        """The shape in numbers; None where the rank, or a size, is unknown."""
        if value is None or value.shape is None:
            return None
        dims = tuple(dim if isinstance(dim, int) else self._size(dim.value) for dim in value.shape)
        numbers = tuple(dim for dim in dims if dim is not None and dim >= 0)
        return numbers if len(numbers) == len(dims) else None

    def fact(self, value: ir.Value) -> Fact:
        """Element type and shape, the shape in numbers."""
        return Fact(value.dtype, self.shape(value))

    def elements(self, value: ir.Value | None) -> int | None:
        """How many elements a tensor has."""
        shape = self.shape(value)
        return None if shape is None else prod(shape)

    def size_bytes(self, value: ir.Value) -> int | None:
        """The bytes of a tensor; None for text and whatever is not a tensor of known shape."""
        count = self.elements(value)
        if count is None or not isinstance(value.type, ir.TensorType):
            return None
        dtype = value.type.dtype
        if dtype in (ir.DataType.STRING, ir.DataType.UNDEFINED):
            return None
        return -(-count * dtype.bitwidth // 8)

    def _size(self, name: str | None) -> int | None:
        if not name:
            return 1
        if name not in self._known:
            self._known[name] = self._assume(name)
        return self._known[name]

    def _assume(self, name: str) -> int | None:
        if name in self._given:
            return self._remember(name)
        expression = parse(name)
        if expression is None:
            return 1
        try:
            size = expression.evaluate({s: self._remember(s) for s in expression.symbols()})
        except TooComplex:
            return None
        return size if isinstance(size, int) else None

    def _remember(self, name: str) -> int:
        if name not in self.assumed:
            self.assumed[name] = sizes_by_name([name], self._given).get(name, ASSUMED.other)
        return self.assumed[name]


class FixedSizes(Sizes):
    """Sizes of a graph that does not change meanwhile: each shape is looked up once."""

    def __init__(self, given: Mapping[str, int] | None = None) -> None:
        super().__init__(given)
        self._shapes: dict[ir.Value | None, tuple[int, ...] | None] = {}

    def shape(self, value: ir.Value | None) -> tuple[int, ...] | None:
        """As of `Sizes`."""
        if value not in self._shapes:
            self._shapes[value] = super().shape(value)
        return self._shapes[value]
