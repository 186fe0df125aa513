"""An algorithm computed in NumPy: slow, plain, and what every code generator is held to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import Algorithm, Func, LoopAxis
from optimizer.loops.scalar import Apply, Element, FreeSize, Number, Scalar, ScalarFunction, Var

Array = NDArray[Any]


def evaluate(algorithm: Algorithm, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of an algorithm.

    Args:
        algorithm: what to compute.
        inputs: as the algorithm names them, of its types.

    Raises:
        ValueError: a shape contradicts the algorithm.
    """
    sizes = sizes_of(algorithm, inputs)
    tensors = {one.name: array for one, array in zip(algorithm.inputs, inputs, strict=True)}
    with np.errstate(all="ignore"):
        for func in algorithm.funcs:
            tensors[func.name] = _computed(func, tensors, sizes)
    return [tensors[name] for name in algorithm.outputs]


def sizes_of(algorithm: Algorithm, inputs: Sequence[Array]) -> dict[str, int]:
    """The free sizes that these inputs have.

    Raises:
        ValueError: a shape contradicts the algorithm.
    """
    sizes = {
        name: int(inputs[number].shape[axis])
        for name, (number, axis) in algorithm.free_sizes.items()
    }
    for tensor, array in zip(algorithm.inputs, inputs, strict=True):
        wanted = tuple(_extent(one, sizes) for one in tensor.shape)
        if wanted != array.shape:
            raise ValueError(f"{tensor.name} has shape {array.shape}, the kernel takes {wanted}")
    return sizes


def _extent(extent: Dimension, sizes: Mapping[str, int]) -> int:
    found = extent if isinstance(extent, int) else extent.evaluate(sizes)
    if not isinstance(found, int):
        raise ValueError(f"nothing says how large {extent} is")
    return found


def _computed(func: Func, tensors: Mapping[str, Array], sizes: Mapping[str, int]) -> Array:
    reduced = func.reduction.axes if func.reduction else ()
    shape = [_extent(axis.extent, sizes) for axis in (*func.axes, *reduced)]
    grid = _grid((*func.axes, *reduced), shape)
    dtype = func.dtype.numpy()
    body = np.broadcast_to(_Body(grid, tensors, sizes).value(func.body), shape).astype(dtype)
    if func.reduction is None:
        return body
    axes = tuple(range(len(func.axes), len(shape)))
    combine = _REDUCTIONS[func.reduction.kind]
    if func.reduction.kind in ("max", "min"):
        first = extremes(func.dtype)[0 if func.reduction.kind == "max" else 1]
        return combine(body, axis=axes, initial=dtype.type(first)).astype(dtype)
    return combine(body, axis=axes).astype(dtype)


def extremes(dtype: ir.DataType) -> tuple[float, float]:
    """The smallest and the largest number of a type."""
    kind = dtype.numpy()
    if kind.kind in "biu":
        return (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
    return -math.inf, math.inf


def _grid(axes: Sequence[LoopAxis], shape: Sequence[int]) -> dict[str, Array]:
    """Variables as arrays that broadcast against each other."""
    ranges = np.ogrid[tuple(slice(0, size) for size in shape)] if shape else ()
    return {axis.name: one.astype(np.int32) for axis, one in zip(axes, ranges, strict=True)}


class _Body:
    """Values of expressions over a grid."""

    def __init__(
        self, grid: Mapping[str, Array], tensors: Mapping[str, Array], sizes: Mapping[str, int]
    ) -> None:
        self._grid, self._tensors, self._sizes = grid, tensors, sizes
        self._known: dict[int, Any] = {}

    def value(self, scalar: Scalar) -> Any:
        """An array that broadcasts to the grid."""
        if id(scalar) not in self._known:
            self._known[id(scalar)] = self._value(scalar)
        return self._known[id(scalar)]

    def _value(self, scalar: Scalar) -> Any:
        if isinstance(scalar, Var):
            return self._grid[scalar.name]
        if isinstance(scalar, FreeSize):
            return np.int32(self._sizes[scalar.name])
        if isinstance(scalar, Number):
            return np.asarray(scalar.value).astype(scalar.dtype.numpy())
        if isinstance(scalar, Element):
            return self._element(scalar)
        arguments = [self.value(argument) for argument in scalar.arguments]
        return _applied(scalar, arguments)

    def _element(self, element: Element) -> Any:
        tensor = self._tensors[element.tensor]
        places = [np.asarray(self.value(one)).astype(np.int64) for one in element.indices]
        # A place outside may stand under a `select` that does not take it.
        held = [
            np.clip(place, 0, max(size - 1, 0))
            for place, size in zip(places, tensor.shape, strict=True)
        ]
        if 0 in tensor.shape:
            shape = np.broadcast_shapes(*(one.shape for one in held))
            return np.zeros(shape, tensor.dtype)
        return tensor[tuple(np.broadcast_arrays(*held))] if held else tensor[()]


def _applied(apply: Apply, arguments: Sequence[Any]) -> Any:
    if apply.function == "cast":
        return np.asarray(arguments[0]).astype(apply.dtype.numpy())
    return _FUNCTIONS[apply.function](*arguments)


def _divided(a: Any, b: Any) -> Any:
    if np.issubdtype(np.asarray(a).dtype, np.integer):
        safe = np.where(b == 0, 1, b)  # under a `select` that does not take it
        return (np.sign(a) * np.sign(safe) * (np.abs(a) // np.abs(safe))).astype(a.dtype)
    return np.divide(a, b)


def _erf(a: Any) -> Any:
    return _erf_of(a).astype(a.dtype)


_erf_of = np.vectorize(math.erf, otypes=[np.float64])

_FUNCTIONS: Mapping[ScalarFunction, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": _divided,
    "floor_div": np.floor_divide, "floor_mod": np.mod, "fmod": np.fmod, "min": np.minimum,
    "max": np.maximum, "pow": np.power, "neg": np.negative, "abs": np.abs, "sign": np.sign,
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "erf": _erf, "tanh": np.tanh, "sin": np.sin,
    "cos": np.cos, "floor": np.floor, "ceil": np.ceil, "round": np.rint, "lt": np.less,
    "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
    "ne": np.not_equal, "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
    "not": np.logical_not, "is_nan": np.isnan, "select": np.where,
}  # fmt: skip
_REDUCTIONS: Mapping[str, Callable[..., Any]] = {
    "sum": np.sum, "product": np.prod, "max": np.max, "min": np.min, "any": np.any, "all": np.all,
}  # fmt: skip
