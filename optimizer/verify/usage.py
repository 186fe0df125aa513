"""What an input is used for, read off the graph: indexes, masks, positions, shapes, divisors.

Values are followed forward through operators that do not change them, into bodies and model
functions, until something says which numbers make sense there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.dimension import Dimension, symbol
from optimizer.operators.call import Call, Fact
from optimizer.operators.catalogue import operator_of
from optimizer.verify.sizes import evaluate

_MAX_VISITED = 20_000
_UNKNOWN_AXIS = 2
"""Assumed size of an indexed axis whose size is not known."""

_LOGIC = frozenset({"And", "Not", "Or", "Xor"})


@dataclass(slots=True)
class InputUsage:
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


def usage_of(value: ir.Value, model: ir.Model, sizes: Mapping[str, int]) -> InputUsage:
    """How `value` is used in `model`, given the sizes of free dimensions."""
    usage = InputUsage()
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
    usage: InputUsage, node: ir.Node, index: int, sizes: Mapping[str, int], *, offset: int
) -> None:
    """What one use says."""
    if (below := _below(node, index, sizes)) is not None:
        usage.below.append(max(1, below - offset))
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


def _below(node: ir.Node, index: int, sizes: Mapping[str, int]) -> int | None:
    """What indices at an input must stay below; None where it holds none."""
    operator = operator_of(node)
    rule = None if operator is None else operator.indexes.get(index)
    if rule is None:
        return None
    size = rule(Call(node, lambda value: Fact(shape=_shape(value, sizes))))
    return size if isinstance(size, int) else _UNKNOWN_AXIS


def _shape(value: ir.Value, sizes: Mapping[str, int]) -> tuple[Dimension, ...] | None:
    tensor = constant_of(value)
    shape = tensor.shape if value.shape is None and tensor is not None else value.shape
    if shape is None:
        return None
    dims = (evaluate(dim if isinstance(dim, int) else dim.value, sizes) for dim in shape)
    return tuple(symbol("?") if dim is None else dim for dim in dims)


def _scalar(node: ir.Node, position: int) -> float | None:
    """The constant at an input, if it is one number."""
    if position >= len(node.inputs) or (value := node.inputs[position]) is None:
        return None
    tensor = constant_of(value)
    if tensor is None or tensor.size != 1 or tensor.dtype == ir.DataType.STRING:
        return None
    number = float(tensor.numpy().reshape(-1)[0])
    return number if abs(number) < 2**53 else None
