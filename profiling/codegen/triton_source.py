"""An algorithm as Triton kernels in a default order for GPUs. Needs no Triton.

What computes elements alone is one kernel for each shape of outputs: flat blocks, or tiles where
something is read along one axis and written along another. What has reductions is one kernel with
a program for each row: results of reductions are held, everything else is computed where it is
read, and rows are walked in blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.dimension import Dimension, product
from optimizer.loops.algorithm import Algorithm, Func, ReductionKind
from optimizer.loops.evaluation import extremes
from optimizer.loops.formulas import FLOATS, HALVES
from optimizer.loops.inlining import inlined_bodies
from optimizer.loops.scalar import (
    Element,
    Var,
    cast,
    parts_of,
)
from profiling.codegen.c_sizes import size_names
from profiling.codegen.kernel import KernelRefused, LibraryError
from profiling.codegen.triton_expressions import (
    HELPERS,
    TRITON_TYPES,
    Reading,
    TritonStatements,
    extreme,
    size_text,
)

FLAT_BLOCK, LONGEST_BLOCK, TILE = 1024, 4096, 32
"""Elements of a flat block; of a row at once; of a tile along each of its axes."""


@dataclass(frozen=True, slots=True)
class TritonKernel:
    """One kernel of a program.

    Attributes:
        name: of its function.
        blocks: extents whose blocks are counted: a program for each.
    """

    name: str
    blocks: tuple[tuple[Dimension, int], ...]


@dataclass(frozen=True, slots=True)
class TritonProgram:
    """An algorithm in Triton.

    Attributes:
        source: a Python file.
        kernels: in order; each takes all inputs, all outputs and all sizes.
        arguments: names and types of what they take, as Triton writes them.
    """

    source: str
    kernels: tuple[TritonKernel, ...]
    arguments: Mapping[str, str]


def triton_program(algorithm: Algorithm) -> TritonProgram:
    """The kernels of an algorithm.

    Raises:
        LibraryError: it does not have this form, or Triton lacks a function.
    """
    return _Program(algorithm).program()


class _Program:
    def __init__(self, algorithm: Algorithm) -> None:
        self._algorithm = algorithm
        self._sizes = size_names(algorithm)
        self._reductions = [func for func in algorithm.funcs if func.reduction is not None]
        bodies = inlined_bodies(algorithm)
        if bodies is None:
            raise KernelRefused("A kernel of so many operations is not written in Triton.")
        self._bodies = bodies
        self._tensors = {
            one.name: (f"in{i}", one.shape, one.dtype) for i, one in enumerate(algorithm.inputs)
        }
        self._reading = Reading(self._tensors, self._sizes, self._name)
        self._outputs = {name: f"out{i}" for i, name in enumerate(algorithm.outputs)}
        self._count = 0

    def program(self) -> TritonProgram:
        """All of it."""
        arguments = {name: _pointer(dtype) for name, _, dtype in self._tensors.values()}
        for name, argument in self._outputs.items():
            arguments[argument] = _pointer(self._algorithm.by_name[name].dtype)
        arguments |= dict.fromkeys(self._sizes.values(), "i64")
        kernels: list[TritonKernel] = []
        parts = ["import triton", "import triton.language as tl", "", HELPERS]
        for kernel, lines in self._kernels():
            kernels.append(kernel)
            parts += ["", "@triton.jit", f"def {kernel.name}({', '.join(arguments)}):"]
            parts += [f"    {line}" for line in lines]
        return TritonProgram("\n".join([*parts, ""]), tuple(kernels), arguments)

    def _kernels(self) -> Iterator[tuple[TritonKernel, list[str]]]:
        if self._reductions:
            yield self._rows()
            return
        for number, name in enumerate(self._outputs):
            func = self._algorithm.by_name[name]
            across = self._read_across(func)
            made = self._flat if across is None else self._tiled
            yield made(f"kernel{number}", func, across or 0)

    def _name(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def _statements(
        self, variables: Mapping[str, str], known: Mapping[str, str] | None = None
    ) -> TritonStatements:
        return TritonStatements(self._reading, variables, known or {})

    def _flat(self, name: str, func: Func, _across: int) -> tuple[TritonKernel, list[str]]:
        """Blocks of elements as they lie in memory."""
        total = product(func.shape)
        lines = [
            f"place = tl.program_id(0).to(tl.int64) * {FLAT_BLOCK} + tl.arange(0, {FLAT_BLOCK})"
        ]
        variables = dict(zip((a.name for a in func.axes), self._apart("place", func.shape, lines),
                             strict=True))  # fmt: skip
        lines += self._stored(func, variables, "place", f"place < {self._size(total)}")
        return TritonKernel(name, ((total, FLAT_BLOCK),)), lines

    def _tiled(self, name: str, func: Func, across: int) -> tuple[TritonKernel, list[str]]:
        """Tiles over the axis along which something is read, and the last one."""
        last = len(func.axes) - 1
        others = [number for number in range(last) if number != across]
        lines = [
            f"down = tl.program_id(0).to(tl.int64) * {TILE} + tl.arange(0, {TILE})[:, None]",
            f"right = tl.program_id(1).to(tl.int64) * {TILE} + tl.arange(0, {TILE})[None, :]",
            "outer = tl.program_id(2).to(tl.int64) + tl.zeros([1, 1], tl.int64)",
        ]
        shape = [func.shape[number] for number in others]
        places = dict(zip(others, self._apart("outer", shape, lines), strict=True))
        places |= {across: "down", last: "right"}
        variables = {axis.name: places[number] for number, axis in enumerate(func.axes)}
        rows, columns = (self._size(func.shape[n]) for n in (across, last))
        mask = f"(down < {rows}) & (right < {columns})"
        lines += self._stored(func, variables, self._place(func, variables), mask)
        blocks = ((func.shape[across], TILE), (func.shape[last], TILE), (product(shape), 1))
        return TritonKernel(name, blocks), lines

    def _rows(self) -> tuple[TritonKernel, list[str]]:
        """A program for each row."""
        shape = self._reductions[0].shape
        lines = ["row = tl.program_id(0).to(tl.int64) + tl.zeros([1], tl.int64)"]
        row = self._apart("row", shape, lines)
        held: dict[str, str] = {}
        for func in self._reductions:
            places = self._row_of(func)
            turned = any(place not in (None, n) for n, place in enumerate(places))
            if turned or func.shape != shape:
                raise LibraryError("Triton's rows are those of all reductions alike.")
            variables = {axis.name: row[n] for n, axis in enumerate(func.axes)}
            lines += self._reduced(func, variables, held)
            held[func.name] = f"held_{len(held)}"
        for name, argument in self._outputs.items():
            func = self._algorithm.by_name[name]
            if name in held:
                lines.append(f"tl.store({argument} + row, {held[name]})")
                continue
            lines += self._row_stored(func, row, held)
        return TritonKernel("kernel0", ((product(shape), 1),)), lines

    def _row_of(self, func: Func) -> list[int | None]:
        """Which axis of a Func is each axis of the rows; None for one of extent 1.

        Raises:
            LibraryError: what it reads of reductions is not one row.
        """
        shape = self._reductions[0].shape
        names = [axis.name for axis in func.axes]
        found: set[tuple[int | None, ...]] = set()
        for part in parts_of(self._bodies[func.name]):
            if isinstance(part, Element) and part.tensor not in self._tensors:
                at = [names.index(i.name) if isinstance(i, Var) and i.name in names else None
                      for i in part.indices]  # fmt: skip
                fixed = [place is None and size != 1 for place, size in zip(at, shape, strict=True)]
                if any(fixed) or any(isinstance(i, Element) for i in part.indices):
                    raise LibraryError("Triton's reductions are read row by row alone.")
                found.add(tuple(at))
        if len(found) > 1:
            raise LibraryError("Triton's reductions are read row by row alone.")
        if found:
            return [*found.pop()]
        if func.shape[: len(shape)] == shape:
            return list(range(len(shape)))
        long = [number for number, size in enumerate(shape) if size != 1]
        if func.shape[: len(long)] != tuple(shape[number] for number in long):
            raise LibraryError("An output has other rows than the reductions beside it.")
        return [long.index(number) if number in long else None for number in range(len(shape))]

    def _reduced(
        self, func: Func, variables: Mapping[str, str], held: Mapping[str, str]
    ) -> list[str]:
        """A row combined: block by block, then all lanes."""
        assert func.reduction is not None, "others do not reduce"
        axes = func.reduction.axes
        total = product(axis.extent for axis in axes)
        block = _block(total)
        inner: list[str] = []
        places = self._apart("place", [axis.extent for axis in axes], inner)
        own = {**variables, **dict(zip((axis.name for axis in axes), places, strict=True))}
        statements = self._statements(own, held)
        value = statements.value(cast(self._bodies[func.name], func.dtype))
        kind, name = func.reduction.kind, f"held_{len(held)}"
        dtype = "float32" if func.dtype in HALVES else TRITON_TYPES[func.dtype]
        first = _first(kind, func)
        joined, last = _combined(kind, func)
        inner += statements.lines
        inner.append(f"value = tl.where(place < {self._size(total)}, {value}, {first})")
        return [
            f"lanes = tl.full([{block}], {first}, tl.{dtype})",
            f"for begin in range(0, {self._size(total)}, {block}):",
            f"    place = begin + tl.arange(0, {block}).to(tl.int64)",
            *(f"    {line}" for line in inner),
            f"    lanes = {joined}",
            f"{name} = {last}",
        ]

    def _row_stored(self, func: Func, row: Sequence[str], held: Mapping[str, str]) -> list[str]:
        """An output's part of a row."""
        own = {at: text for at, text in zip(self._row_of(func), row, strict=True) if at is not None}
        rest = [n for n in range(len(func.axes)) if n not in own]
        extents = [func.shape[n] for n in rest]
        total, inner = product(extents), list[str]()
        own |= dict(zip(rest, self._apart("place", extents, inner), strict=True))
        variables = {axis.name: own[n] for n, axis in enumerate(func.axes)}
        mask = "" if total == 1 else f"place < {self._size(total)}"
        inner += self._stored(func, variables, self._place(func, variables), mask, held)
        if not mask:  # a single element: the row is its place
            return inner
        block = _block(total)
        return [
            f"for begin in range(0, {self._size(total)}, {block}):",
            f"    place = begin + tl.arange(0, {block}).to(tl.int64)",
            *(f"    {line}" for line in inner),
        ]

    def _stored(
        self,
        func: Func,
        variables: Mapping[str, str],
        place: str,
        mask: str,
        held: Mapping[str, str] | None = None,
    ) -> list[str]:
        """An element computed and written, where the mask says so; everywhere, if it is empty."""
        statements = self._statements(variables, held)
        value = statements.value(cast(self._bodies[func.name], func.dtype))
        target = f"{self._outputs[func.name]} + {place}"
        masked = f", mask={mask}" if mask else ""
        return [*statements.lines, f"tl.store({target}, {value}{masked})"]

    def _place(self, func: Func, variables: Mapping[str, str]) -> str:
        """Where an element of a tensor lies."""
        text = ""
        for axis in func.axes:
            one = variables[axis.name]
            text = f"({text}) * {self._size(axis.extent)} + {one}" if text else one
        return text or "0"

    def _apart(self, place: str, shape: Sequence[Dimension], lines: list[str]) -> list[str]:
        """Indices of a place among all elements of a shape; what they need is added to `lines`."""
        found: list[str] = []
        rest = place
        for number, extent in reversed([*enumerate(shape)]):
            name = self._name()
            lines.append(
                f"{name} = {rest} % {self._size(extent)}" if number else f"{name} = {rest}"
            )
            found.insert(0, name)
            rest = f"({rest} // {self._size(extent)})"
        return found

    def _size(self, extent: Dimension) -> str:
        return size_text(extent, self._sizes) if extent != 0 else "1"

    def _read_across(self, func: Func) -> int | None:
        """An outer axis along which an input that has the last one, too, lies in memory."""
        names = [axis.name for axis in func.axes]
        for part in parts_of(self._bodies[func.name]):
            if not isinstance(part, Element) or len(part.indices) < 2:
                continue
            last = part.indices[-1]
            if not isinstance(last, Var) or last.name not in names[:-1]:
                continue
            if func.axes[-1].var in part.indices:
                return names.index(last.name)
        return None


