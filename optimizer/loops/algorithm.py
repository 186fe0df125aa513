"""What a kernel computes: Funcs over axes, each defined element by element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import onnx_ir as ir

from optimizer.dimension import Dimension, Expression
from optimizer.loops.scalar import (
    INDEX,
    Element,
    FreeSize,
    Number,
    Scalar,
    Var,
    apply,
    parts_of,
)

ReductionKind = Literal["sum", "product", "max", "min", "any", "all"]
"""How elements are combined; `max` and `min` give NaN where any is one, and
of nothing the smallest and the largest number of the type."""


@dataclass(frozen=True, slots=True)
class LoopAxis:
    """One axis of a Func, or one along which it reduces.

    Attributes:
        name: of its variable; unique in the Func.
        extent: a number, or an expression over free sizes.
    """

    name: str
    extent: Dimension

    @property
    def var(self) -> Var:
        """Its variable."""
        return Var(self.name)


@dataclass(frozen=True, slots=True)
class Reduction:
    """How a Func combines values along more axes than its own.

    Attributes:
        axes: along which, the outermost first.
        ignores_nan: whether `max` and `min` may leave NaN out, since it reaches whoever reads them
            on another way.
    """

    kind: ReductionKind
    axes: tuple[LoopAxis, ...]
    ignores_nan: bool = False


@dataclass(frozen=True, slots=True)
class InputTensor:
    """What a kernel reads.

    Attributes:
        name: unique among inputs and Funcs.
        shape: numbers, or expressions over free sizes.
    """

    name: str
    dtype: ir.DataType
    shape: tuple[Dimension, ...]


@dataclass(frozen=True, slots=True)
class Func:
    """A tensor that is computed: one expression for all of its elements.

    Attributes:
        name: unique in the algorithm.
        axes: the outermost first, as ONNX writes shapes.
        body: an element; with a reduction, what is combined.
        reduction: None where every element is `body` itself.
        origin: name of the ONNX node whose work this is; empty for what stands between.
    """

    name: str
    dtype: ir.DataType
    axes: tuple[LoopAxis, ...]
    body: Scalar
    reduction: Reduction | None = None
    origin: str = ""

    @property
    def shape(self) -> tuple[Dimension, ...]:
        """Extents of its axes."""
        return tuple(axis.extent for axis in self.axes)

    def at(self, indices: Iterable[Scalar]) -> Element:
        """One of its elements."""
        return Element(self.name, tuple(indices), self.dtype)


@dataclass(frozen=True)
class Algorithm:
    """Funcs from inputs to outputs.

    Attributes:
        inputs: in the order in which the kernel takes them.
        funcs: each after those that it reads.
        outputs: names of Funcs, in the order in which the kernel gives them.
        sizes: what each free size is to whoever has the tensors: the model that the algorithm was
            made of, or the algorithm that it was simplified from.
    """

    inputs: tuple[InputTensor, ...]
    funcs: tuple[Func, ...]
    outputs: tuple[str, ...]
    sizes: Mapping[str, Dimension] = field(default_factory=dict[str, Dimension])

    @cached_property
    def by_name(self) -> Mapping[str, Func]:
        """The Funcs."""
        return {func.name: func for func in self.funcs}

    @cached_property
    def free_sizes(self) -> Mapping[str, tuple[int, int]]:
        """Every size that is known when the kernel runs: which input has it, and at which axis.

        An input's axis that is an expression of several sizes gives none of them.
        """
        found: dict[str, tuple[int, int]] = {}
        for number, tensor in enumerate(self.inputs):
            for axis, extent in enumerate(tensor.shape):
                if isinstance(extent, Expression) and frozenset([str(extent)]) == extent.symbols():
                    found.setdefault(str(extent), (number, axis))
        return found

    def unknown_sizes(self) -> list[str]:
        """Sizes that no axis of an input gives."""
        used: set[str] = set()
        for func in self.funcs:
            axes = (*func.axes, *(func.reduction.axes if func.reduction else ()))
            for axis in axes:
                used |= axis.extent.symbols() if isinstance(axis.extent, Expression) else set()
            used |= {one.name for one in parts_of(func.body) if isinstance(one, FreeSize)}
        return sorted(used - self.free_sizes.keys())

    def readers(self, tensor: str) -> Iterator[tuple[Func, Element]]:
        """Who reads an input or a Func, and where."""
        for func in self.funcs:
            for part in parts_of(func.body):
                if isinstance(part, Element) and part.tensor == tensor:
                    yield func, part


def extent_scalar(extent: Dimension) -> Scalar:
    """An extent as a number of a loop's body."""
    if isinstance(extent, int):
        return Number(extent, INDEX)
    total: Scalar | None = None
    for monomial, factor in extent.terms:
        term: Scalar | None = Number(factor, INDEX) if factor != 1 or not monomial else None
        for atom in monomial:
            one: Scalar = (
                FreeSize(atom)
                if isinstance(atom, str)
                else apply("floor_div", extent_scalar(atom.numerator), extent_scalar(atom.divisor))
            )
            term = one if term is None else apply("mul", term, one)
        assert term is not None, "a term has a factor or a size"
        total = term if total is None else apply("add", total, term)
    assert total is not None, "an expression has terms"
    return total
