"""Shape inference of others, made to run in a worker process: bytes in, plain data out.

The model that travels is weight-free: large tensors are described, not sent.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
from collections.abc import Iterator

import onnx
import onnx_ir as ir

from optimizer.constants import is_absent
from optimizer.errors import StudioError, quoted
from optimizer.model.storage import store_inline
from optimizer.model.writer import to_proto
from optimizer.operators.call import INTEGERS, MAX_CONSTANT

Inferred = tuple[int, tuple[int | str | None, ...] | None]
"""Element type and dimensions of one value."""

Inference = list[dict[str, Inferred]]
"""What is known by value name, one table a graph: the main graph, then bodies in document order."""

_INCOMPLETE = "Incomplete symbolic shape inference"
_OPEN = 1 << 31  # sizes that ONNX Runtime's inference reads as "to the end"


def weight_free(model: ir.Model) -> bytes:
    """The model with small integer tensors as they are and all others without their data."""
    proto = to_proto(model, _describe)
    kept = [tensor for tensor in proto.graph.initializer if not _is_hollow(tensor)]
    declared = {value.name for value in proto.graph.input}
    for tensor in proto.graph.initializer:
        if _is_hollow(tensor) and tensor.name not in declared:
            proto.graph.input.append(
                onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            )
    del proto.graph.initializer[:]
    proto.graph.initializer.extend(kept)
    return proto.SerializeToString(deterministic=True)


def _describe(proto: onnx.TensorProto, tensor: ir.TensorProtocol) -> None:
    small = tensor.size <= (MAX_CONSTANT if tensor.dtype in INTEGERS else 16)
    if small and not is_absent(tensor):
        store_inline(proto, tensor)
        return
    proto.data_type = tensor.dtype.value
    proto.dims.extend(tensor.shape.numpy())
    proto.data_location = onnx.TensorProto.EXTERNAL  # marks it: nothing reads the missing data


def _is_hollow(tensor: onnx.TensorProto) -> bool:
    return tensor.data_location == onnx.TensorProto.EXTERNAL


def infer_with_onnx(data: bytes) -> Inference:
    """ONNX's own inference with data propagation. Runs in a worker.

    Raises:
        StudioError: it gave up.
    """
    model = onnx.load_from_string(data)
    try:
        inferred = onnx.shape_inference.infer_shapes(
            model, check_type=False, strict_mode=False, data_prop=True
        )
    except Exception as error:  # whatever native code and its bindings raise
        raise StudioError(_reason(error)) from error
    return _tables(inferred)


def infer_with_runtime(data: bytes) -> Inference:
    """ONNX Runtime's symbolic inference, which never merges sizes on a guess. Runs in a worker.

    Returns: nothing at all where it could not complete the graph: it keeps no partial answer.

    Raises:
        StudioError: it gave up.
    """
    # Imports sympy: half a second that only a worker should pay.
    from onnxruntime.tools import symbolic_shape_infer

    logging.getLogger(symbolic_shape_infer.__name__).setLevel(logging.CRITICAL)
    model = onnx.load_from_string(data)
    try:
        # What it could not complete it leaves as a file where it runs.
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            inferred = symbolic_shape_infer.SymbolicShapeInference.infer_shapes(
                model, int_max=_OPEN - 1, auto_merge=False, guess_output_rank=False, verbose=0
            )
    except Exception as error:  # it raises plain Exception, and Python's own errors when surprised
        if _INCOMPLETE in str(error):
            return []
        raise StudioError(_reason(error)) from error
    return [] if inferred is None else _tables(inferred)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {quoted(str(error) or 'no message')}."


def _tables(model: onnx.ModelProto) -> Inference:
    return [
        {
            value.name: _inferred(value.type.tensor_type)
            for values in (graph.value_info, graph.output)
            for value in values
            if value.type.HasField("tensor_type")
        }
        for graph in _graphs(model.graph)
    ]


def _inferred(tensor: onnx.TypeProto.Tensor) -> Inferred:
    if not tensor.HasField("shape"):
        return tensor.elem_type, None
    return tensor.elem_type, tuple(
        dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
        for dim in tensor.shape.dim
    )


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """The graph and its bodies in document order; the loader bounds the depth."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _graphs(attribute.g)
            for body in attribute.graphs:
                yield from _graphs(body)
