"""Constants that stand for "nothing here": a mask of -3.4e38, the open end of a Clip.

A mask that is cast to float16 becomes -inf, and that is not the same: a row of which everything is
masked divides 0 by 0, and 0 times it is no number. The number taken instead is a quarter of the
largest one: a score and two masks more that are added to it keep the sum finite, and `exp` of it
is 0 as well.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.constants import constant_of, tensor_in
from optimizer.operators.catalogue import standard
from optimizer.precision.float_formats import FloatFormat, magnitude

_MASKING = frozenset({"Add", "Max", "Mul", "Pad", "Where"})
_BOUNDING = frozenset({"Clip"})


def bounded(value: ir.Value | None, form: FloatFormat) -> NDArray[np.float32] | None:
    """A constant float32 mask or bound within the range of a format.

    Returns: None where it is no such thing, or within the range already.
    """
    tensor = constant_of(value)
    if value is None or tensor is None or tensor.dtype != ir.DataType.FLOAT:
        return None
    if magnitude(tensor) < form.overflow:
        return None
    readers = {_role(use.node) for use in value.uses()}
    if value.is_graph_output() or len(readers) != 1 or None in readers:
        return None
    return _within(tensor.numpy(), form, bound=readers == {"bound"})


def bounded_fill(node: ir.Node, form: FloatFormat) -> NDArray[np.float32] | None:
    """The same for what a ConstantOfShape fills its result with."""
    attribute = node.attributes.get("value")
    tensor = None if attribute is None else tensor_in(attribute)
    if tensor is None or tensor.dtype != ir.DataType.FLOAT or magnitude(tensor) < form.overflow:
        return None
    return _within(tensor.numpy(), form, bound=False)


def _role(node: ir.Node) -> str | None:
    operator = standard(node)
    name = "" if operator is None else operator.name
    return "mask" if name in _MASKING else "bound" if name in _BOUNDING else None


def _within(
    array: NDArray[np.generic], form: FloatFormat, *, bound: bool
) -> NDArray[np.float32] | None:
    """Numbers beyond the range put within it; a mask has them on the negative side alone."""
    numbers = array.astype(np.float32)
    beyond = np.isfinite(numbers) & (np.abs(numbers) >= form.overflow)
    if not bound and bool((numbers[beyond] > 0).any()):
        return None
    most = form.largest if bound else form.largest / 4
    return np.where(beyond, np.copysign(np.float32(most), numbers), numbers)