def _block(total: Dimension) -> int:
    """Elements of a row at once: a power of two."""
    if not isinstance(total, int):
        return FLAT_BLOCK
    return max(16, min(LONGEST_BLOCK, 1 << math.ceil(math.log2(max(total, 1)))))


def _combined(kind: ReductionKind, func: Func) -> tuple[str, str]:
    """A block's lanes with those before, and all lanes as one."""
    if kind in ("max", "min"):
        helper = extreme(kind, func.dtype)
        last = f"tl.{kind}(lanes, 0)"
        if func.dtype in FLOATS:
            last = f"with_nan({last}, tl.max((lanes != lanes).to(tl.int32), 0))"
        return f"{helper}(lanes, value)", last
    if kind == "product":
        return "lanes * value", "tl.reduce(lanes, 0, product_of)"
    if kind == "sum":
        return "lanes + value", "tl.sum(lanes, 0)"
    operator, last = ("|", "max") if kind == "any" else ("&", "min")
    return f"lanes {operator} value", f"tl.{last}(lanes.to(tl.int32), 0) != 0"


def _first(kind: ReductionKind, func: Func) -> str:
    """What a reduction begins with."""
    if kind in ("sum", "any", "product", "all"):
        return "0" if kind in ("sum", "any") else "1"
    if func.dtype in FLOATS:
        return 'float("-inf")' if kind == "max" else 'float("inf")'
    lowest, highest = extremes(func.dtype)
    return str(lowest if kind == "max" else highest)


def _pointer(dtype: ir.DataType) -> str:
    """The type of an argument that points to elements."""
    found = {
        "float32": "fp32", "float64": "fp64", "float16": "fp16", "bfloat16": "bf16", "int1": "i1",
    }  # fmt: skip
    name = TRITON_TYPES[dtype]
    return f"*{found.get(name) or name.replace('uint', 'u').replace('int', 'i')}"
