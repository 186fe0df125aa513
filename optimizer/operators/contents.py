"""Small integer tensors followed by value: where their elements come from and go to."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from optimizer.constants import constant_tensor
from optimizer.dimension import Dimension, product
from optimizer.operators.arithmetic import content_of
from optimizer.operators.call import INTEGERS, MAX_CONTENT, Call, Content, Dim
from optimizer.operators.operands import shape_part, slice_bounds, split_sizes


def tensor_content(tensor: ir.TensorProtocol) -> Content:
    """The elements of a small integer tensor, None for any other."""
    if tensor.dtype not in INTEGERS or tensor.size > MAX_CONTENT:
        return None
    array = tensor.numpy()
    return int(array) if array.ndim == 0 else tuple(int(element) for element in array.ravel())


def _array(call: Call, index: int) -> np.ndarray | None:
    """The elements in a numpy array of objects, in the tensor's own shape."""
    fact = call.fact(index)
    if fact.shape is None or not isinstance(fact.content, tuple):
        return None
    elements = np.empty(len(fact.content), dtype=object)
    elements[:] = fact.content
    return elements.reshape([dim for dim in fact.shape if isinstance(dim, int)])


def identity(call: Call) -> list[Content]:
    """The same."""
    return [call.fact(0).content]


def shape_of(call: Call) -> list[Content]:
    """The dimensions of the input."""
    shape = call.shape(0)
    return [None if shape is None else shape_part(call, shape)]


def size_of(call: Call) -> list[Content]:
    """All dimensions multiplied."""
    shape = call.shape(0)
    return [None if shape is None else product(shape)]


def constant(call: Call) -> list[Content]:
    """A small constant."""
    tensor = constant_tensor(call.node)
    return [None if tensor is None else tensor_content(tensor)]


def gather(call: Call) -> list[Content]:
    """Elements by known positions."""
    data, indices = content_of(call, 0), call.fact(1).content
    if not isinstance(data, tuple) or indices is None:
        return [None]
    if isinstance(indices, tuple):
        return [tuple(_element(data, index) for index in indices)]
    return [_element(data, indices)]


def _element(data: tuple[Dim, ...], index: Dim) -> Dim:
    inside = isinstance(index, int) and -len(data) <= index < len(data)
    return data[index] if inside and isinstance(index, int) else None


def concat(call: Call) -> list[Content]:
    """One after the other; unknown parts of known length stay as gaps."""
    joined: tuple[Dim, ...] = ()
    for index in call.inputs:
        part = content_of(call, index)
        if not isinstance(part, tuple) or len(joined) > MAX_CONTENT:
            return [None]
        joined += part
    return [joined]


def split(call: Call) -> list[Content]:
    """Consecutive parts."""
    data = content_of(call, 0)
    if not isinstance(data, tuple):
        return []
    parts: list[Content] = []
    start = 0
    for size in split_sizes(call, len(data), len(call.node.outputs)):
        if not isinstance(size, int):
            return []
        parts.append(data[start : start + size])
        start += size
    return parts


def slice_(call: Call) -> list[Content]:
    """A part between known positions."""
    data = _array(call, 0)
    bounds = None if data is None else slice_bounds(call, data.ndim)
    if data is None or bounds is None:
        return [None]
    for axis, (start, end, step) in bounds.items():
        if not isinstance(start, int) or not isinstance(end, int) or not isinstance(step, int):
            return [None]
        if step == 0:
            return [None]
        stop = None if step < 0 and end < -data.shape[axis] else end
        data = data[(slice(None),) * axis + (slice(start, stop, step),)]
    return [tuple(data.ravel().tolist())]


def transpose(call: Call) -> list[Content]:
    """Axes in another order."""
    data = _array(call, 0)
    return [None if data is None else tuple(data.transpose(call.numbers("perm")).ravel().tolist())]


def tile(call: Call) -> list[Content]:
    """A vector repeated."""
    elements, repeats = content_of(call, 0), call.integers(1)
    if not isinstance(elements, tuple) or not repeats or repeats[0] > MAX_CONTENT:
        return [None]
    return [elements * repeats[0]]


def rearranged(call: Call) -> list[Content]:
    """The elements in their order; the output's shape tells a scalar from a vector of one."""
    return [call.fact(0).content]


def constant_of_shape(call: Call) -> list[Content]:
    """The fill value, as often as needed."""
    sizes, value = call.integers(0), call.tensor("value")
    if value is None or sizes is None or len(sizes) > 1 or value.dtype not in INTEGERS:
        return [None]
    fill = int(value.numpy().ravel()[0])
    if not sizes:
        return [fill]
    return [(fill,) * sizes[0] if 0 <= sizes[0] <= MAX_CONTENT else None]


def range_(call: Call) -> list[Content]:
    """Consecutive numbers between known bounds."""
    bounds = [call.integers(index) for index in range(3)]
    numbers = [bound[0] for bound in bounds if bound]
    if len(numbers) != 3 or numbers[2] == 0:
        return [None]
    found = range(*numbers)
    return [tuple(found) if len(found) <= MAX_CONTENT else None]


def fitted(content: Content, dtype: ir.DataType, shape: tuple[Dimension, ...] | None) -> Content:
    """The content in the form that the output's shape asks for; None where it cannot be so.

    Numbers outside the element type would have wrapped around: those become unknown.
    """
    count = product(shape) if content is not None and shape is not None else None
    if content is None or shape is None or not isinstance(count, int) or count > MAX_CONTENT:
        return None
    elements = content if isinstance(content, tuple) else (content,)
    if len(elements) == 1:
        elements = elements * count  # Expand
    elements = tuple(_in_range(element, dtype) for element in elements)
    if len(elements) != count or (count and all(element is None for element in elements)):
        return None
    return elements if shape else elements[0]


def _in_range(element: Dim, dtype: ir.DataType) -> Dim:
    if element is None or dtype not in INTEGERS:
        return None
    if dtype == ir.DataType.BOOL:
        return element if isinstance(element, int) and element in (0, 1) else None
    signed = dtype.name.startswith("INT")
    if isinstance(element, int):
        half = dtype.bitwidth - signed
        return element if (-(1 << half) if signed else 0) <= element < 1 << half else None
    if signed and dtype.bitwidth >= 32:
        return element  # sizes of tensors that exist fit
    return None
