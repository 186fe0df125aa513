"""What Halide's Python and its C++ write differently."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import onnx_ir as ir

from optimizer.errors import StudioError
from optimizer.loops.scalar import Apply, Element, Number, Scalar, Var

Language = Literal["python", "cpp"]

_TYPES = {
    ir.DataType.FLOAT: ("Float(32)", "float"),
    ir.DataType.DOUBLE: ("Float(64)", "double"),
    ir.DataType.INT32: ("Int(32)", "int32_t"),
}
_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floor_div": "/", "floor_mod": "%",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
_LOGIC = {"and": ("&", "&&"), "or": ("|", "||")}
_CALLED = frozenset(
    {"min", "max", "abs", "sqrt", "exp", "log", "erf", "tanh", "sin", "cos", "floor", "ceil",
     "round", "pow", "select", "is_nan"}
)  # fmt: skip


class NoProgram(StudioError):
    """There is no program in Halide's languages for this."""


def type_names(dtype: ir.DataType) -> tuple[str, str]:
    """Halide's name of an element type, and that of C++.

    Raises:
        NoProgram: it has none here.
    """
    if dtype not in _TYPES:
        raise NoProgram(f"Programs in Halide are not written for elements of {dtype.name}.")
    return _TYPES[dtype]


@dataclass(frozen=True)
class Words:
    """What the two languages write differently."""

    python: bool

    def constant(self, kind: str, name: str) -> str:
        """A member of one of Halide's enumerations."""
        return f"hl.{kind}.{name}" if self.python else f"{kind}::{name}"

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
        """A statement."""
        return text if self.python else f"{text};"

    def comment(self, text: str) -> str:
        """A line for people."""
        return f"# {text}" if self.python else f"// {text}"

    def number(self, value: float, dtype: ir.DataType) -> str:
        """A constant of a type."""
        type_names(dtype)
        if dtype == ir.DataType.INT32:
            return str(int(value))
        if self.python:
            text = repr(float(value)) if math.isfinite(value) else f'float("{value}")'
            return f"hl.f{dtype.bitwidth}({text})"
        if not math.isfinite(value):
            return "-INFINITY" if value < 0 else "INFINITY"
        return repr(float(value)) + ("f" if dtype == ir.DataType.FLOAT else "")

    def value(self, scalar: Scalar, places: Mapping[str, str], reading: Mapping[str, str]) -> str:
        """An expression.

        Args:
            scalar: of sizes that are numbers.
            places: variables by name.
            reading: what is called for an element of a tensor, by the tensor's name.

        Raises:
            NoProgram: Halide has no such function.
        """
        if isinstance(scalar, Var):
            return places[scalar.name]
        if isinstance(scalar, Number):
            return self.number(scalar.value, scalar.dtype)
        if isinstance(scalar, Element):
            inner = [self.value(one, places, reading) for one in scalar.indices]
            return self.at(reading[scalar.tensor], inner)
        if not isinstance(scalar, Apply):
            raise NoProgram(f"Programs in Halide are written for numbers; {scalar.name} is free.")
        return self._applied(scalar, [self.value(one, places, reading) for one in scalar.arguments])

    def _applied(self, scalar: Apply, values: list[str]) -> str:
        function = scalar.function
        if function in _INFIX:
            return f"({values[0]} {_INFIX[function]} {values[1]})"
        if function in _LOGIC:
            return f"({values[0]} {_LOGIC[function][not self.python]} {values[1]})"
        if function == "neg":
            return f"(-{values[0]})"
        if function == "not":
            return f"hl.Expr.logical_not({values[0]})" if self.python else f"(!{values[0]})"
        if function == "cast":
            kind = type_names(scalar.dtype)
            return (
                f"hl.cast(hl.{kind[0]}, {values[0]})"
                if self.python
                else f"cast<{kind[1]}>({values[0]})"
            )
        if function in _CALLED:
            return f"{self.named(function)}({', '.join(values)})"
        raise NoProgram(f"Programs in Halide are not written for {function}.")
