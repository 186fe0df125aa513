"""Operators whose meaning in numpy is plain: bookkeeping on shapes, moving data, simple arithmetic.

Each kernel takes an `Call` and returns the outputs. Element types are exact: a kernel never
lets numpy promote.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from optimizer.constants import tensor_in
from optimizer.operators.call import Array, Call, NotFoldable
from optimizer.operators.reference import reference
from optimizer.transposed_tensor import solid

Kernel = Callable[[Call], tuple[Array, ...]]

_NARROW = ("FLOAT8", "FLOAT4", "FLOAT6", "INT4", "UINT4", "INT2", "UINT2")
"""Types whose casts saturate or pack, each in its own way."""


def unary(function: Callable[[Array], Array]) -> Kernel:
    """A kernel from a numpy function of one array."""
    return lambda call: (np.asarray(function(call.array(0))),)


def pairs(function: Callable[[Array, Array], Array]) -> Kernel:
    """A kernel from a numpy function of two arrays of one type."""

    def kernel(call: Call) -> tuple[Array, ...]:
        left, right = call.array(0), call.array(1)
        if left.dtype != right.dtype:
            raise NotFoldable(f"{call.node.op_type} mixes {left.dtype} and {right.dtype}")
        return (np.asarray(function(left, right)),)

    return kernel


def variadic(function: Callable[[Array, Array], Array]) -> Kernel:
    """A kernel from a numpy function, applied from left to right."""

    def kernel(call: Call) -> tuple[Array, ...]:
        result = call.array(0)
        for index in range(1, len(call.node.inputs)):
            result = np.asarray(function(result, call.array(index)))
        return (result,)

    return kernel


def divide(left: Array, right: Array) -> Array:
    """Division; integers round towards zero.

    Raises:
        NotFoldable: an integer division by zero, or of the smallest number by -1.
    """
    if not np.issubdtype(left.dtype, np.integer):
        return left / right
    _check_divisor(left, right)
    quotient = left // right
    # floor -> truncate: one more where signs differ and a rest is left
    if np.issubdtype(left.dtype, np.signedinteger):
        quotient = quotient + ((left % right != 0) & ((left < 0) != (right < 0)))
    return quotient.astype(left.dtype)


def modulo(call: Call) -> tuple[Array, ...]:
    """Mod; the sign follows the divisor, or the dividend with `fmod`."""
    left, right = call.array(0), call.array(1)
    if np.issubdtype(left.dtype, np.integer):
        _check_divisor(left, right)
    elif not call.number("fmod", 0):
        raise NotFoldable("Mod of floats needs fmod")
    return (np.asarray(np.fmod(left, right) if call.number("fmod", 0) else np.mod(left, right)),)


def _check_divisor(left: Array, right: Array) -> None:
    if not right.all():
        raise NotFoldable("the integer division is by zero")
    signed = np.issubdtype(left.dtype, np.signedinteger)
    if signed and (left == np.iinfo(left.dtype).min).any() and (right == -1).any():
        raise NotFoldable("the integer division overflows (smallest number by -1)")


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)) without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(x.dtype)


def reciprocal(x: Array) -> Array:
    """1 / x."""
    return (1 / x).astype(x.dtype)


def relu(x: Array) -> Array:
    """max(x, 0)."""
    return np.maximum(x, np.zeros((), x.dtype))


def where(call: Call) -> tuple[Array, ...]:
    """Where."""
    return (np.where(call.array(0), call.array(1), call.array(2)),)


def cast(call: Call) -> tuple[Array, ...]:
    """Cast between numbers; what C++ leaves undefined is not folded."""
    source = call.array(0)
    if call.node.op_type == "CastLike":
        kind = call.node.outputs[0].dtype or ir.DataType.from_numpy(call.array(1).dtype)
    else:
        kind = ir.DataType(call.number("to", 0))
    if kind == ir.DataType.STRING or kind.name.startswith(_NARROW):
        raise NotFoldable(f"a Cast to {kind.name} is left to the runtime")
    target = kind.numpy()
    if np.issubdtype(target, np.integer) and not np.issubdtype(source.dtype, np.integer):
        return (_to_integer(source, target),)
    return (source.astype(target),)


def _to_integer(source: Array, target: np.dtype) -> Array:
    if source.dtype == np.bool_:
        return source.astype(target)
    whole = np.trunc(source.astype(np.float64))
    bounds = np.iinfo(target)
    if not (np.isfinite(whole) & (whole >= bounds.min) & (whole < float(bounds.max) + 1)).all():
        raise NotFoldable("the Cast overflows")
    return whole.astype(target)


def reshape(call: Call) -> tuple[Array, ...]:
    """Reshape; 0 copies the input's size unless `allowzero`."""
    data = call.array(0)
    target = call.ints(1, "shape") or []
    if not call.number("allowzero", 0):
        target = [data.shape[i] if size == 0 else size for i, size in enumerate(target)]
    return (data.reshape(target),)


