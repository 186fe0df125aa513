"""Numbers for free dimensions, so that a dynamic model has a cost at all."""

from __future__ import annotations

import re
from collections.abc import Mapping

import onnx_ir as ir

from optimizer.dimension import TooComplex
from optimizer.dimension_text import parse
from optimizer.operators.call import Fact

BATCH = 1
OTHER = 128
_BATCH_NAMES = frozenset({"n", "b", "bs"})
_NEW_NAMES = ("seq", "sequence", "sequence_length")
_PAST = re.compile("past|cache|history|prev", re.IGNORECASE)
_TOTAL = re.compile("total|all_", re.IGNORECASE)


class Sizes:
    """The size that every free dimension is taken to have.

    A dimension without a name counts as 1, one whose name speaks of a batch as `BATCH`, any other
    as `other`, unless `given` says otherwise. Expressions follow from their names.

    Attributes:
        assumed: the sizes used so far, by name.
    """

    def __init__(self, given: Mapping[str, int] | None = None, *, other: int = OTHER) -> None:
        self._other = other
        self._given = dict(given or {})
        self._known: dict[str, int | None] = {}
        self.assumed: dict[str, int] = {}

    @classmethod
    def of(
        cls, graph: ir.Graph, given: Mapping[str, int] | None = None, *, other: int = OTHER
    ) -> Sizes:
        """For a whole graph: a total length is taken as what is past and what is new together."""
        first = cls(given, other=other)
        for value in graph.inputs:
            first.shape(value)
        return cls({**_totals(first.assumed), **(given or {})}, other=other)

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
        if shape is None:
            return None
        count = 1
        for dim in shape:
            count *= dim
        return count

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
        lowered = name.lower()
        batch = "batch" in lowered or lowered in _BATCH_NAMES or lowered.startswith("unk_")
        default = BATCH if batch else self._other  # tf2onnx calls the batch unk__1
        self.assumed[name] = self._given.get(name, default)
        return self.assumed[name]


def _totals(sizes: Mapping[str, int]) -> dict[str, int]:
    past = next((size for name, size in sizes.items() if _PAST.search(name)), None)
    new = next((sizes[name] for name in _NEW_NAMES if name in sizes), None)
    if past is None or new is None:
        return {}
    return {name: past + new for name in sizes if _TOTAL.match(name)}
