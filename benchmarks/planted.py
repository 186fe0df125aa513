"""Networks of ten equal layers, and the same with an eleventh that changes nothing.

The copy computes exactly the same values with a tenth more work: its last layer multiplies by an
identity, or adds what was multiplied by zero. A race between the two has a known answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

LAYERS = 10
_OPSET = 17
Floats = NDArray[np.float32]


@dataclass(slots=True)
class _Chain:
    """A graph under construction, every layer on the last one's output."""

    nodes: list[onnx.NodeProto]
    weights: list[onnx.TensorProto]
    last: str = "x"

    def add(self, op_type: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op_type.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), [name], **attributes))
        return name

    def weight(self, values: Floats) -> str:
        name = f"w_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name


Layer = Callable[[_Chain, np.random.Generator, bool], None]
"""Adds a layer; one that changes nothing if asked to."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One kind of network."""

    name: str
    shape: tuple[int, ...]
    layer: Layer

    def model(self, *, extra: int) -> bytes:
        """Ten layers, and `extra` ones that change nothing."""
        generator = np.random.default_rng(0)
        chain = _Chain([], [])
        for number in range(LAYERS + extra):
            self.layer(chain, generator, number >= LAYERS)
        chain.nodes[-1].output[0] = "y"
        graph = helper.make_graph(
            chain.nodes,
            self.name.replace(" ", "_"),
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, self.shape)],
            chain.weights,
        )
        opsets = [helper.make_opsetid("", _OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def _convolution(chain: _Chain, generator: np.random.Generator, same: bool) -> None:
    channels = 32
    kernel = generator.standard_normal((channels, channels, 3, 3)) * 0.06
    if same:
        kernel = np.zeros_like(kernel)
        kernel[range(channels), range(channels), 1, 1] = 1
    weight = chain.weight(kernel.astype(np.float32))
    chain.last = chain.add(
        "Relu", chain.add("Conv", chain.last, weight, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    )


def _matrix(chain: _Chain, generator: np.random.Generator, same: bool) -> None:
    width = 512
    matrix = np.eye(width) if same else generator.standard_normal((width, width)) * 0.06
    weight = chain.weight(matrix.astype(np.float32))
    chain.last = chain.add("Relu", chain.add("MatMul", chain.last, weight))


def _attention(chain: _Chain, generator: np.random.Generator, same: bool) -> None:
    width = 128
    out = np.zeros((width, width)) if same else generator.standard_normal((width, width)) * 0.02
    weight = chain.weight(out.astype(np.float32))
    turned = chain.add("Transpose", chain.last, perm=[0, 2, 1])
    scores = chain.add("Softmax", chain.add("MatMul", chain.last, turned), axis=-1)
    mixed = chain.add("MatMul", chain.add("MatMul", scores, chain.last), weight)
    chain.last = chain.add("Add", chain.last, mixed)


def _memory(chain: _Chain, _generator: np.random.Generator, same: bool) -> None:
    factor = chain.weight(np.array(1.0 if same else 1.01, np.float32))
    chain.last = chain.add("Mul", chain.last, factor)


NETWORKS = (
    Planted("convolutions", (1, 32, 28, 28), _convolution),
    Planted("matrix products", (32, 512), _matrix),
    Planted("attention", (1, 128, 128), _attention),
    Planted("memory traffic", (1, 1 << 20), _memory),
)
