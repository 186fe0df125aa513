"""A network of 16 bits as a CPU has to compute it to tell what a device with 16 bits would give.

ONNX Runtime has few kernels of 16 bits on a CPU. Where it has none, it casts to float32 and back,
and then leaves out the casts between two such operators: nothing is rounded and nothing overflows
there, and of bfloat16 many operators do not load at all. Here every operator computes in float32,
as tensor cores collect sums, and each of its results is rounded to 16 bits by casts of the graph,
which the runtime keeps.
"""

from __future__ import annotations

import onnx_ir as ir

from optimizer.constants import is_constant_node
from optimizer.precision.float_formats import FORMATS
from optimizer.precision.sixteen_bits import FLOAT

_HALVES = frozenset(form.dtype for form in FORMATS.values())


def emulated(model: ir.Model) -> ir.Model:
    """A copy in which nothing but casts, inputs, outputs and constants have 16 bits.

    Bodies stay as they are.
    """
    copy = model.clone()
    for node in tuple(copy.graph):
        if not is_constant_node(node) and (node.domain or node.op_type != "Cast"):
            _widen(node, copy.graph)
    return copy


def _widen(node: ir.Node, graph: ir.Graph) -> None:
    """Let one node compute in float32."""
    for index, value in enumerate(node.inputs):
        if value is not None and value.dtype in _HALVES:
            up = ir.node("Cast", [value], {"to": int(FLOAT)})
            up.outputs[0].type, up.outputs[0].shape = ir.TensorType(FLOAT), value.shape
            graph.insert_before(node, up)
            node.replace_input_with(index, up.outputs[0])
    for value in node.outputs:
        dtype = value.dtype
        if dtype is None or dtype not in _HALVES:
            continue
        uses, outputs = tuple(value.uses()), [o is value for o in graph.outputs]
        down = ir.node("Cast", [value], {"to": int(dtype)})
        down.outputs[0].type, down.outputs[0].shape = ir.TensorType(dtype), value.shape
        value.type = ir.TensorType(FLOAT)
        graph.insert_after(node, down)
        for use in uses:
            use.node.replace_input_with(use.idx, down.outputs[0])
        for place in (index for index, found in enumerate(outputs) if found):
            down.outputs[0].name, value.name = value.name, None
            graph.outputs[place] = down.outputs[0]
