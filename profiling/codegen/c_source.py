"""An algorithm as plain loops in C: the baseline, and a second opinion on other generators.

Schedules are not for it. What is read once is computed where it is read; reductions, and what is
read more than once, get a buffer. All of them run row by row where they can: the first axes that
every buffer and every output shares are the rows, which are shared among threads, and a buffer then
holds one row. Sums of floats are kept in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from optimizer.loops.algorithm import Algorithm, Func, LoopAxis, ReductionKind
from optimizer.loops.scalar import (
    Apply,
    Element,
    Scalar,
    Var,
    cast,
    parts_of,
    rewritten,
    with_indices,
)
from profiling.codegen.c_expressions import Statements, Storage, cast_text, rounded_text, type_name
from profiling.codegen.c_sizes import FLOATS, computed_type, size_names, size_text, stored_type

_COMBINED: Mapping[ReductionKind, str] = {
    "sum": "add", "product": "mul", "max": "max", "min": "min", "any": "or", "all": "and",
}  # fmt: skip
_COSTLY = frozenset({"exp", "log", "erf", "tanh", "sin", "cos", "pow"})
_MOST_TASKS = 32


def c_source(algorithm: Algorithm, name: str) -> str:
    """A file with one function, `int name(void *, halide_buffer_t *…)`.

    Args:
        algorithm: what to compute.
        name: of the function: letters, digits and underscores.

    Raises:
        LibraryError: an element type, or a size that no input has.
    """
    return _Source(algorithm, name).text()


@dataclass(frozen=True, slots=True)
class _Stage:
    """A Func with a memory of its own, and its body with what is computed in place."""

    func: Func
    body: Scalar
    is_output: bool

    @property
    def reduced(self) -> tuple[LoopAxis, ...]:
        return self.func.reduction.axes if self.func.reduction else ()


class _Source:
    def __init__(self, algorithm: Algorithm, name: str) -> None:
        self._algorithm, self._name = algorithm, name
        self._sizes = size_names(algorithm)
        self._stages = stages_of(algorithm)
        self._rows = row_axes(self._stages)
        self._storage = self._storages()

    def text(self) -> str:
        """The whole file."""
        tensors = [f"tensor{i}" for i in range(self._tensors())]
        parameters = ", ".join(f"halide_buffer_t *{one}" for one in tensors)
        rows = [size_text(axis.extent, self._sizes) for axis in self._first_axes()]
        return "\n".join([
            '#include "abi.h"',
            '#include "kernel_math.h"',
            "",
            f"static int {self._name}_rows(void *user_context, int task, uint8_t *closure) {{",
            *_indented(self._task()),
            "}",
            "",
            f"int {self._name}(void *user_context, {parameters}) {{",
            f"  halide_buffer_t *const buffers[] = {{{', '.join(tensors)}}};",
            *_indented(self._size_lines("buffers")),
            f"  struct rows rows = {{buffers, {' * '.join(rows) or 1}, {_MOST_TASKS}}};",
            "  if (rows.tasks > rows.count) rows.tasks = rows.count;",
            f"  return halide_do_par_for(user_context, {self._name}_rows, 0, (int)rows.tasks, "
            "(uint8_t *)&rows);",
            "}",
            "",
        ])  # fmt: skip

    def _tensors(self) -> int:
        return len(self._algorithm.inputs) + len(self._algorithm.outputs)

    def _first_axes(self) -> Sequence[LoopAxis]:
        return self._stages[0].func.axes[: self._rows]

    def _storages(self) -> dict[str, Storage]:
        found = {
            tensor.name: Storage(f"in{i}", tensor.dtype, tensor.shape)
            for i, tensor in enumerate(self._algorithm.inputs)
        }
        for stage in self._stages:
            func = stage.func
            if stage.is_output:
                pointer, skipped = f"out{self._algorithm.outputs.index(func.name)}", 0
            else:
                pointer, skipped = f"row{len(found)}", self._rows
            found[func.name] = Storage(pointer, func.dtype, func.shape, skipped)
        return found

    def _size_lines(self, buffers: str) -> Iterator[str]:
        for name, (number, axis) in self._algorithm.free_sizes.items():
            inner = len(self._algorithm.inputs[number].shape) - 1 - axis
            yield f"const int64_t {self._sizes[name]} = {buffers}[{number}]->dim[{inner}].extent;"

    def _task(self) -> Iterator[str]:
        yield "const struct rows *rows = (const struct rows *)(const void *)closure;"
        yield from self._size_lines("rows->buffers")
        for i, tensor in enumerate(self._algorithm.inputs):
            kind = f"const {stored_type(tensor.dtype)} *restrict"
            yield f"{kind} in{i} = (const void *)rows->buffers[{i}]->host;"
        for i, name in enumerate(self._algorithm.outputs, len(self._algorithm.inputs)):
            storage = self._storage[name]
            kind = f"{stored_type(storage.dtype)} *restrict"
            yield f"{kind} {storage.pointer} = (void *)rows->buffers[{i}]->host;"
        yield from self._buffers()
        yield "const int64_t begin = rows->count * task / rows->tasks;"
        yield "const int64_t end = rows->count * (task + 1) / rows->tasks;"
        yield "for (int64_t row = begin; row < end; row++) {"
        yield from _indented(self._row_indices())
        for stage in self._stages:
            yield from _indented(self._loops(stage))
        yield "}"
        for stage in self._own():
            yield f"halide_free(user_context, {self._storage[stage.func.name].pointer});"
        yield "return 0;"

    def _own(self) -> list[_Stage]:
        return [stage for stage in self._stages if not stage.is_output]

    def _buffers(self) -> Iterator[str]:
        """A row of memory for each stage that is no output."""
        pointers = [self._storage[stage.func.name].pointer for stage in self._own()]
        for stage, pointer in zip(self._own(), pointers, strict=True):
            kind = stored_type(stage.func.dtype)
            extents = [
                size_text(axis.extent, self._sizes) for axis in stage.func.axes[self._rows :]
            ]
            bytes_ = " * ".join([f"sizeof({kind})", *(f"(size_t){one}" for one in extents)])
            yield f"{kind} *restrict {pointer} = halide_malloc(user_context, {bytes_});"
        if pointers:
            yield f"if ({' || '.join(f'!{one}' for one in pointers)}) {{"
            yield from (f"  halide_free(user_context, {one});" for one in pointers)
            yield "  return 1;"
            yield "}"

    def _row_indices(self) -> Iterator[str]:
        rest = "row"
        for number, axis in reversed(list(enumerate(self._first_axes()))):
            extent = size_text(axis.extent, self._sizes)
            text = rest if number == 0 else f"{rest} % {extent}"
            yield f"const int64_t r{number} = {text};"
            rest = f"{rest} / {extent}"

    def _loops(self, stage: _Stage) -> Iterator[str]:
        """One stage's row: its loops, and in the innermost what it computes."""
        func = stage.func
        names = [f"r{i}" if i < self._rows else f"i{i}" for i in range(len(func.axes))]
        own = list(zip(func.axes, names, strict=True))
        inner = [(axis, f"k{i}") for i, axis in enumerate(stage.reduced)]
        loops = {axis.name: (name, axis.extent) for axis, name in [*own, *inner]}
        statements = Statements(self._storage, self._sizes, loops)
        value = statements.value(cast(stage.body, func.dtype))
        lines: list[str] = [*statements.lines]
        if func.reduction is not None:
            lines, value = self._reduced(func.reduction.kind, func.dtype, [*lines], value, inner)
        lines.append(self._storage[func.name].store(names, self._sizes, value))
        yield f"/* {_comment(func.origin or func.name)} */"
        yield from self._nest(own[self._rows :], lines)

    def _reduced(
        self,
        kind: ReductionKind,
        dtype: ir.DataType,
        lines: list[str],
        value: str,
        axes: list[tuple[LoopAxis, str]],
    ) -> tuple[list[str], str]:
        """The loops of a reduction, and its result."""
        wide = kind in ("sum", "product") and dtype in FLOATS
        total = ir.DataType.DOUBLE if wide else dtype
        combined = f"{_COMBINED[kind]}_{type_name(total)}(total, {value})"
        inner = [*lines, f"total = {combined};"]
        begin = f"{computed_type(total)} total = {_first(kind, total)};"
        result = cast_text("total", total, dtype) if wide else rounded_text("total", dtype)
        return [begin, *self._nest(axes, inner)], result

    def _nest(self, axes: Sequence[tuple[LoopAxis, str]], lines: Sequence[str]) -> list[str]:
        for axis, name in reversed(axes):
            extent = size_text(axis.extent, self._sizes)
            head = f"for (int64_t {name} = 0; {name} < {extent}; {name}++) {{"
            lines = [head, *_indented(lines), "}"]
        return list(lines) if axes else ["{", *_indented(lines), "}"]


