"""16-bit formats of numbers with a point: how far they reach, and what rounding to them loses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.errors import StudioError, quoted
from optimizer.numbers import counted


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A format of 16 bits.

    Attributes:
        name: as options and people call it.
        dtype: ONNX's element type.
        largest: its largest number.
        smallest_normal: below it, digits are lost one by one.
        smallest: its smallest number above 0.
        digits: bits of a significand, the hidden one included.
    """

    name: str
    dtype: ir.DataType
    largest: float
    smallest_normal: float
    smallest: float
    digits: int

    @property
    def overflow(self) -> float:
        """What rounds to infinity: from half a step above `largest` on."""
        return self.largest + 2.0 ** (math.floor(math.log2(self.largest)) - self.digits)

    def rounded(self, array: NDArray[Any]) -> NDArray[Any]:
        """The nearest numbers of this format; infinite where there are none."""
        with np.errstate(over="ignore"):
            return array.astype(self.dtype.numpy())


def _format(name: str, dtype: ir.DataType) -> FloatFormat:
    about = cast("Any", ml_dtypes).finfo(dtype.numpy())
    largest, normal, smallest = about.max, about.smallest_normal, about.smallest_subnormal
    return FloatFormat(
        name, dtype, float(largest), float(normal), float(smallest), int(about.nmant) + 1
    )


FORMATS: Mapping[str, FloatFormat] = {
    "float16": _format("float16", ir.DataType.FLOAT16),
    "bfloat16": _format("bfloat16", ir.DataType.BFLOAT16),
}
"""By name. Source: IEEE 754-2019, binary16; bfloat16 is the upper half of binary32."""


def format_named(name: str) -> FloatFormat:
    """The format of this name.

    Raises:
        StudioError: there is none.
    """
    if name not in FORMATS:
        known = " and ".join(FORMATS)
        raise StudioError(f"There is no 16-bit format {quoted(name)}; there are {known}.")
    return FORMATS[name]


@dataclass(frozen=True, slots=True)
class Losses:
    """What happens to the numbers of a tensor in a format.

    Attributes:
        elements: how many there are.
        overflow: finite ones that become infinite.
        subnormal: those that lose digits, as they are below the smallest normal number.
        vanished: others than 0 that become 0.
    """

    elements: int
    overflow: int = 0
    subnormal: int = 0
    vanished: int = 0

    def __str__(self) -> str:
        """In words; empty where nothing but rounding happens."""
        found = (
            (self.overflow, "beyond the range"),
            (self.subnormal, "subnormal"),
            (self.vanished, "too small, which become 0"),
        )
        told = ", ".join(f"{number} {what}" for number, what in found if number)
        return f"of {counted(self.elements, 'number')} {told}" if told else ""


def losses(array: NDArray[np.generic], form: FloatFormat) -> Losses:
    """What rounding `array` to a format loses."""
    size = np.abs(array.astype(np.float32, copy=False))
    low = (size > 0) & (size < form.smallest_normal)
    vanished = low & (form.rounded(size) == 0)
    overflow = np.isfinite(size) & (size >= form.overflow)
    gone = int(np.count_nonzero(vanished))
    return Losses(
        elements=size.size,
        overflow=int(np.count_nonzero(overflow)),
        subnormal=int(np.count_nonzero(low)) - gone,
        vanished=gone,
    )


_MAGNITUDE = "passlens.magnitude"


def magnitude(tensor: ir.TensorProtocol) -> float:
    """The largest finite |x| of a constant, 0 if it has none; looked at once a tensor."""
    known = tensor.meta.get(_MAGNITUDE)
    if known is None:
        array = tensor.numpy().astype(np.float32, copy=False)
        if array.size and not (np.isfinite(array.max()) and np.isfinite(array.min())):
            array = array[np.isfinite(array)]
        ends = (abs(float(array.max())), abs(float(array.min()))) if array.size else (0.0,)
        known = tensor.meta[_MAGNITUDE] = max(ends)
    return known
