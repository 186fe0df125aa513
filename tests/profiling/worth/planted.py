"""A model in which one rewrite among many is worth something."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from optimizer.model.loader import load_bytes
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace

_SIZE = 384
_CHEAP = ("Abs", "Ceil", "Cos", "Exp", "Floor", "Neg", "Sigmoid")


def wasteful() -> bytes:
    """Everything is computed twice: seven cheap operators, and in their middle a large MatMul."""
    weights = np.random.default_rng(0).standard_normal((_SIZE, _SIZE)).astype(np.float32)
    nodes = [helper.make_node("Identity", ["x"], ["copy"])]
    outputs = [helper.make_tensor_value_info("big", TensorProto.FLOAT, [_SIZE, _SIZE])]
    for operator in (*_CHEAP[:4], "MatMul", *_CHEAP[4:]):
        inputs, result = (["big_x", "w"], "big") if operator == "MatMul" else (["copy"], operator)
        nodes += [helper.make_node(operator, inputs, [f"{result}_{i}"]) for i in range(2)]
        nodes.append(helper.make_node("Add", [f"{result}_0", f"{result}_1"], [result]))
        if operator != "MatMul":
            outputs.append(helper.make_tensor_value_info(result, TensorProto.FLOAT, [4]))
    graph = helper.make_graph(
        nodes,
        "wasteful",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [4]),
            helper.make_tensor_value_info("big_x", TensorProto.FLOAT, [_SIZE, _SIZE]),
        ],
        outputs,
        [numpy_helper.from_array(weights, "w")],
    )
    opsets = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, ir_version=9, opset_imports=opsets).SerializeToString()


def optimized(model: bytes) -> tuple[Trace, Cursor]:
    """The default pipeline's trace over it."""
    trace = optimize(load_bytes(model, name="planted"), Pipeline.of("default"))
    return trace, Cursor.at_end(trace)


def written(cursor: Cursor, folder: Path) -> Callable[[int], Path]:
    """Gives the file of a step."""

    def model_of(step: int) -> Path:
        path = folder / f"{step}.onnx"
        path.write_bytes(cursor.materialize(step))
        return path

    return model_of
