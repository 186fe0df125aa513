"""Expressions of a loop's body in TVM. Only where TVM is imported anyway."""

from __future__ import annotations

import importlib
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import onnx_ir as ir

from optimizer.dimension import Atom, Dimension
from optimizer.loops.scalar import (
    BOOL,
    INDEX,
    Apply,
    Element,
    FreeSize,
    Number,
    Scalar,
    Var,
    parts_of,
    rewritten,
)
from profiling.codegen.kernel import KernelRefused

_T = ir.DataType
TVM_TYPES: Mapping[ir.DataType, str] = {
    _T.FLOAT: "float32", _T.DOUBLE: "float64", _T.BOOL: "bool",
    _T.INT8: "int8", _T.INT16: "int16", _T.INT32: "int32", _T.INT64: "int64",
    _T.UINT8: "uint8", _T.UINT16: "uint16", _T.UINT32: "uint32", _T.UINT64: "uint64",
}  # fmt: skip
FLOATS = frozenset({_T.FLOAT, _T.DOUBLE})
LARGEST_POWER = 8
_LEAST, _MOST, _LOG2_E, _LN_2 = -87.3, 89.0, 1.44269504088896341, 0.6931471805599453
_EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1,
        5.0000001201e-1)  # fmt: skip
"""Source: TVM, `topi.fast_exp`, which has neither NaN nor infinities."""

Expr: TypeAlias = Any


def type_of(dtype: ir.DataType) -> str:
    """A type's name in TVM.

    Raises:
        KernelRefused: kernels in TVM have no such elements.
    """
    if dtype not in TVM_TYPES:
        raise KernelRefused(f"Kernels in TVM have no elements of type {dtype.name}.")
    return TVM_TYPES[dtype]


def size_of(extent: Dimension, sizes: Mapping[str, Expr]) -> Expr:
    """A size, of type int64."""
    tir = _tir()
    if isinstance(extent, int):
        return tir.const(extent, "int64")
    total = tir.const(0, "int64")
    for monomial, factor in extent.terms:
        term = tir.const(factor, "int64")
        for atom in monomial:
            term = term * _atom(atom, sizes)
        total = total + term
    return total


def _atom(atom: Atom, sizes: Mapping[str, Expr]) -> Expr:
    if isinstance(atom, str):
        return sizes[atom]
    return _tir().floordiv(size_of(atom.numerator, sizes), size_of(atom.divisor, sizes))


def expression(
    scalar: Scalar,
    variables: Mapping[str, Expr],
    sizes: Mapping[str, Expr],
    tensors: Mapping[str, Any],
) -> Expr:
    """An expression in TVM.

    Args:
        scalar: what to compute.
        variables: of its loops.
        sizes: free ones.
        tensors: that are read, by name.

    Raises:
        KernelRefused: TVM lacks a function.
    """
    known: dict[int, Expr] = {}

    def made(part: Scalar) -> Scalar:
        if isinstance(part, Var):
            known[id(part)] = variables[part.name].astype("int64")
        elif isinstance(part, FreeSize):
            known[id(part)] = sizes[part.name]
        elif isinstance(part, Number):
            known[id(part)] = _number(part)
        elif isinstance(part, Element):
            places = [known[id(one)].astype("int64") for one in part.indices]
            known[id(part)] = tensors[part.tensor](*places)
        else:
            known[id(part)] = _applied(part, [known[id(one)] for one in part.arguments])
        return part

    rewritten(scalar, made)
    return known[id(scalar)]


def _number(part: Number) -> Expr:
    name = "int64" if part.dtype == INDEX else type_of(part.dtype)
    if part.dtype == BOOL:
        return _tir().const(bool(part.value), "bool")
    return _tir().const(part.value if part.dtype in FLOATS else int(part.value), name)


def _applied(part: Apply, arguments: list[Expr]) -> Expr:
    kind = part.arguments[0].dtype
    name = "int64" if kind == INDEX else type_of(kind)
    if part.function == "cast":
        return _cast(arguments[0], name, part.dtype)
    if part.function == "select":
        sides = [parts_of(side) for side in part.arguments[1:]]
        reads = any(isinstance(one, Element) for side in sides for one in side)
        return (_tir().if_then_else if reads else _tir().Select)(*arguments)
    if part.function == "pow":
        return _power(arguments[0], part.arguments[1], name)
    if part.function in ("floor", "ceil", "round") and kind not in FLOATS:
        return arguments[0]
    found = (_of_floats(name) if kind in FLOATS else {}).get(part.function)
    found = found or _functions(name).get(part.function)
    if found is None:
        raise KernelRefused(f"TVM has no {part.function} of elements of type {kind.name}.")
    return found(*arguments)


