"""What an algorithm computes, as formulas: `blur_x(y, x) = (image(y, x) + …) · 0.333`."""

from __future__ import annotations

from collections.abc import Mapping

from optimizer.loops.algorithm import Func, Reduction
from optimizer.loops.scalar import Apply, Element, FreeSize, Number, Scalar, ScalarFunction, Var
from optimizer.numbers import three_digits

LONGEST = 600
"""Characters of a part; what is longer is cut, for shared parts make a text of any length."""

_INFIX: Mapping[ScalarFunction, tuple[str, int]] = {
    "or": ("or", 1), "xor": ("xor", 1), "and": ("and", 2), "lt": ("<", 3), "le": ("≤", 3),
    "gt": (">", 3), "ge": ("≥", 3), "eq": ("=", 3), "ne": ("≠", 3), "add": ("+", 4),
    "sub": ("-", 4), "mul": ("·", 5), "div": ("/", 5), "floor_div": ("div", 5),
    "floor_mod": ("mod", 5),
}  # fmt: skip
"""How it is written between its arguments, and how strongly it binds."""
_ONE_WAY = frozenset({"sub", "div", "floor_div", "floor_mod"})
_ATOM, _SIGN = 9, 6
_COMBINED = {
    "sum": "+=",
    "product": "·=",
    "max": "max=",
    "min": "min=",
    "any": "or=",
    "all": "and=",
}


def formula_text(func: Func) -> str:
    """A Func's definition in one line; with a reduction, how each element is combined."""
    left = f"{func.name}({', '.join(axis.name for axis in func.axes)})"
    if func.reduction is None:
        return f"{left} = {scalar_text(func.body)}"
    return f"{left} {_COMBINED[func.reduction.kind]} {scalar_text(func.body)}"


def domain_text(reduction: Reduction) -> str:
    """Along which axes a reduction combines: `k in 512`."""
    return ", ".join(f"{axis.name} in {axis.extent}" for axis in reduction.axes)


def scalar_text(scalar: Scalar) -> str:
    """An expression with no more parentheses than it needs."""
    return _Writer().text(scalar)[0]


class _Writer:
    """Each part of an expression is written once, however often it is read."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, int]] = {}

    def text(self, scalar: Scalar) -> tuple[str, int]:
        """A part, and how strongly what holds it together binds."""
        if id(scalar) not in self._known:
            text, binds = self._written(scalar)
            self._known[id(scalar)] = (text, binds) if len(text) <= LONGEST else ("…", _ATOM)
        return self._known[id(scalar)]

    def _written(self, scalar: Scalar) -> tuple[str, int]:
        if isinstance(scalar, Var | FreeSize):
            return scalar.name, _ATOM
        if isinstance(scalar, Number):
            return _number(scalar), _ATOM
        if isinstance(scalar, Element):
            return f"{scalar.tensor}({', '.join(map(self._plain, scalar.indices))})", _ATOM
        return self._applied(scalar)

    def _applied(self, scalar: Apply) -> tuple[str, int]:
        function, arguments = scalar.function, scalar.arguments
        if function in _INFIX:
            sign, binds = _INFIX[function]
            right = binds + 1 if function in _ONE_WAY else binds
            first, second = self._held(arguments[0], binds), self._held(arguments[1], right)
            return f"{first} {sign} {second}", binds
        if function == "neg":
            return f"-{self._held(arguments[0], _SIGN)}", _SIGN
        name = scalar.dtype.name.lower() if function == "cast" else function
        return f"{name}({', '.join(map(self._plain, arguments))})", _ATOM

    def _held(self, scalar: Scalar, binds: int) -> str:
        """A part of something that binds so strongly."""
        text, own = self.text(scalar)
        return text if own >= binds else f"({text})"

    def _plain(self, scalar: Scalar) -> str:
        return self.text(scalar)[0]


def _number(scalar: Number) -> str:
    value = scalar.value
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value).lower()
    return str(value) if value != value or abs(value) in (0.0, float("inf")) else _short(value)


def _short(value: float) -> str:
    """Three digits, with an exponent where there would be many zeros."""
    return three_digits(value) if 1e-3 <= abs(value) < 1e6 else f"{value:.3g}"
