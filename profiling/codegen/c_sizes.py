"""Sizes and element types in C."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from optimizer.dimension import Atom, Dimension
from optimizer.loops.algorithm import Algorithm
from profiling.codegen.kernel import KernelRefused

_STORED: Mapping[ir.DataType, str] = {
    ir.DataType.FLOAT: "float", ir.DataType.DOUBLE: "double", ir.DataType.BOOL: "uint8_t",
    ir.DataType.FLOAT16: "uint16_t", ir.DataType.BFLOAT16: "uint16_t",
    ir.DataType.INT8: "int8_t", ir.DataType.UINT8: "uint8_t", ir.DataType.INT16: "int16_t",
    ir.DataType.UINT16: "uint16_t", ir.DataType.INT32: "int32_t", ir.DataType.UINT32: "uint32_t",
    ir.DataType.INT64: "int64_t", ir.DataType.UINT64: "uint64_t",
}  # fmt: skip
HALVES = frozenset({ir.DataType.FLOAT16, ir.DataType.BFLOAT16})
"""Two bytes in memory, float32 in between, rounded after each function."""
FLOATS = frozenset({ir.DataType.FLOAT, ir.DataType.DOUBLE}) | HALVES


def stored_type(dtype: ir.DataType) -> str:
    """The type in C of an element in memory.

    Raises:
        LibraryError: kernels have no such elements.
    """
    found = _STORED.get(dtype)
    if found is None:
        raise KernelRefused(f"Generated kernels take no elements of type {dtype.name}.")
    return found


def computed_type(dtype: ir.DataType) -> str:
    """The type in C of a value between functions.

    Raises:
        LibraryError: kernels have no such elements.
    """
    if dtype == ir.DataType.BOOL:
        return "int"
    return "float" if dtype in HALVES else stored_type(dtype)


def size_names(algorithm: Algorithm) -> Mapping[str, str]:
    """What the free sizes of an algorithm are called in C.

    Raises:
        LibraryError: a size is the extent of no input's axis.
    """
    missing = algorithm.unknown_sizes()
    if missing:
        raise KernelRefused(f"Nothing says how large {missing[0]} is: no input has such an axis.")
    return {name: f"s{number}" for number, name in enumerate(algorithm.free_sizes)}


def size_text(extent: Dimension, names: Mapping[str, str]) -> str:
    """A size as an expression in C, of type int64_t.

    Args:
        extent: the size.
        names: of its free sizes in C.
    """
    if isinstance(extent, int):
        return f"INT64_C({extent})"
    terms: list[str] = []
    for monomial, factor in extent.terms:
        atoms = [_atom_text(atom, names) for atom in monomial]
        terms.append(" * ".join([f"INT64_C({factor})"] * (factor != 1 or not atoms) + atoms))
    text = " + ".join(terms)
    return text if text.isalnum() else f"({text})"


def _atom_text(atom: Atom, names: Mapping[str, str]) -> str:
    if isinstance(atom, str):
        return names[atom]
    numerator, divisor = size_text(atom.numerator, names), size_text(atom.divisor, names)
    return f"size_quotient({numerator}, {divisor})"
