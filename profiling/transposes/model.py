"""A Transpose as a model of its own, in which nothing is timed that is the caller's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from optimizer.layout.transposes import MovedTensor
from optimizer.model.loader import load_bytes
from optimizer.model.writer import to_bytes
from optimizer.passes.layout.reduce_transposes import ReduceTransposes
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize


def elements_of(tensor: MovedTensor) -> np.dtype:
    """The type of its elements in numpy."""
    return ir.DataType[tensor.dtype].numpy()


def models_of(tensor: MovedTensor) -> tuple[bytes, bytes, bytes]:
    """ONNX files of one input `x`: nothing moved, as written, as `reduce-transposes` writes it.

    Between a copy of the input and a Slice of the result's first element: so neither the input nor
    the result is the caller's, which the runtime may not share.
    """
    empty, written = (_model(tensor, transposed=one) for one in (False, True))
    model = load_bytes(written, name="transpose")
    optimize(model, Pipeline((ReduceTransposes(least_bytes=0),)))
    return empty, written, to_bytes(model.ir)


def _model(tensor: MovedTensor, *, transposed: bool) -> bytes:
    kind, rank = ir.TensorType(ir.DataType[tensor.dtype]), len(tensor.perm)
    data = ir.Value(name="x", shape=ir.Shape(tensor.shape), type=kind)
    nodes = [ir.node("Identity", [data])]
    _typed(nodes[0], kind, tensor.shape)
    if transposed:
        nodes.append(ir.node("Transpose", nodes[0].outputs, {"perm": list(tensor.perm)}))
        _typed(nodes[1], kind, [tensor.shape[axis] for axis in tensor.perm])
    bounds = [ir.tensor(np.full(rank, end), name=f"to_{end}") for end in (0, 1)]
    ends = [ir.Value(name=one.name, const_value=one) for one in bounds]
    nodes.append(ir.node("Slice", [nodes[-1].outputs[0], *ends]))
    _typed(nodes[-1], kind, [1] * rank)
    nodes[-1].outputs[0].name = "y"
    graph = ir.Graph(
        [data], nodes[-1].outputs, nodes=nodes, initializers=ends, opset_imports={"": 17}, name="t"
    )
    return to_bytes(ir.Model(graph, ir_version=8))


def _typed(node: ir.Node, kind: ir.TensorType, shape: Sequence[int]) -> None:
    node.outputs[0].type, node.outputs[0].shape = kind, ir.Shape(shape)
