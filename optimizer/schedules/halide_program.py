"""An algorithm and its schedule as a program in Halide's Python or C++, which runs elsewhere.

What is exported is plain Halide: products and sums may be contracted there, and NaN is not minded.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import onnx_ir as ir

from optimizer.errors import StudioError
from optimizer.loops.algorithm import Algorithm, Func, InputTensor, LoopAxis, extent_scalar
from optimizer.loops.outputs import OutputNest, output_nests
from optimizer.loops.scalar import Apply, Element, Number, Scalar, Var
from optimizer.loops.schedule import (
    AlignStorage,
    Atomic,
    Bound,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Fuse,
    In,
    Parallel,
    Primitive,
    Reorder,
    ReorderStorage,
    RFactor,
    Schedule,
    Split,
    StoreAt,
    StoreIn,
    StoreRoot,
    Unroll,
    Vectorize,
)
from optimizer.schedules.program import extent_of, numbers_of

Language = Literal["python", "cpp"]

_RESERVED = {"hl", "np", "inputs", "output", "int", "float", "main", "min", "max", "select", "cast"}
_TYPES = {
    ir.DataType.FLOAT: ("Float(32)", "float"),
    ir.DataType.DOUBLE: ("Float(64)", "double"),
    ir.DataType.INT32: ("Int(32)", "int32_t"),
}
_FIRST = {"sum": 0.0, "product": 1.0, "max": -math.inf, "min": math.inf}
_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floor_div": "/", "floor_mod": "%",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_LOGIC = {"and": ("&", "&&"), "or": ("|", "||")}
_CALLED = frozenset(
    {"min", "max", "abs", "sqrt", "exp", "log", "erf", "tanh", "sin", "cos", "floor", "ceil",
     "round", "pow", "select", "is_nan"}
)  # fmt: skip
_TAILS = {
    "auto": "Auto", "round_up": "RoundUp", "guard_with_if": "GuardWithIf",
    "predicate": "Predicate", "predicate_loads": "PredicateLoads",
    "predicate_stores": "PredicateStores", "shift_inwards": "ShiftInwards",
}  # fmt: skip


class NoProgram(StudioError):
    """There is no program in Halide's languages for this."""


def halide_program(algorithm: Algorithm, schedule: Schedule, language: Language) -> str:
    """A program that computes the algorithm in the order of the schedule, on numbers of its own.

    Args:
        algorithm: of sizes that are numbers.
        schedule: that can be applied.
        language: which of Halide's.

    Raises:
        NoProgram: an element type or a function has no words there, or there are several outputs.
    """
    nests = output_nests(algorithm)
    if len(nests) != 1 or len(nests[0].outputs) != 1:
        raise NoProgram("Only kernels with one output are exported as a program.")
    return "\n".join(_Writer(algorithm, schedule, language).lines(nests[0])) + "\n"


@dataclass(frozen=True)
class _Words:
    """What the two languages write differently."""

    python: bool

    def named(self, what: str) -> str:
        """A name of Halide's."""
        return f"hl.{what}" if self.python else what

    def at(self, func: str, places: Iterable[str]) -> str:
        """An element; places have the outermost axis first."""
        inner = ", ".join(reversed(list(places)))
        return f"{func}[{inner}]" if self.python else f"{func}({inner})"

    def made(self, kind: str, name: str, arguments: Sequence[str]) -> str:
        """A definition of one of Halide's objects."""
        inner = ", ".join(arguments)
        if self.python:
            return f"{name} = hl.{kind}({inner})"
        return f"{kind} {name}({inner});"

    def line(self, text: str) -> str:
        return text if self.python else f"{text};"

    def comment(self, text: str) -> str:
        return f"# {text}" if self.python else f"// {text}"

    def number(self, value: float, dtype: ir.DataType) -> str:
        """A constant of a type."""
        if dtype not in _TYPES:
            raise NoProgram(f"Programs in Halide are not written for elements of {dtype.name}.")
        if dtype == ir.DataType.INT32:
            return str(int(value))
        if self.python:
            text = repr(float(value)) if math.isfinite(value) else f'float("{value}")'
            return f"hl.f{dtype.bitwidth}({text})"
        if not math.isfinite(value):
            return "-INFINITY" if value < 0 else "INFINITY"
        return repr(float(value)) + ("f" if dtype == ir.DataType.FLOAT else "")


