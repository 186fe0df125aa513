"""What the tests of libraries run in workers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper

from optimizer.dimension import Dimension
from optimizer.loops.algorithm import Algorithm
from optimizer.operators.generated import GENERATED
from optimizer.verify.values import array_of, value_of
from profiling.codegen.kernel import Kernel

Array = np.ndarray[Any, Any]


def model_of(name: str, algorithm: Algorithm) -> onnx.ModelProto:
    """One node."""
    inputs = [
        helper.make_tensor_value_info(one.name, one.dtype.value, [_dim(d) for d in one.shape])
        for one in algorithm.inputs
    ]
    outputs = [
        helper.make_tensor_value_info(name, algorithm.by_name[name].dtype.value, None)
        for name in algorithm.outputs
    ]
    names = [one.name for one in algorithm.inputs]
    node = helper.make_node(name, names, [*algorithm.outputs], domain=GENERATED)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(GENERATED, 1)]
    graph = helper.make_graph([node], "kernel", inputs, outputs)
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def _dim(extent: Dimension) -> int | str:
    return extent if isinstance(extent, int) else str(extent)


def session_of(library: Path, model: onnx.ModelProto, threads: int = 1) -> Any:
    import onnxruntime

    ort: Any = onnxruntime
    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    options.enable_cpu_mem_arena = False  # a tensor's memory is its own: sanitizers see its end
    options.register_custom_ops_library(str(library))
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run_each(
    library: Path, cases: Sequence[tuple[Kernel, Sequence[Sequence[Array]]]], threads: int = 1
) -> list[list[list[Array]]]:
    """What each kernel makes of each of its inputs."""
    found: list[list[list[Array]]] = []
    for kernel, feeds in cases:
        session = session_of(library, model_of(kernel.name, kernel.algorithm), threads)
        names = [one.name for one in kernel.algorithm.inputs]
        fed = [dict(zip(names, map(value_of, one), strict=True)) for one in feeds]
        made = [session.run_with_ort_values(None, one) for one in fed]
        found.append([[array_of(value) for value in values] for values in made])
    return found


def refusal(library: Path, kernel: Kernel, feeds: Sequence[Array]) -> str:
    """What it says of inputs that it does not take, in a model that does not know better."""
    model = model_of(kernel.name, kernel.algorithm)
    for value, feed in zip(model.graph.input, feeds, strict=True):
        kind = value.type.tensor_type.elem_type
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, [None] * feed.ndim))
    try:
        session = session_of(library, model)
        session.run(None, dict(zip([one.name for one in model.graph.input], feeds, strict=True)))
    except Exception as error:  # the runtime has a dozen classes for this
        return str(error)
    return ""


def told_shapes(
    library: Path, kernel: Kernel, shapes: Sequence[Sequence[int | str]]
) -> list[object]:
    """Shapes of the outputs as the runtime knows them before it runs."""
    model = model_of(kernel.name, kernel.algorithm)
    for value, shape in zip(model.graph.input, shapes, strict=True):
        kind = value.type.tensor_type.elem_type
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, shape))
    return [one.shape for one in session_of(library, model).get_outputs()]