def _cast(value: Expr, before: str, after: ir.DataType) -> Expr:
    if after == BOOL:
        return value if before == "bool" else value != _tir().const(0, before)
    return value.astype("int64" if after == INDEX else type_of(after))


def _of_floats(name: str) -> dict[str, Callable[..., Expr]]:
    single = name == "float32"
    return {
        "div": operator.truediv, "max": larger, "min": smaller, "neg": operator.neg,
        "exp": exp if single else _tir().exp, "tanh": _tanh if single else _tir().tanh,
    }  # fmt: skip


def _functions(name: str) -> dict[str, Callable[..., Expr]]:
    tir, zero, one = _tir(), _tir().const(0, name), _tir().const(1, name)

    def of_any(quotient: Callable[[Expr, Expr], Expr]) -> Callable[[Expr, Expr], Expr]:
        def computed(a: Expr, b: Expr) -> Expr:
            return quotient(a, tir.Select(b == zero, one, b))

        return computed

    def negative(a: Expr) -> Expr:
        return zero - a

    def sign(a: Expr) -> Expr:
        return tir.Select(a > zero, one, tir.Select(a < zero, zero - one, a))

    def one_alone(a: Expr, b: Expr) -> Expr:
        return tir.Or(tir.And(a, tir.Not(b)), tir.And(tir.Not(a), b))

    return {
        "add": operator.add, "sub": operator.sub, "mul": operator.mul,
        "div": of_any(tir.truncdiv), "floor_div": of_any(tir.floordiv),
        "floor_mod": of_any(tir.floormod), "min": tir.min, "max": tir.max, "neg": negative,
        "abs": tir.abs, "sign": sign, "sqrt": tir.sqrt, "log": tir.log, "erf": tir.erf,
        "sin": tir.sin, "cos": tir.cos, "floor": tir.floor, "ceil": tir.ceil,
        "round": tir.nearbyint, "is_nan": tir.isnan, "lt": operator.lt, "le": operator.le,
        "gt": operator.gt, "ge": operator.ge, "eq": tir.EQ, "ne": tir.NE, "and": tir.And,
        "or": tir.Or, "not": tir.Not, "xor": one_alone,
    }  # fmt: skip


def larger(a: Expr, b: Expr) -> Expr:
    """The larger of two floats; NaN where either is."""
    tir = _tir()
    return tir.Select(tir.Or(a > b, tir.isnan(a)), a, b)


def smaller(a: Expr, b: Expr) -> Expr:
    """The smaller of two floats; NaN where either is."""
    tir = _tir()
    return tir.Select(tir.Or(a < b, tir.isnan(a)), a, b)


def exp(a: Expr) -> Expr:
    """The exponential of float32, vectorized as TVM's own is not; no denormal results."""
    tir = _tir()
    held = tir.Select(a > _single(_MOST), _single(_MOST), a)
    held = tir.Select(held > _single(_LEAST), held, _single(_LEAST))
    times = tir.floor(held * _single(_LOG2_E) + _single(0.5))
    rest = held - times * _single(_LN_2)
    found = _single(_EXP[0])
    for factor in _EXP[1:]:
        found = found * rest + _single(factor)
    found = found * rest * rest + rest + _single(1)
    half = (times.astype("int32") + tir.const(126, "int32")) << tir.const(23, "int32")
    scaled = found * tir.reinterpret("float32", half) * _single(2)
    below = tir.Select(a < _single(_LEAST), _single(0), scaled)
    return tir.Select(tir.isnan(a), a, below)


def _tanh(a: Expr) -> Expr:
    tir = _tir()
    power = exp(_single(-2) * tir.abs(a))
    far = (_single(1) - power) / (_single(1) + power)
    near = a * (_single(1) - a * a * _single(1 / 3))
    signed = tir.Select(a < _single(0), -far, far)
    return tir.Select(tir.abs(a) < _single(0.04), near, signed)


def _power(base: Expr, exponent: Scalar, name: str) -> Expr:
    value = exponent.value if isinstance(exponent, Number) else None
    if value == 0.5:
        return _tir().sqrt(base)
    if value is None or value != int(value) or not 1 <= abs(value) <= LARGEST_POWER:
        raise KernelRefused("Kernels in TVM have powers with a constant exponent up to 8 alone.")
    product = math.prod([base] * (int(abs(value)) - 1), start=base)
    return product if value > 0 else _tir().const(1, name) / product


def _single(value: float) -> Expr:
    return _tir().const(value, "float32")


def _tir() -> Any:
    return importlib.import_module("tvm.tirx")