class _Writer:
    """Lines of a program."""

    def __init__(self, algorithm: Algorithm, schedule: Schedule, language: Language) -> None:
        self._algorithm, self._schedule = algorithm, schedule
        self._words = _Words(python=language == "python")
        self._names: dict[tuple[str, str], str] = {}
        self._taken = set(_RESERVED)
        self._loops: dict[tuple[str, int], dict[str, str]] = {}
        self._axes: dict[str, dict[str, str]] = {}
        self._reading: dict[str, str] = {}
        self._declared: list[str] = []

    def lines(self, nest: OutputNest) -> Iterator[str]:
        words = self._words
        body = [*self._inputs(), "", words.comment("What is computed.")]
        body += [line for func in self._algorithm.funcs for line in self._defined(func)]
        output = self._name("func", nest.name)
        if nest.name not in self._algorithm.by_name:
            body += self._copied(nest.name, nest.axes, nest.outputs[0])
        body += ["", words.comment("In which order.")]
        body += list(self._ordered(nest))
        shape = [extent_of(axis) for axis in nest.axes]
        dtype = self._algorithm.by_name[nest.outputs[0]].dtype
        declared = [*self._declared, *body]
        if words.python:
            yield from ["import halide as hl", "import numpy as np", "", *declared, ""]
            yield from _python_main(self._named_inputs(), output, shape, dtype)
        else:
            yield from _cpp_program(declared, self._named_inputs(), output, shape, dtype)

    def _named_inputs(self) -> list[tuple[str, InputTensor]]:
        return [(self._name("func", one.name), one) for one in self._algorithm.inputs]

    def _name(self, kind: str, name: str) -> str:
        key = kind, name
        if key not in self._names:
            wish = re.sub(r"\W", "_", name)
            wish = wish if wish[:1].isalpha() else f"n{wish}"
            while wish in self._taken or keyword.iskeyword(wish):
                wish += "_"
            self._taken.add(wish)
            self._names[key] = wish
        return self._names[key]

    def _variable(self, name: str, *, reduces: bool = False) -> str:
        kind = "RVar" if reduces else "Var"
        known = (kind, name) in self._names
        found = self._name(kind, name)
        if not known:
            self._declared.append(self._words.made(kind, found, [f'"{found}"']))
        return found

    def _inputs(self) -> Iterator[str]:
        for name, one in self._named_inputs():
            kind = self._words.named(_type(one.dtype)[0])
            yield self._words.made("ImageParam", name, [kind, str(len(one.shape)), f'"{name}"'])
            for axis, size in enumerate(reversed(numbers_of(one.shape))):
                yield self._words.line(f"{name}.dim({axis}).set_bounds(0, {size})")
            self._reading[one.name] = name
        for primitive in self._schedule.primitives:
            if isinstance(primitive, In):
                rank = next(
                    len(o.shape) for o in self._algorithm.inputs if o.name == primitive.func
                )
                axes = tuple(LoopAxis(f"a{number}", 1) for number in range(rank))
                yield from self._copied(primitive.made, axes, primitive.func)
                self._reading[primitive.func] = self._name("func", primitive.made)

    def _copied(self, made: str, axes: Sequence[LoopAxis], source: str) -> Iterator[str]:
        places = self._placed(made, axes)
        name = self._name("func", made)
        yield self._words.made("Func", name, [f'"{name}"'])
        read = self._words.at(self._reading[source], places.values())
        yield self._words.line(f"{self._words.at(name, places.values())} = {read}")
        self._reading[made] = name

    def _placed(self, func: str, axes: Sequence[LoopAxis]) -> dict[str, str]:
        places = {axis.name: self._variable(axis.name) for axis in axes}
        self._axes[func] = dict(places)
        self._loops[func, 0] = dict(places)
        return places

    def _defined(self, func: Func) -> Iterator[str]:
        words, name = self._words, self._name("func", func.name)
        places = self._placed(func.name, func.axes)
        left = words.at(name, places.values())
        yield words.made("Func", name, [f'"{name}"'])
        self._reading[func.name] = name
        if func.reduction is None:
            yield words.line(f"{left} = {self._value(func.body, places)}")
            return
        reduction = func.reduction
        if reduction.kind not in _FIRST:
            raise NoProgram(
                f"Programs in Halide are not written for reductions by {reduction.kind}."
            )
        domain = self._name("domain", f"{func.name}_domain")
        ranges = [
            f"(0, {extent_of(axis)})" if words.python else f"Range(0, {extent_of(axis)})"
            for axis in reversed(reduction.axes)
        ]
        inner = ", ".join(ranges)
        yield words.made("RDom", domain, [f"[{inner}]" if words.python else f"Region{{{inner}}}"])
        last = len(reduction.axes) - 1
        rounds = {axis.name: f"{domain}[{last - at}]" for at, axis in enumerate(reduction.axes)}
        self._loops[func.name, 1] = {**places, **rounds}
        yield words.line(f"{left} = {words.number(_FIRST[reduction.kind], func.dtype)}")
        value = self._value(func.body, {**places, **rounds})
        if reduction.kind in ("max", "min"):
            yield words.line(f"{left} = {words.named(reduction.kind)}({left}, {value})")
        else:
            yield words.line(f"{left} {'+' if reduction.kind == 'sum' else '*'}= {value}")

    def _value(self, scalar: Scalar, places: dict[str, str]) -> str:
        words = self._words
        if isinstance(scalar, Var):
            return places[scalar.name]
        if isinstance(scalar, Number):
            return words.number(scalar.value, scalar.dtype)
        if isinstance(scalar, Element):
            inner = [self._value(one, places) for one in scalar.indices]
            return words.at(self._reading[scalar.tensor], inner)
        if not isinstance(scalar, Apply):
            return self._value(extent_scalar(0), places)
        values = [self._value(one, places) for one in scalar.arguments]
        return self._applied(scalar, values)

    def _applied(self, scalar: Apply, values: list[str]) -> str:
        words, function = self._words, scalar.function
        if function in _INFIX:
            return f"({values[0]} {_INFIX[function]} {values[1]})"
        if function in _LOGIC:
            return f"({values[0]} {_LOGIC[function][not words.python]} {values[1]})"
        if function == "neg":
            return f"(-{values[0]})"
        if function == "not":
            return f"hl.Expr.logical_not({values[0]})" if words.python else f"(!{values[0]})"
        if function == "cast":
            kind = _type(scalar.dtype)
            return (
                f"hl.cast(hl.{kind[0]}, {values[0]})"
                if words.python
                else f"cast<{kind[1]}>({values[0]})"
            )
        if function in _CALLED:
            return f"{words.named(function)}({', '.join(values)})"
        raise NoProgram(f"Programs in Halide are not written for {function}.")

    def _ordered(self, nest: OutputNest) -> Iterator[str]:
        name, words = self._name("func", nest.name), self._words
        for axis, size in enumerate(reversed([extent_of(axis) for axis in nest.axes])):
            yield words.line(f"{name}.output_buffer().dim({axis}).set_bounds(0, {size})")
        for func in self._algorithm.funcs:
            if func.reduction is not None:
                yield words.line(f"{self._name('func', func.name)}.compute_root()")
        for primitive in self._schedule.primitives:
            if not isinstance(primitive, In):
                yield words.line(self._directive(primitive))

    def _directive(self, one: Primitive) -> str:
        func, words = self._name("func", one.func), self._words
        match one:
            case ComputeRoot():
                return f"{func}.compute_root()"
            case ComputeInline():
                return f"{func}.compute_inline()"
            case StoreRoot():
                return f"{func}.store_root()"
            case ComputeAt() | StoreAt():
                verb = "compute_at" if isinstance(one, ComputeAt) else "store_at"
                return f"{func}.{verb}({self._name('func', one.reader)}, {self._loop_of(one)})"
            case Atomic():
                return f"{func}.update().atomic()"
            case In() | RFactor():
                raise NoProgram("Sums side by side are not exported as a program yet.")
            case StoreIn() | Bound() | AlignStorage() | ReorderStorage():
                return f"{func}.{self._stored(one)}"
            case _:
                stage = f"{func}.update()" if one.nest else func
                return f"{stage}.{self._order(one)}" if words else ""

    def _loop_of(self, one: ComputeAt | StoreAt) -> str:
        nests = (self._loops.get((one.reader, number), {}) for number in (0, 1))
        return next(loops[one.loop] for loops in nests if one.loop in loops)

    def _stored(self, one: StoreIn | Bound | AlignStorage | ReorderStorage) -> str:
        axes, words = self._axes[one.func], self._words
        if isinstance(one, StoreIn):
            kind = one.memory.capitalize()
            inner = f"hl.MemoryType.{kind}" if words.python else f"MemoryType::{kind}"
            return f"store_in({inner})"
        if isinstance(one, Bound):
            return f"bound({axes[one.loop]}, 0, {one.extent})"
        if isinstance(one, AlignStorage):
            return f"align_storage({axes[one.loop]}, {one.factor})"
        return f"reorder_storage({', '.join(axes[name] for name in reversed(one.loops))})"

    def _order(self, one: Split | Fuse | Reorder | Vectorize | Unroll | Parallel) -> str:
        loops = self._loops[one.func, one.nest]
        match one:
            case Split():
                old = loops.pop(one.loop)
                outer, inner = (
                    self._new(one.func, one.nest, name, old) for name in (one.outer, one.inner)
                )
                tail = _TAILS[one.tail]
                tail = f"hl.TailStrategy.{tail}" if self._words.python else f"TailStrategy::{tail}"
                return f"split({old}, {outer}, {inner}, {one.factor}, {tail})"
            case Fuse():
                outer, inner = loops.pop(one.outer), loops.pop(one.inner)
                return f"fuse({inner}, {outer}, {self._new(one.func, one.nest, one.fused, inner)})"
            case Reorder():
                return f"reorder({', '.join(loops[name] for name in reversed(one.loops))})"
            case Vectorize():
                return f"vectorize({loops[one.loop]})"
            case Unroll():
                return f"unroll({loops[one.loop]})"
            case Parallel():
                return f"parallel({loops[one.loop]})"

    def _new(self, func: str, nest: int, name: str, old: str) -> str:
        """A loop's variable: of a reduction, if that which it replaces is one."""
        reducing = {made for (kind, _), made in self._names.items() if kind == "RVar"}
        found = self._variable(name, reduces="[" in old or old in reducing)
        self._loops[func, nest][name] = found
        return found


