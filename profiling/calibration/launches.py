"""What an operator costs before it does anything, in the surroundings of a network.

The same tiny operator again and again would be measured with all caches warm; in a network other
operators come between. So here each kind comes a few times, in changing company, and every few
operators a large one sweeps the caches.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx_ir as ir

from profiling.calibration.micro import constant, finished

SWEEPER = "sweeper"
REPEATS = 4
_BETWEEN_SWEEPS = 24
_SWEEP_ELEMENTS = 1 << 18
_SEED = 11

_UNARY = (
    "Abs", "Erf", "Exp", "Flatten", "Floor", "Identity", "Neg", "ReduceMax", "ReduceMean",
    "ReduceSum", "Relu", "Round", "Shape", "Sigmoid", "Softmax", "Sqrt", "Tanh", "Transpose",
)  # fmt: skip
_BINARY = (
    "Add", "Div", "Equal", "Gemm", "Greater", "Less", "MatMul", "Max", "Min", "Mul", "Pow", "Sub",
    "Sum",
)  # fmt: skip
_OTHERS: Mapping[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "AveragePool": (("image",), {"kernel_shape": [1, 1]}),
    "BatchNormalization": (("image", "one", "one", "one", "one"), {}),
    "Cast": (("matrix",), {"to": 7}),
    "Clip": (("matrix",), {}),
    "Concat": (("integers", "integers", "integers"), {"axis": 0}),
    "ConstantOfShape": (("integers",), {}),
    "Conv": (("image", "kernel"), {}),
    "Expand": (("matrix", "square"), {}),
    "Gather": (("integers", "zero"), {"axis": 0}),
    "GlobalAveragePool": (("image",), {}),
    "LayerNormalization": (("matrix", "one"), {}),
    "MaxPool": (("image",), {"kernel_shape": [1, 1]}),
    "Mod": (("integers", "integers"), {}),
    "Not": (("truth",), {}),
    "Pad": (("matrix", "margins"), {}),
    "Range": (("zero", "index", "index"), {}),
    "Reshape": (("matrix", "integers"), {}),
    "ScatterND": (("integers", "place", "integers"), {}),
    "Slice": (("several", "start", "integers", "start"), {}),
    "Split": (("pair",), {"axis": 0}),
    "Squeeze": (("matrix", "start"), {}),
    "Unsqueeze": (("index", "start"), {}),
    "Where": (("truth", "matrix", "matrix"), {}),
}


def model() -> ir.Model:
    """Every kind `REPEATS` times; a node's name begins with its operator."""
    shapes = {"matrix": (1, 1), "image": (1, 1, 1, 1), "large": (_SWEEP_ELEMENTS,), "pair": (2,)}
    inputs = {name: ir.val(name, ir.DataType.FLOAT, shape) for name, shape in shapes.items()}
    inputs["truth"] = ir.val("truth", ir.DataType.BOOL, (1, 1))
    constants = {name: constant(name, array) for name, array in _constants().items()}
    known = inputs | constants
    nodes = [
        ir.node(
            operator,
            [known[name] for name in operands],
            attributes,
            num_outputs=2 if operator == "Split" else 1,
            name=name,
        )
        for name, operator, operands, attributes in _calls()
    ]
    outputs = [output for node in nodes for output in node.outputs]
    return finished(list(inputs.values()), list(constants.values()), nodes, outputs)


def _constants() -> dict[str, np.ndarray[Any, Any]]:
    return {
        "one": np.ones(1, np.float32),
        "kernel": np.ones((1, 1, 1, 1), np.float32),
        "integers": np.ones(1, np.int64),
        "several": np.ones(4, np.int64),
        "square": np.ones(2, np.int64),
        "index": np.asarray(0, np.int64) + 1,
        "zero": np.asarray(0, np.int64),
        "start": np.zeros(1, np.int64),
        "place": np.zeros((1, 1), np.int64),
        "margins": np.zeros(4, np.int64),
    }


def _calls() -> Iterator[tuple[str, str, tuple[str, ...], dict[str, Any]]]:
    calls: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = dict(_OTHERS)
    calls |= {operator: (("matrix",), {}) for operator in _UNARY}
    calls |= {operator: (("matrix", "matrix"), {}) for operator in _BINARY}
    kinds = list(calls)
    mixed = random.Random(_SEED)  # noqa: S311 - an order, no secret
    position = 0
    for repeat in range(REPEATS):
        mixed.shuffle(kinds)
        for operator in kinds:
            if position % _BETWEEN_SWEEPS == 0:
                yield f"{SWEEPER} {position}", "Add", ("large", "large"), {}
            operands, attributes = calls[operator]
            yield f"{operator} {repeat}", operator, operands, attributes
            position += 1
