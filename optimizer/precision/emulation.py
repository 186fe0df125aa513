"""A network of 16 bits as a CPU has to compute it to tell what a device with 16 bits would give.

ONNX Runtime has few kernels of 16 bits on a CPU. Where it has none, it casts to float32 and back,
and then leaves out the casts between two such operators: nothing is rounded and nothing overflows
there, and of bfloat16 many operators do not load at all. Here every operator computes in float32,
as tensor cores collect sums, and each of its results is rounded to 16 bits by casts of the graph,
which the runtime keeps.
"""

from __future__ import annotations

from collections.abc import Collection

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.precision.float_formats import FORMATS
from optimizer.precision.sixteen_bits import FLOAT

_HALVES = frozenset(form.dtype for form in FORMATS.values())


def has_16_bits(model: ir.Model) -> bool:
    """Whether a graph has numbers of 16 bits: constants, inputs, or what a Cast makes."""
    graph = model.graph
    if any(value.dtype in _HALVES for value in (*graph.inputs, *graph.initializers.values())):
        return True
    return any(
        node.op_type == "Cast" and node.attributes.get_int("to", 0) in map(int, _HALVES)
        for node in graph
    )


def emulated(model: ir.Model, *, as_float32: Collection[str] = ()) -> ir.Model:
    """A copy in which nothing but casts, inputs, outputs and constants have 16 bits.

    Bodies stay as they are.

    Args:
        model: with types.
        as_float32: names of inputs and outputs that are float32 in the copy.
    """
    copy = model.clone()
    _take_float32(copy.graph, as_float32)
    for node in tuple(copy.graph):
        if not is_constant_node(node) and (node.domain or node.op_type != "Cast"):
            _widen(node, copy.graph)
    return copy


def _take_float32(graph: ir.Graph, names: Collection[str]) -> None:
    """Have inputs and outputs of these names cast inside."""
    for value in graph.inputs:
        dtype, first = value.dtype, next(iter(graph), None)
        if value.name in names and dtype and dtype in _HALVES and first is not None:
            uses = tuple(value.uses())
            down = _cast(value, dtype)
            value.type = ir.TensorType(FLOAT)
            graph.insert_before(first, down)
            for use in uses:
                use.node.replace_input_with(use.idx, down.outputs[0])
    for place, value in enumerate(graph.outputs):
        last = value.producer()
        if value.name in names and value.dtype in _HALVES and last is not None:
            up = _cast(value, FLOAT)
            graph.insert_after(last, up)
            up.outputs[0].name, value.name = value.name, f"{value.name}_inside"
            graph.outputs[place] = up.outputs[0]


def _cast(value: ir.Value, dtype: ir.DataType) -> ir.Node:
    node = ir.node("Cast", [value], {"to": int(dtype)})
    node.outputs[0].type, node.outputs[0].shape = ir.TensorType(dtype), value.shape
    return node


def _widen(node: ir.Node, graph: ir.Graph) -> None:
    """Let one node compute in float32."""
    for index, value in enumerate(node.inputs):
        if value is not None and value.dtype in _HALVES:
            up = _cast(value, FLOAT)
            graph.insert_before(node, up)
            node.replace_input_with(index, up.outputs[0])
    for value in node.outputs:
        dtype = value.dtype
        if dtype is None or dtype not in _HALVES:
            continue
        uses, outputs = tuple(value.uses()), [o is value for o in graph.outputs]
        down = _cast(value, dtype)
        value.type = ir.TensorType(FLOAT)
        graph.insert_after(node, down)
        for use in uses:
            use.node.replace_input_with(use.idx, down.outputs[0])
        for place in (index for index, found in enumerate(outputs) if found):
            down.outputs[0].name, value.name = value.name, f"{value.name}_rounded"
            graph.outputs[place] = down.outputs[0]