def _type(dtype: ir.DataType) -> tuple[str, str]:
    if dtype not in _TYPES:
        raise NoProgram(f"Programs in Halide are not written for elements of {dtype.name}.")
    return _TYPES[dtype]


def _python_main(
    inputs: Sequence[tuple[str, InputTensor]], output: str, shape: Sequence[int], dtype: ir.DataType
) -> Iterator[str]:
    yield f"inputs = [{', '.join(name for name, _ in inputs)}]"
    yield f"output = {output}"
    yield ""
    yield 'if __name__ == "__main__":'
    yield "    random = np.random.default_rng(0)"
    yield "    arrays = ["
    for _, one in inputs:
        kind = one.dtype.numpy().name
        yield f"        random.standard_normal({numbers_of(one.shape)}).astype(np.{kind}),"
    yield "    ]"
    yield "    for one, array in zip(inputs, arrays):"
    yield "        one.set(hl.Buffer(array))"
    yield f"    result = np.zeros({tuple(shape)}, np.{dtype.numpy().name})"
    yield "    output.realize(hl.Buffer(result))"
    yield "    print(result.sum())"


def _cpp_program(
    body: Sequence[str],
    inputs: Sequence[tuple[str, InputTensor]],
    output: str,
    shape: Sequence[int],
    dtype: ir.DataType,
) -> Iterator[str]:
    yield "// c++ -std=c++17 program.cpp -lHalide, with Halide's include and lib folders"
    yield '#include "Halide.h"'
    yield "#include <cmath>"
    yield "#include <cstdio>"
    yield "using namespace Halide;"
    yield ""
    yield "int main() {"
    yield from (f"  {line}" if line else "" for line in body)
    yield ""
    for name, one in inputs:
        sizes = ", ".join(map(str, reversed(numbers_of(one.shape))))
        kind = _type(one.dtype)[1]
        yield f"  Buffer<{kind}> {name}_data({sizes});"
        yield f"  int {name}_next = 0;"
        yield f"  {name}_data.for_each_value([&](auto &v) {{ v = {name}_next++ % 7 - 3; }});"
        yield f"  {name}.set({name}_data);"
    sizes = ", ".join(map(str, reversed(shape)))
    yield f"  Buffer<{_type(dtype)[1]}> result = {output}.realize({{{sizes}}});"
    yield "  double sum = 0;"
    yield "  result.for_each_value([&](auto v) { sum += v; });"
    yield '  printf("%g\\n", sum);'
    yield "}"
