"""A block of a model as a model of its own: same operators, same sizes, same weights."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.errors import StudioError
from optimizer.passes.kernels.block import Block
from profiling.kernels.workload import SizeOf, TensorSize, size_of

OUTPUT = "result"


class NotExtractable(StudioError):
    """A block cannot stand alone; the message says why."""


def extract(block: Block, sizes: SizeOf, model: ir.Model) -> ir.Model:
    """The block alone. What other operators computed becomes an input of its real size.

    Inputs are called `x0`, `x1`, …, the only output `result`; weights keep their data.

    Raises:
        NotExtractable: a size is unknown, or an input is no tensor.
    """
    inputs: list[ir.Value] = []
    weights: list[ir.Value] = []
    known: dict[ir.Value, ir.Value] = {}
    for value in block.inputs:
        size = size_of(value, sizes)
        if size is None:
            raise NotExtractable(f"The size of '{value.name}' is not known.")
        tensor = constant_of(value)
        if tensor is None:
            known[value] = _value(f"x{len(inputs)}", size)
            inputs.append(known[value])
        else:
            known[value] = _value(f"w{len(weights)}", size)
            known[value].const_value = tensor
            weights.append(known[value])
    nodes = [_copied(node, known, sizes) for node in block.nodes]
    result = known[block.output]
    result.name = OUTPUT
    size = size_of(block.output, sizes)
    if size is None or not inputs:
        raise NotExtractable("It has no tensor of known size to work on.")
    result.type, result.shape = _type(size), ir.Shape(size.shape)
    graph = ir.Graph(
        inputs,
        [result],
        nodes=nodes,
        initializers=weights,
        opset_imports=dict(model.opset_imports),
        name="workload",
    )
    return ir.Model(graph, ir_version=model.ir_version or 8, producer_name="passlens")


def _copied(node: ir.Node, known: dict[ir.Value, ir.Value], sizes: SizeOf) -> ir.Node:
    outputs: list[ir.Value] = []
    for number, old in enumerate(node.outputs):
        size = size_of(old, sizes)
        name = f"{node.name}.{number}" if old.name else ""
        new = ir.Value(name=name) if size is None else _value(name, size)
        known[old] = new
        outputs.append(new)
    return ir.Node(
        node.domain,
        node.op_type,
        [None if value is None else known[value] for value in node.inputs],
        list(node.attributes.values()),
        outputs=outputs,
        name=node.name,
    )


def _value(name: str, size: TensorSize) -> ir.Value:
    return ir.Value(name=name, type=_type(size), shape=ir.Shape(size.shape))


def _type(size: TensorSize) -> ir.TensorType:
    return ir.TensorType(ir.DataType[size.dtype])
