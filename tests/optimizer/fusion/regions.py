"""Whole test graphs as one region: their loops computed in NumPy, and what ONNX Runtime gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from optimizer.fusion.algorithm import algorithm_of
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.evaluation import evaluate
from optimizer.model.symbolic import SymbolicValues
from tests.optimizer.graphs import opened


def region_of(source: str | onnx.ModelProto) -> tuple[Algorithm, list[str]]:
    """The loops of all nodes of a graph, and which of its inputs they read, by name.

    Constants of more than 16 elements are inputs, too.

    Raises:
        NotGenerated: as `algorithm_of`.
    """
    model = opened(source).ir
    graph = model.graph
    inputs = [value for value in graph.inputs if value.name not in graph.initializers]
    inputs += [v for v in graph.initializers.values() if v.const_value and v.const_value.size > 16]
    known = SymbolicValues(model).fact
    found = algorithm_of(list(graph), inputs, graph.outputs, known, model.opset_imports[""])
    return found, [value.name or "" for value in inputs]


def computed(source: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """What the loops give.

    Raises:
        NotGenerated: as `algorithm_of`.
    """
    algorithm, names = region_of(source)
    constants = {one.name: onnx.numpy_helper.to_array(one) for one in source.graph.initializer}
    return evaluate(algorithm, [{**constants, **feeds}[name] for name in names])