def transpose(call: Call) -> tuple[Array, ...]:
    """Transpose; by default the axes are reversed."""
    data, perm = call.array(0), call.node.attributes.get("perm")
    axes = range(data.ndim)[::-1] if perm is None else perm.as_ints()
    return (data.transpose(tuple(axes)),)


def squeeze(call: Call) -> tuple[Array, ...]:
    """Squeeze."""
    axes = call.ints(1, "axes")
    return (np.squeeze(call.array(0), None if axes is None else tuple(axes)),)


def unsqueeze(call: Call) -> tuple[Array, ...]:
    """Unsqueeze."""
    return (np.expand_dims(call.array(0), tuple(call.ints(1, "axes") or ())),)


def flatten(call: Call) -> tuple[Array, ...]:
    """Flatten into two axes."""
    data, axis = call.array(0), call.number("axis", 1)
    rows = int(np.prod(data.shape[:axis], dtype=np.int64))
    return (data.reshape(rows, data.size // rows if rows else -1),)


def concat(call: Call) -> tuple[Array, ...]:
    """Concat."""
    arrays = call.arrays()
    return (np.concatenate(arrays, call.number("axis", 1)),)


def slice_(call: Call) -> tuple[Array, ...]:
    """Slice, with bounds as inputs or attributes."""
    data = call.array(0)
    starts, ends = call.ints(1, "starts") or [], call.ints(2, "ends") or []
    axes = call.ints(3, "axes") or list(range(len(starts)))
    steps = call.ints(4, "steps") or [1] * len(starts)
    parts = [slice(None)] * data.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        parts[axis] = _part(data.shape[axis], (start, end, step))
    return (solid(data[tuple(parts)]),)


def _part(size: int, bounds: tuple[int, int, int]) -> slice:
    start, end, step = bounds
    if step == 0:
        raise NotFoldable("Slice has a step of 0")
    if step > 0:
        return slice(start, end, step)
    # ONNX clamps an end before the first element to -1; Python would count it from the back
    start = min(max(start + size if start < 0 else start, 0), size - 1)
    end = end + size if end < 0 else end
    return slice(start, None if end < 0 else end, step) if size else slice(0, 0)


def gather(call: Call) -> tuple[Array, ...]:
    """Gather along one axis."""
    return (np.take(call.array(0), call.array(1), axis=call.number("axis", 0), mode="raise"),)


def gather_nd(call: Call) -> tuple[Array, ...]:
    """GatherND."""
    data, places = call.array(0), call.array(1)
    batch = call.number("batch_dims", 0)
    beside = (1,) * (places.ndim - 1 - batch)
    grid = np.meshgrid(*map(np.arange, data.shape[:batch]), indexing="ij")
    lead = [one.reshape(one.shape + beside) for one in grid]
    return (data[(*lead, *np.moveaxis(places, -1, 0))],)


def scatter_nd(call: Call) -> tuple[Array, ...]:
    """ScatterND; where several updates meet at one place, ONNX's own reference tells what comes."""
    if call.text("reduction", "none") != "none":
        return reference(call)
    result, places, updates = call.array(0).copy(), call.array(1), call.array(2)
    if updates.shape != (*places.shape[:-1], *result.shape[places.shape[-1] :]):
        raise NotFoldable("the updates are not of the shape that the indices ask for")
    result[tuple(np.moveaxis(places, -1, 0))] = updates
    return (result,)


def expand(call: Call) -> tuple[Array, ...]:
    """Expand to a shape it broadcasts with."""
    data = call.array(0)
    target = tuple(int(x) for x in call.array(1).reshape(-1))
    shape = np.broadcast_shapes(data.shape, target)
    return (np.broadcast_to(data, shape).copy(),)


def tile(call: Call) -> tuple[Array, ...]:
    """Tile."""
    return (np.tile(call.array(0), tuple(int(x) for x in call.array(1).reshape(-1))),)


def shape(call: Call) -> tuple[Array, ...]:
    """Shape, or a part of it."""
    sizes = call.array(0).shape
    start, end = call.number("start", 0), call.number("end", len(sizes))
    return (np.array(sizes[start:end], np.int64),)


def size(call: Call) -> tuple[Array, ...]:
    """Size."""
    return (np.array(call.array(0).size, np.int64),)


def constant_of_shape(call: Call) -> tuple[Array, ...]:
    """ConstantOfShape; float32 zeros by default."""
    value = call.node.attributes.get("value")
    fill = np.zeros(1, np.float32) if value is None else tensor_in(value).numpy()
    sizes = tuple(int(x) for x in call.array(0).reshape(-1))
    return (np.full(sizes, fill.reshape(-1)[0], dtype=fill.dtype),)


def range_(call: Call) -> tuple[Array, ...]:
    """Range."""
    start, limit, delta = (call.array(index).reshape(()) for index in range(3))
    count = max(int(np.ceil((float(limit) - float(start)) / float(delta))), 0)
    if np.issubdtype(start.dtype, np.integer):
        count = max(-((int(start) - int(limit)) // int(delta)), 0)
    return ((start + np.arange(count, dtype=start.dtype) * delta).astype(start.dtype),)


def pad(call: Call) -> tuple[Array, ...]:
    """Pad with a constant; the other modes are left to the runtime."""
    data, pads = call.array(0), call.ints(1, "pads") or []
    if call.text("mode", "constant") != "constant" or min(pads, default=0) < 0:
        raise NotFoldable("only padding with a constant is folded")
    if call.opset < 11:
        value = call.node.attributes.get("value")
        fill: object = 0.0 if value is None else value.as_float()
    else:
        fill = call.array(2).reshape(-1)[0] if call.has(2) else 0
    axes = call.ints(3, "axes") if call.has(3) else list(range(data.ndim))
    widths = [(0, 0)] * data.ndim
    for position, axis in enumerate(axes or []):
        widths[axis] = (pads[position], pads[position + len(axes or [])])
    padded = np.full([size + sum(w) for size, w in zip(data.shape, widths, strict=True)], fill)
    inner = tuple(slice(w[0], w[0] + size) for size, w in zip(data.shape, widths, strict=True))
    padded = padded.astype(data.dtype)
    padded[inner] = data
    return (padded,)


def split(call: Call) -> tuple[Array, ...]:
    """Split into given or equal parts."""
    data, axis, parts = call.array(0), call.number("axis", 0), len(call.node.outputs)
    sizes = call.ints(1, "split")
    if sizes is None:
        step = -(-data.shape[axis] // parts)
        sizes = [step] * (parts - 1) + [data.shape[axis] - step * (parts - 1)]
    pieces = np.split(data, np.cumsum(sizes)[:-1].tolist(), axis)
    return tuple(solid(piece) for piece in pieces)


def matmul(call: Call) -> tuple[Array, ...]:
    """MatMul."""
    left, right = call.array(0), call.array(1)
    if left.dtype != right.dtype:
        raise NotFoldable("MatMul mixes element types")
    return (np.asarray(np.matmul(left, right)),)


def reduction(function: Callable[..., Array]) -> Kernel:
    """A kernel from a numpy reduction."""

    def kernel(call: Call) -> tuple[Array, ...]:
        data, axes = call.array(0), call.ints(1, "axes")
        if not axes and call.number("noop_with_empty_axes", 0):
            return (data,)
        where = tuple(axes) if axes else None
        kept = bool(call.number("keepdims", 1))
        return (np.asarray(function(data, axis=where, keepdims=kept)).astype(data.dtype),)

    return kernel
