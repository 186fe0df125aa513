"""The light models of the onnx package with random weights: their own are one number each."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, numpy_helper

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
_SEED = 4


def filled(name: str, folder: Path) -> Path:
    """Write the light model so that its weights are stored in it, as those of a real file are.

    Args:
        name: such as `squeezenet`.
        folder: where the file goes.
    """
    model = onnx.load(LIGHT / f"light_{name}.onnx")
    shapes = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    makers = [n for n in model.graph.node if n.op_type == "ConstantOfShape"]
    drawn = np.random.default_rng(_SEED)
    kept = [one for one in model.graph.initializer if one.name not in {n.input[0] for n in makers}]
    for node in makers:
        shape = tuple(int(size) for size in shapes[node.input[0]])
        kept.append(_weights(node, shape, drawn))
    _replace(model, kept)
    path = folder / f"light_{name}.onnx"
    onnx.save(model, path)
    return path


def _weights(
    node: NodeProto, shape: tuple[int, ...], drawn: np.random.Generator
) -> onnx.TensorProto:
    """Normal with the scale that keeps activations in range; positive where it is a vector."""
    dtype = numpy_helper.to_array(node.attribute[0].t).dtype
    values = drawn.normal(size=shape) / np.sqrt(max(1, prod(shape[1:])))
    if len(shape) == 1:
        values = np.abs(values)
    return numpy_helper.from_array(values.astype(dtype), node.output[0])


def _replace(model: ModelProto, weights: list[onnx.TensorProto]) -> None:
    """The weights for the nodes that made them; inputs that are weights go."""
    old = {one.name for one in model.graph.initializer} | {one.name for one in weights}
    nodes = [node for node in model.graph.node if node.op_type != "ConstantOfShape"]
    inputs = [one for one in model.graph.input if one.name not in old]
    del model.graph.node[:], model.graph.initializer[:], model.graph.input[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(weights)
    model.graph.input.extend(inputs)
    model.ir_version = 8
