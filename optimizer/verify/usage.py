"""What an input is used for, read off the graph: indexes, masks, positions, shapes, divisors.

Values are followed forward through operators that do not change them, into bodies and model
functions, until something says which numbers make sense there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.operators.catalogue import operator_of
from optimizer.verify.sizes import evaluate

_MAX_VISITED = 20_000
_UNKNOWN_AXIS = 2
"""Assumed size of an indexed axis whose size is not known."""

_LOGIC = frozenset({"And", "Not", "Or", "Xor"})


@dataclass(slots=True)
class Usage:
    """What was found out about one input.

    Attributes:
        below: the values index axes of these sizes.
        equals: constants that the values are compared with.
        mask: the values decide between two things.
        shape: the values are sizes, counts or axes.
        divisor: something is divided by the values.
    """

    below: list[int] = field(default_factory=list[int])
    equals: list[int] = field(default_factory=list[int])
    mask: bool = False
    shape: bool = False
    divisor: bool = False


def usage_of(value: ir.Value, model: ir.Model, sizes: Mapping[str, int]) -> Usage:
    """How `value` is used in `model`, given the sizes of free dimensions."""
    usage = Usage()
    queue: list[tuple[ir.Value, int]] = [(value, 0)]  # with what has been added to it so far
    seen = {id(value)}
    while queue and len(seen) < _MAX_VISITED:
        current, offset = queue.pop()
        for node, index in current.uses():
            _note(usage, node, index, sizes, offset=offset)
            for following, added in _followed(node, index, model):
                if id(following) not in seen:
                    seen.add(id(following))
                    queue.append((following, offset + added))
    return usage


def _note(
    usage: Usage, node: ir.Node, index: int, sizes: Mapping[str, int], *, offset: int
) -> None:
    """What one use says."""
    limit = _INDEXED.get((node.op_type, index))
    if limit is not None:
        size = limit(node, sizes)
        usage.below.append(max(1, (_UNKNOWN_AXIS if size is None else size) - offset))
    operator = operator_of(node)
    if operator is not None and index in operator.shape_inputs:
        usage.shape = True
    if node.op_type in ("Div", "Mod") and index == 1:
        usage.divisor = True
    if node.op_type in _LOGIC or (node.op_type in ("Where", "If", "Compress") and not index):
        usage.mask = True
    if node.op_type == "Sub" and index == 1 and _scalar(node, 0) == 1:
        usage.mask = True  # 1 - mask
    if node.op_type == "Equal" and (other := _scalar(node, 1 - index)) is not None:
        usage.equals.append(int(other) - offset)


def _followed(node: ir.Node, index: int, model: ir.Model) -> Iterator[tuple[ir.Value, int]]:
    """Values that carry the same numbers on, with what the node adds to them."""
    op_type = node.op_type
    operator = operator_of(node)
    if operator is not None and operator.carries and (index == 0 or op_type == "Concat"):
        yield from ((output, 0) for output in node.outputs)
    elif op_type == "Where" and index > 0:
        yield node.outputs[0], 0
    elif op_type in ("Add", "Sub") and (other := _scalar(node, 1 - index)) is not None:
        if op_type == "Add" or index == 0:
            yield node.outputs[0], round(other) if op_type == "Add" else -round(other)
    elif op_type in ("Loop", "Scan") and index > (0 if op_type == "Scan" else 1):
        body = node.attributes["body"].as_graph()
        if index < len(body.inputs):
            yield body.inputs[index], 0
    elif node.op_identifier() in model.functions:
        function = model.functions[node.op_identifier()]
        if index < len(function.inputs):
            yield function.inputs[index], 0


def _axis_of(position: int, *, default: int = 0, name: str = "axis") -> _Limit:
    """Size of the indexed axis of input `position`."""

    def limit(node: ir.Node, sizes: Mapping[str, int]) -> int | None:
        attribute = node.attributes.get(name)
        axis = attribute.as_int() if attribute is not None else default
        return _dim(node, position, axis, sizes)

    return limit


def _leading(node: ir.Node, sizes: Mapping[str, int]) -> int | None:
    """Smallest of the axes that GatherND or ScatterND index."""
    indices = node.inputs[1]
    depth = 1
    if indices is not None and indices.shape is not None and len(indices.shape):
        last = indices.shape[-1]
        depth = last if isinstance(last, int) else 1
    batch = node.attributes.get("batch_dims")
    first = batch.as_int() if batch is not None else 0
    found = [_dim(node, 0, axis, sizes) for axis in range(first, first + depth)]
    return min((size for size in found if size is not None), default=None)


def _depth(node: ir.Node, _sizes: Mapping[str, int]) -> int | None:
    depth = _scalar(node, 1)
    return None if depth is None else int(depth)


def _one(_node: ir.Node, _sizes: Mapping[str, int]) -> int:
    return 1


_Limit = Callable[[ir.Node, Mapping[str, int]], int | None]
_INDEXED: dict[tuple[str, int], _Limit] = {
    ("ArrayFeatureExtractor", 1): _axis_of(0, default=-1),
    ("EmbedLayerNormalization", 0): _axis_of(2),
    ("EmbedLayerNormalization", 1): _axis_of(4),
    ("Gather", 1): _axis_of(0),
    ("GatherBlockQuantized", 1): _axis_of(0, name="gather_axis"),
    ("GatherElements", 1): _axis_of(0),
    ("GatherND", 1): _leading,
    ("OneHot", 0): _depth,
    ("ScatterElements", 1): _axis_of(0),
    ("Scatter", 1): _axis_of(0),
    ("ScatterND", 1): _leading,
    ("SequenceAt", 1): _one,
}


def _dim(node: ir.Node, position: int, axis: int, sizes: Mapping[str, int]) -> int | None:
    if position >= len(node.inputs) or (value := node.inputs[position]) is None:
        return None
    shape = value.shape
    if shape is None and (tensor := constant_of(value)) is not None:
        shape = tensor.shape
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    dim = shape[axis]
    return evaluate(dim if isinstance(dim, int) else dim.value, sizes)


def _scalar(node: ir.Node, position: int) -> float | None:
    """The constant at an input, if it is one number."""
    if position >= len(node.inputs) or (value := node.inputs[position]) is None:
        return None
    tensor = constant_of(value)
    if tensor is None or tensor.size != 1 or tensor.dtype == ir.DataType.STRING:
        return None
    number = float(tensor.numpy().reshape(-1)[0])
    return number if abs(number) < 2**53 else None
