"""Expressions of a loop's body as statements of a Triton kernel, of a block of elements at a time.

Every load is masked by the extents of what it reads: tails of blocks, and places that a `select`
does not take, are never read. Numbers are float32 where they are stored with 16 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.dimension import Atom, Dimension
from optimizer.loops.formulas import FLOATS, HALVES
from optimizer.loops.scalar import (
    BOOL,
    INDEX,
    Apply,
    Element,
    FreeSize,
    Number,
    Scalar,
    Var,
    rewritten,
)
from profiling.codegen.kernel import LibraryError

_T = ir.DataType
TRITON_TYPES: Mapping[ir.DataType, str] = {
    _T.FLOAT: "float32", _T.DOUBLE: "float64", _T.FLOAT16: "float16", _T.BFLOAT16: "bfloat16",
    _T.BOOL: "int1", _T.INT8: "int8", _T.INT16: "int16", _T.INT32: "int32", _T.INT64: "int64",
    _T.UINT8: "uint8", _T.UINT16: "uint16", _T.UINT32: "uint32", _T.UINT64: "uint64",
}  # fmt: skip
LARGEST_POWER = 8

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==",
    "ne": "!=", "and": "&", "or": "|", "xor": "!=",
}  # fmt: skip
_CALLS = {
    "exp": "tl.exp", "log": "tl.log", "erf": "tl.erf", "sin": "tl.sin", "cos": "tl.cos",
    "abs": "tl.abs", "select": "tl.where", "tanh": "tanh_of", "sign": "sign_of",
    "round": "rounded_to_even", "floor": "tl.floor", "ceil": "tl.ceil", "sqrt": "tl.sqrt_rn",
    "div": "whole_quotient", "floor_div": "floor_quotient", "floor_mod": "floor_remainder",
}  # fmt: skip
_OF_ONE = {"neg": "(-{0})", "not": "({0} == 0)", "is_nan": "({0} != {0})"}
HELPERS = """
@triton.jit
def larger_of(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def smaller_of(a, b):
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def larger_whole(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def smaller_whole(a, b):
    return tl.where(a < b, a, b)


@triton.jit
def with_nan(a, has_nan):
    return tl.where(has_nan != 0, float("nan"), a)


@triton.jit
def product_of(a, b):
    return a * b


@triton.jit
def sign_of(a):
    return tl.where(a > 0, 1, tl.where(a < 0, -1, a)).to(a.dtype)


@triton.jit
def tanh_of(a):
    power = tl.exp(-2.0 * tl.abs(a))
    far = (1.0 - power) / (1.0 + power)
    near = a * (1.0 - a * a * (1.0 / 3.0))
    return tl.where(tl.abs(a) < 0.04, near, tl.where(a < 0, -far, far))


@triton.jit
def rounded_to_even(a):
    below = tl.floor(a)
    rest = a - below
    odd = below - 2.0 * tl.floor(below * 0.5) != 0.0
    return tl.where((rest > 0.5) | ((rest == 0.5) & odd), below + 1.0, below)


@triton.jit
def floor_quotient(a, b):
    return a // b - ((a % b != 0) & ((a < 0) != (b < 0))).to(tl.int32)


@triton.jit
def floor_remainder(a, b):
    rest = a % b
    return tl.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)


@triton.jit
def whole_quotient(a, b):
    return a // tl.where(b == 0, 1, b)
"""
"""What kernels call; in Triton, `//` and `%` of integers are those of C."""


def size_text(extent: Dimension, sizes: Mapping[str, str]) -> str:
    """A size as an expression over a kernel's arguments."""
    if isinstance(extent, int):
        return str(extent)
    terms: list[str] = []
    for monomial, factor in extent.terms:
        atoms = [_atom_text(atom, sizes) for atom in monomial]
        terms.append(" * ".join([str(factor)] * (factor != 1 or not atoms) + atoms))
    return f"({' + '.join(terms)})" if len(terms) > 1 or "*" in terms[0] else terms[0]


def _atom_text(atom: Atom, sizes: Mapping[str, str]) -> str:
    if isinstance(atom, str):
        return sizes[atom]
    return f"({size_text(atom.numerator, sizes)} // {size_text(atom.divisor, sizes)})"


@dataclass(frozen=True, slots=True)
class Reading:
    """What all statements of a program have in common.

    Attributes:
        tensors: name of the argument, shape and element type of what may be loaded.
        sizes: names of the free sizes.
        name: gives a name that is not used yet.
    """

    tensors: Mapping[str, tuple[str, tuple[Dimension, ...], ir.DataType]]
    sizes: Mapping[str, str]
    name: Callable[[], str]


class TritonStatements:
    """Statements of one block.

    Args:
        reading: of the program.
        variables: what each of the body's is, as text.
        held: values of Funcs that are known already, by name.
    """

    def __init__(
        self, reading: Reading, variables: Mapping[str, str], held: Mapping[str, str]
    ) -> None:
        self.lines: list[str] = []
        self._tensors, self._sizes, self._name = reading.tensors, reading.sizes, reading.name
        self._variables, self._held = variables, held
        self._parts: list[Scalar] = []  # alive, so that their ids stay theirs
        self._known: dict[int, str] = {}

    def value(self, scalar: Scalar) -> str:
        """The name of a value; what it needs is in `lines` then."""
        rewritten(scalar, self._stated)
        return self._known[id(scalar)]

    def _stated(self, part: Scalar) -> Scalar:
        if id(part) not in self._known:
            self._parts.append(part)
            self._known[id(part)] = self._text(part)
        return part

    def _text(self, part: Scalar) -> str:
        if isinstance(part, Var):
            return self._variables[part.name]
        if isinstance(part, FreeSize):
            return self._sizes[part.name]
        if isinstance(part, Number):
            return number_text(part)
        if isinstance(part, Element) and part.tensor in self._held:
            return self._held[part.tensor]
        name = self._name()
        text = self._load(part) if isinstance(part, Element) else self._applied(part)
        self.lines.append(f"{name} = {text}")
        return name

    def _load(self, element: Element) -> str:
        argument, shape, dtype = self._tensors[element.tensor]
        indices = [self._known[id(one)] for one in element.indices]
        place, guards = "", list[str]()
        for text, one, extent in zip(indices, element.indices, shape, strict=True):
            size = size_text(extent, self._sizes)
            place = f"({place}) * {size} + {text}" if place else text
            if not (isinstance(one, Number) and isinstance(extent, int) and one.value < extent):
                guards.append(f"({text} >= 0) & ({text} < {size})")
        mask = f", mask={' & '.join(guards)}, other=0" if guards else ""
        load = f"tl.load({argument} + {place or 0}{mask})"
        if dtype == BOOL:
            return f"{load} != 0"
        return f"{load}.to(tl.float32)" if dtype in HALVES else load

    def _applied(self, part: Apply) -> str:
        arguments = [self._known[id(one)] for one in part.arguments]
        kind = part.arguments[0].dtype
        if part.function == "cast":
            return cast_text(arguments[0], kind, part.dtype)
        text = self._function(part, arguments, kind)
        if part.dtype in HALVES:
            return f"{text}.to(tl.{TRITON_TYPES[part.dtype]}).to(tl.float32)"
        return text

    def _function(self, part: Apply, arguments: list[str], kind: ir.DataType) -> str:
        function = part.function
        if function in _INFIX:
            return f"({arguments[0]} {_INFIX[function]} {arguments[1]})"
        if function in ("floor", "ceil", "round") and kind not in FLOATS:
            return arguments[0]
        if function == "pow":
            return _power(arguments[0], part.arguments[1])
        if function == "div" and kind in FLOATS:
            return f"({arguments[0]} / {arguments[1]})"
        name = extreme(function, kind) if function in ("min", "max") else _CALLS.get(function)
        if function == "sqrt" and kind == _T.DOUBLE:
            name = "tl.sqrt"
        if name is not None:
            return f"{name}({', '.join(arguments)})"
        if function not in _OF_ONE:
            raise LibraryError(f"Triton has no {function} of elements of type {kind.name}.")
        return _OF_ONE[function].format(arguments[0])


def extreme(function: str, kind: ir.DataType) -> str:
    """The helper that gives the larger or the smaller of two numbers."""
    side = "larger" if function == "max" else "smaller"
    return f"{side}_of" if kind in FLOATS else f"{side}_whole"


def _power(base: str, exponent: Scalar) -> str:
    value = exponent.value if isinstance(exponent, Number) else None
    if value == 0.5:
        return f"tl.sqrt_rn({base})"
    if value is None or value != int(value) or not 1 <= abs(value) <= LARGEST_POWER:
        raise LibraryError("Triton computes powers with a constant exponent up to 8 alone.")
    product = " * ".join([base] * int(abs(value)))
    return f"({product})" if value > 0 else f"(1.0 / ({product}))"


def cast_text(text: str, before: ir.DataType, after: ir.DataType) -> str:
    """A value in another type."""
    if after == BOOL:
        return f"({text} != 0)"
    if after in HALVES:
        return f"({text}).to(tl.{TRITON_TYPES[after]}).to(tl.float32)"
    if before in HALVES and after == _T.FLOAT:
        return text
    if after == INDEX:
        return f"({text}).to(tl.int64)"  # places in large tensors
    return f"({text}).to(tl.{TRITON_TYPES[after]})"


def number_text(number: Number) -> str:
    """A constant as a value of its type."""
    if number.dtype == INDEX:
        return str(int(number.value))
    if number.dtype in FLOATS:
        kind = "float64" if number.dtype == _T.DOUBLE else "float32"
        return f'tl.full([], float("{float(number.value)!r}"), tl.{kind})'
    return f"tl.full([], {int(number.value)}, tl.{TRITON_TYPES[number.dtype]})"
