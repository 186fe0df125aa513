"""Expressions of a loop's body as statements in C: one for each function and each element read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.loops.scalar import (
    DECIDING,
    INDEX,
    Apply,
    Element,
    FreeSize,
    Number,
    Scalar,
    Var,
    rewritten,
)
from profiling.codegen.c_sizes import FLOATS, HALVES, computed_type, size_text

Range = tuple[int, int]
"""The least and the largest value that an index has."""

_HALF = {ir.DataType.FLOAT16: "half", ir.DataType.BFLOAT16: "bfloat"}


@dataclass(frozen=True, slots=True)
class Storage:
    """Where a tensor lies in a kernel's C.

    Attributes:
        pointer: its name; of the stored type.
        shape: of the tensor.
        row_axes: so many of its first axes are not in this memory: it holds one row of them.
    """

    pointer: str
    dtype: ir.DataType
    shape: tuple[Dimension, ...]
    row_axes: int = 0

    def place(self, indices: list[str], sizes: Mapping[str, str]) -> str:
        """The place of an element, as an expression in C."""
        text = ""
        kept = zip(indices[self.row_axes :], self.shape[self.row_axes :], strict=True)
        for one, extent in kept:
            text = f"({text}) * {size_text(extent, sizes)} + {one}" if text else one
        return f"{self.pointer}[{text or 0}]"

    def load(self, indices: list[str], sizes: Mapping[str, str]) -> str:
        """An element, as a value to compute with."""
        place = self.place(indices, sizes)
        if self.dtype == ir.DataType.BOOL:
            return f"({place} != 0)"
        return f"float_of_{_HALF[self.dtype]}({place})" if self.dtype in HALVES else place

    def store(self, indices: list[str], sizes: Mapping[str, str], value: str) -> str:
        """A statement that writes an element."""
        place = self.place(indices, sizes)
        given = f"{_HALF[self.dtype]}_of_float({value})" if self.dtype in HALVES else value
        return f"{place} = {given};"


class Statements:
    """Statements of one round of a loop nest.

    Args:
        storage: of every tensor that may be read.
        sizes: names of the free sizes in C.
        loops: names in C and extents of the variables.
    """

    def __init__(
        self,
        storage: Mapping[str, Storage],
        sizes: Mapping[str, str],
        loops: Mapping[str, tuple[str, Dimension]],
    ) -> None:
        self.lines: list[str] = []
        self._storage, self._sizes, self._loops = storage, sizes, loops
        self._parts: list[Scalar] = []  # alive, so that their ids stay theirs
        self._known: dict[int, str] = {}
        self._indices: dict[int, bool] = {}
        self._ranges: dict[int, Range | None] = {}

    def value(self, scalar: Scalar) -> str:
        """The name of a value, or its text; what it needs is in `lines` then."""
        rewritten(scalar, self._stated)
        return self._known[id(scalar)]

    def _stated(self, part: Scalar) -> Scalar:
        if id(part) not in self._known:
            self._parts.append(part)
            self._indices[id(part)] = self._is_index(part)
            self._ranges[id(part)] = self._range(part)
            self._known[id(part)] = self._text(part)
        return part

    def _text(self, part: Scalar) -> str:
        if isinstance(part, Var):
            return self._loops[part.name][0]
        if isinstance(part, FreeSize):
            return self._sizes[part.name]
        if isinstance(part, Number):
            return number_text(part)
        text = self._element(part) if isinstance(part, Element) else self._applied(part)
        kind = "int64_t" if self._type_name(part) == "index" else computed_type(part.dtype)
        name = f"v{len(self.lines)}"
        self.lines.append(f"const {kind} {name} = {text};")
        return name

    def _element(self, element: Element) -> str:
        storage = self._storage[element.tensor]
        indices = [self._known[id(one)] for one in element.indices]
        guards = [
            f"(uint64_t){text} < (uint64_t){size_text(extent, self._sizes)}"
            for text, one, extent in zip(indices, element.indices, storage.shape, strict=True)
            if not self._is_inside(one, extent)
        ]
        load = storage.load(indices, self._sizes)
        # Under a `select` that does not take it, a place may lie outside.
        return f"{' && '.join(guards)} ? {load} : 0" if guards else load

    def _applied(self, part: Apply) -> str:
        arguments = [self._known[id(one)] for one in part.arguments]
        if part.function == "cast":
            return cast_text(arguments[0], part.arguments[0].dtype, part.dtype)
        typed = part.arguments[0] if part.function in DECIDING else part
        text = f"{part.function}_{self._type_name(typed)}({', '.join(arguments)})"
        return rounded_text(text, part.dtype)

    def _type_name(self, part: Scalar) -> str:
        if self._indices.get(id(part)) and part.dtype == INDEX:
            return "index"
        return type_name(part.dtype)

    def _is_index(self, part: Scalar) -> bool:
        """Whether only variables, sizes and constants are in it."""
        if isinstance(part, Apply):
            return part.function != "cast" and all(self._indices[id(a)] for a in part.arguments)
        return not isinstance(part, Element) and part.dtype == INDEX

    def _is_inside(self, index: Scalar, extent: Dimension) -> bool:
        if isinstance(index, Var) and self._loops[index.name][1] == extent:
            return True
        found = self._ranges[id(index)]
        return found is not None and isinstance(extent, int) and 0 <= found[0] <= found[1] < extent

    def _range(self, part: Scalar) -> Range | None:
        if isinstance(part, Var):
            extent = self._loops[part.name][1]
            return (0, max(extent - 1, 0)) if isinstance(extent, int) else None
        if isinstance(part, Number):
            return (int(part.value), int(part.value)) if part.dtype == INDEX else None
        if not isinstance(part, Apply) or not self._indices[id(part)]:
            return None
        ranges = [self._ranges[id(one)] for one in part.arguments]
        known = [one for one in ranges if one is not None]
        return range_of(part, known) if len(known) == len(ranges) else None


def range_of(part: Apply, ranges: list[Range]) -> Range | None:
    """What values a function of indices has; None where that is not followed."""
    if len(ranges) != 2:
        return None
    (low, high), (least, most) = ranges
    if part.function == "add":
        return low + least, high + most
    if part.function == "sub":
        return low - most, high - least
    if part.function == "mul":
        ends = [a * b for a in (low, high) for b in (least, most)]
        return min(ends), max(ends)
    if part.function == "floor_div" and least == most > 0:
        return low // least, high // least
    if part.function == "floor_mod" and least == most > 0:
        return 0, least - 1
    return None


def type_name(dtype: ir.DataType) -> str:
    """What functions of values of a type end with in C."""
    if dtype in HALVES:
        return "float"
    return computed_type(dtype).removesuffix("_t") if dtype != ir.DataType.BOOL else "bool"


def rounded_text(text: str, dtype: ir.DataType) -> str:
    """A value that was computed, as a value of its type: two-byte floats are rounded."""
    return f"rounded_{_HALF[dtype]}({text})" if dtype in HALVES else text


def cast_text(text: str, before: ir.DataType, after: ir.DataType) -> str:
    """A value in another type."""
    if after == ir.DataType.BOOL:
        return f"({text} != 0)"
    if after in FLOATS:
        return rounded_text(f"({computed_type(after)})({text})", after)
    if before in FLOATS:
        return f"{type_name(after)}_of({text})"
    return f"({computed_type(after)})({text})"


def number_text(number: Number) -> str:
    """A constant in C."""
    dtype = number.dtype
    if dtype in FLOATS:
        value = float(np.asarray(number.value).astype(dtype.numpy()))
        if value != value:
            return "NAN"
        if value in (float("inf"), float("-inf")):
            return "INFINITY" if value > 0 else "(-INFINITY)"
        suffix = "" if dtype == ir.DataType.DOUBLE else "f"
        return f"({value.hex()}{suffix})"
    value = int(np.asarray(number.value).astype(dtype.numpy()))
    if dtype == ir.DataType.UINT64:
        return f"UINT64_C({value})"
    return f"INT64_C({value})" if value > -(2**63) else "INT64_MIN"
