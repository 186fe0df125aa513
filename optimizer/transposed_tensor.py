"""A tensor that is another one with its axes in another order, not copied before it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx_ir as ir

_STRIP, _LARGE_AXIS = 16, 256
"""Columns copied at a time, so that lines stay in the cache, and from which size on that pays."""


class TransposedTensor(ir.LazyTensor):
    """Another tensor, transposed: as large as that, it takes no room until it is written.

    Args:
        source: of a type whose elements are whole bytes.
        perm: which axis of `source` each axis is.
    """

    __slots__ = ("_perm", "_source")

    def __init__(self, source: ir.TensorProtocol, perm: Sequence[int]) -> None:
        sizes = source.shape.numpy()
        shape = ir.Shape([sizes[axis] for axis in perm])
        super().__init__(lambda: ir.Tensor(self.numpy()), source.dtype, shape)
        self._source, self._perm = source, tuple(perm)

    def numpy(self) -> np.ndarray:
        """A view of the source's elements."""
        return self._source.numpy().transpose(self._perm)

    def tobytes(self) -> bytes:
        """All of it, little-endian, as ONNX stores it."""
        return solid(self.numpy()).tobytes()

    def reader(self) -> Callable[[int, int], bytes]:
        """Gives pieces of its bytes, `read(start, count)`; the rest is not computed."""
        array = self.numpy()

        def read(start: int, count: int) -> bytes:
            first, skipped = divmod(start, array.itemsize)
            elements = array.flat[first : -(-(start + count) // array.itemsize)]
            return elements.tobytes()[skipped : skipped + count]

        return read


def solid(view: np.ndarray) -> np.ndarray:
    """A copy in C order, of rank 0 too; of a large transposed matrix in half numpy's time."""
    if view.ndim != 2 or not view.flags.f_contiguous or min(view.shape) < _LARGE_AXIS:
        return np.array(view, order="C", copy=True)
    copied = np.empty(view.shape, view.dtype)
    for start in range(0, view.shape[1], _STRIP):
        strip = slice(start, start + _STRIP)
        copied[:, strip] = view[:, strip]
    return copied