def stages_of(algorithm: Algorithm) -> list[_Stage]:
    """The Funcs that get memory, with the others computed where they are read."""
    inlined: dict[str, Func] = {}
    stages: list[_Stage] = []

    def change(part: Scalar) -> Scalar:
        func = inlined.get(part.tensor) if isinstance(part, Element) else None
        if func is None:
            return part
        assert isinstance(part, Element)
        places = zip(func.axes, part.indices, strict=True)
        return with_indices(func.body, {axis.name: index for axis, index in places})

    for func in algorithm.funcs:
        body = cast(rewritten(func.body, change), func.dtype)
        is_output = func.name in algorithm.outputs
        if is_output or func.reduction is not None or not _is_computed_in_place(algorithm, func):
            stages.append(_Stage(func, body, is_output))
        else:
            inlined[func.name] = replace(func, body=body)
    return stages


def _is_computed_in_place(algorithm: Algorithm, func: Func) -> bool:
    """Whether no element of it would be computed twice, or it costs next to nothing."""
    readers = list(algorithm.readers(func.name))
    if len(readers) > 1:
        return False
    loops = [len(r.axes) + len(r.reduction.axes if r.reduction else ()) for r, _ in readers]
    return all(count <= len(func.axes) for count in loops) or not any(
        isinstance(part, Apply) and part.function in _COSTLY for part in parts_of(func.body)
    )


