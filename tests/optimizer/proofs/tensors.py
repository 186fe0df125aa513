"""Tensors of terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import helper

from tests.optimizer.proofs.smt import Unsupported, z3
from tests.optimizer.proofs.theories import Operation, Theory

LARGEST = 600
"""Elements of a tensor; larger ones take Z3 too long."""


@dataclass(frozen=True, slots=True)
class Symbolic:
    """A tensor of terms.

    Attributes:
        terms: object array.
        kind: ONNX element type.
    """

    terms: np.ndarray
    kind: int


Tensor: TypeAlias = "np.ndarray | Symbolic"


def lifted(tensor: Tensor, theory: Theory) -> Symbolic:
    """A tensor as terms."""
    if isinstance(tensor, Symbolic):
        return tensor
    kind = helper.np_dtype_to_tensor_dtype(tensor.dtype)
    terms = limited(np.empty(tensor.shape, object))
    for place in np.ndindex(tensor.shape):
        terms[place] = theory.constant(tensor[place], kind)
    return Symbolic(terms, kind)


def unknown(name: str, kind: int, shape: Sequence[int], theory: Theory) -> Symbolic:
    """A tensor of which nothing is known."""
    terms = limited(np.empty(tuple(shape), object))
    sort = theory.sort(kind)
    for place in np.ndindex(terms.shape):
        terms[place] = z3.Const(f"{name}{list(place)}" if place else name, sort)
    return Symbolic(terms, kind)


def mapped(operation: Operation, operands: Sequence[Symbolic], kind: int) -> Symbolic:
    """The operation element by element, operands broadcast."""
    arrays = np.broadcast_arrays(*(one.terms for one in operands))
    terms = np.empty(arrays[0].shape, object)
    limited(terms)
    for place in np.ndindex(terms.shape):
        terms[place] = operation(*(array[place] for array in arrays))
    return Symbolic(terms, kind)


def limited(terms: np.ndarray) -> np.ndarray:
    """The same array.

    Raises:
        Unsupported: it has too many elements.
    """
    if terms.size > LARGEST:
        raise Unsupported(f"a tensor of more than {LARGEST} elements")
    return terms


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    """Attributes by name."""
    return {one.name: helper.get_attribute_value(one) for one in node.attribute}


def present(tensor: Tensor | None) -> Tensor:
    """A value that has to be there.

    Raises:
        Unsupported: it is left out.
    """
    if tensor is None:
        raise Unsupported("a value that is left out")
    return tensor
