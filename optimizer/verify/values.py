"""Arrays of types that numpy lacks (bfloat16, float8, int4), as the runtime's own values and back.

The runtime takes and gives their bits only. Only in a worker process.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]

# The numbers are those of TensorProto.DataType.
_NUMBERS: dict[np.dtype[Any], int] = {
    np.dtype(ml_dtypes.bfloat16): 16,
    np.dtype(ml_dtypes.float8_e4m3fn): 17,
    np.dtype(ml_dtypes.float8_e4m3fnuz): 18,
    np.dtype(ml_dtypes.float8_e5m2): 19,
    np.dtype(ml_dtypes.float8_e5m2fnuz): 20,
    np.dtype(ml_dtypes.uint4): 21,
    np.dtype(ml_dtypes.int4): 22,
}
_HALF_BYTES = frozenset({21, 22})

TYPES: dict[str, np.dtype[Any]] = {
    f"tensor({dtype.name.replace('_', '')})": dtype for dtype in _NUMBERS
}
"""The runtime's names of these types."""


def needs_values(types: Iterable[str]) -> bool:
    """Whether one of the types can be fed or read as bits only."""
    return any(name in TYPES for name in types)


def onnx_number(dtype: np.dtype[Any]) -> int | None:
    """Number of the element type, for those that numpy lacks."""
    return _NUMBERS.get(dtype)


def bits_of(array: Array) -> Array:
    """The array's bits in an array of the same shape; half bytes packed to its beginning."""
    number = _NUMBERS[array.dtype]
    if number not in _HALF_BYTES:
        return np.ascontiguousarray(array).view(np.uint16 if number == 16 else np.uint8)
    nibbles = array.astype(np.int8).reshape(-1).view(np.uint8) & 0xF
    padded = np.append(nibbles, np.uint8(0)) if nibbles.size % 2 else nibbles
    packed = np.zeros(nibbles.size, np.uint8)
    pairs = padded.reshape(-1, 2)
    packed[: len(pairs)] = pairs[:, 0] | pairs[:, 1] << 4
    return packed.reshape(array.shape)


def value_of(array: Array) -> Any:
    """An `OrtValue` on the host."""
    import onnxruntime

    make: Any = onnxruntime.OrtValue
    number = _NUMBERS.get(array.dtype)
    if number is None:
        return make.ortvalue_from_numpy(array)
    return make.ortvalue_from_numpy_with_onnx_type(bits_of(array), number)


def array_of(value: Any) -> Array:
    """What an `OrtValue` on the host holds, copied."""
    dtype = TYPES.get(value.data_type())
    if dtype is None:
        return value.numpy()
    data = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    shape = tuple(value.shape())
    if _NUMBERS[dtype] not in _HALF_BYTES:
        return np.frombuffer(data, dtype).reshape(shape)
    packed = np.frombuffer(data, np.uint8)
    nibbles = np.stack([packed & 0xF, packed >> 4], axis=1).reshape(-1)[: int(np.prod(shape))]
    signed = nibbles.astype(np.int8)
    if dtype == np.dtype(ml_dtypes.int4):
        signed = np.where(signed > 7, signed - 16, signed).astype(np.int8)
    return signed.astype(dtype).reshape(shape)