def row_axes(stages: Sequence[_Stage]) -> int:
    """How many of the first axes all stages share, and read of each other at the same place."""
    first = stages[0].func
    count = min(len(stage.func.axes) for stage in stages)
    by_name = {stage.func.name: stage.func for stage in stages}
    for stage in stages:
        count = _shared(count, stage.func.shape, first.shape)
        for part in parts_of(stage.body):
            if isinstance(part, Element) and part.tensor in by_name:
                here = [Var(axis.name) for axis in stage.func.axes]
                count = _shared(count, part.indices, here)
    # Of rows that are single elements, compilers make no vectors.
    return count - 1 if count > 1 and all(_is_flat(stage, count) for stage in stages) else count


def _is_flat(stage: _Stage, count: int) -> bool:
    return len(stage.func.axes) == count and stage.func.reduction is None


def _shared(most: int, one: Sequence[object], other: Sequence[object]) -> int:
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if number >= most or a != b:
            return min(number, most)
    return min(most, len(one), len(other))


def _first(kind: ReductionKind, dtype: ir.DataType) -> str:
    """What a reduction begins with, in C."""
    if kind in ("sum", "any"):
        return "0"
    if kind in ("product", "all"):
        return "1"
    if dtype in FLOATS:
        return "-INFINITY" if kind == "max" else "INFINITY"
    if dtype == ir.DataType.BOOL:
        return "0" if kind == "max" else "1"
    name = computed_type(dtype).removesuffix("_t").upper()
    lowest = "0" if name.startswith("U") else f"{name}_MIN"
    return lowest if kind == "max" else f"{name}_MAX"


def _indented(lines: Iterator[str] | Sequence[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _comment(text: str) -> str:
    """A model's text, which may hold anything."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "_.: -") else "_" for c in text)
    return kept[:80]
