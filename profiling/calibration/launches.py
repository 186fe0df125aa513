"""What an operator costs before it does anything, with what it reads near and far.

The same tiny operator again and again would be measured with all caches warm. So here are all of
them, nearly every dimension 1, in an order drawn once: some several times in a row, and every few
dozen nodes a large one that sweeps the caches. What repeats an operand has a few elements. Each
node has constants of its own, as exporters give it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from statistics import fmean, median
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnx_ir.tape import Tape

from optimizer.cost.classes import operator_class
from optimizer.cost.node import node_costs
from optimizer.cost.predict import launched_as
from optimizer.cost.sizes import Sizes
from optimizer.cost.traffic import far_reads
from optimizer.model.graph import identify, node_id
from profiling.calibration.micro import constant, finished

APART = "apart"
"""What the name of a node begins with that sweeps or makes operands."""

_EACH = 20
_IN_A_ROW = (1, 1, 2, 4, 8)
_BETWEEN_SWEEPS = 50
_SWEEPS = (1 << 16, 1 << 18, 1 << 19, 1 << 20)
_SEED = 11
_MOST = 3.0
"""So many times what its operator usually takes: what is above was disturbed."""

_LEAST_US = 0.2
"""What an operator usually takes is not counted as less, for errors are divided by it."""

Operand = str | NDArray[Any]
"""An input or one of `_OPERANDS`, by name, or a constant."""

_Node = tuple[str, tuple[Operand, ...], dict[str, Any]]

_floats = partial(np.full, fill_value=1, dtype=np.float32)
_integers = partial(np.asarray, dtype=np.int64)
_ONE, _MATRIX, _IMAGE = _floats(1), _floats((1, 1)), _floats((1, 1, 1, 1))
_ROW = _floats((4, 1))
_ALONE = (
    "Abs", "Clip", "Erf", "Exp", "Flatten", "Floor", "GlobalAveragePool", "Identity", "Neg", "Relu",
    "Round", "Shape", "Sigmoid", "Softmax", "Sqrt", "Tanh",
)  # fmt: skip
_WITH_ONE = (
    "Add", "Div", "Greater", "LayerNormalization", "Less", "Max", "Min", "Mul", "Sub", "Sum",
)  # fmt: skip
_BETWEEN_SIZES = ("Add", "Div", "Mod", "Mul", "Sub")

_OPERANDS: tuple[tuple[str, str, tuple[Operand, ...]], ...] = (
    ("shape", "Shape", ("image",)),
    ("ones", "Identity", ("shape",)),
    ("truth", "Equal", ("shape", _integers([1]))),
    ("sizes", "Slice", ("shape", _integers([0]), _integers([1]), _integers([0]))),
    ("size", "Squeeze", ("sizes", _integers([0]))),
)
"""Made once, of the first in each row the name: a shape, the same once more, truths, a size."""

_NODES: tuple[_Node, ...] = (
    *((operator, ("image",), {}) for operator in _ALONE),
    *((operator, ("image", _ONE), {}) for operator in _WITH_ONE),
    *((operator, ("size", _integers(1)), {}) for operator in _BETWEEN_SIZES),
    ("Add", ("column", _ROW), {}),
    ("Add", ("column", _ONE), {}),
    ("AveragePool", ("image",), {"kernel_shape": [1, 1]}),
    ("BatchNormalization", ("image", _ONE, _ONE, _ONE, _ONE), {}),
    ("Cast", ("image",), {"to": 7}),
    ("Cast", ("size",), {"to": 7}),
    ("Concat", ("sizes", "sizes", "sizes", _integers([1])), {"axis": 0}),
    ("ConstantOfShape", ("sizes",), {"value": ir.tensor(_integers([1]))}),
    ("Conv", ("image", _IMAGE), {}),
    ("Equal", ("shape", _integers([-1])), {}),
    ("Expand", ("image", "ones"), {}),
    ("Gather", ("shape", _integers(0)), {"axis": 0}),
    ("Gemm", ("matrix", _MATRIX), {}),
    ("MatMul", ("image", _MATRIX), {}),
    ("MaxPool", ("image",), {"kernel_shape": [1, 1]}),
    ("Not", ("truth",), {}),
    ("Pad", ("image", _integers([0] * 8)), {}),
    ("Pow", ("image", _floats(())), {}),
    ("Range", (_integers(0), "size", _integers(1)), {}),
    ("ReduceMax", ("image",), {"axes": [-1]}),
    ("ReduceMean", ("image",), {"axes": [-1]}),
    ("ReduceSum", ("image", _integers([1])), {}),
    ("Reshape", ("image", "ones"), {}),
    ("Reshape", ("image", _integers([1, 1, 1, 1])), {}),
    ("ScatterND", ("shape", _integers([[0]]), _integers([1])), {}),
    ("Slice", ("image", _integers([0]), "sizes", _integers([0]), _integers([1])), {}),
    ("Slice", ("shape", _integers([0]), _integers([1]), _integers([0])), {}),
    ("Split", ("pair",), {"axis": 0}),
    ("Squeeze", ("sizes", _integers([0])), {}),
    ("Transpose", ("image",), {"perm": [0, 2, 1, 3]}),
    ("Unsqueeze", ("size", _integers([0])), {}),
    ("Where", ("truth", "shape", "shape"), {}),
)


def model() -> ir.Model:
    """The graph, with ids."""
    graph, drawn = _Graph(), random.Random(_SEED)  # noqa: S311 - an order, no secret
    numbers, gap = np.random.default_rng(_SEED), 0.0
    for operator, operands, attributes in _in_order(drawn):
        if gap <= 0:
            gap, size = drawn.expovariate(1 / _BETWEEN_SWEEPS), drawn.choice(_SWEEPS)
            graph.add("Add", f"large {size}", numbers.random(size, np.float32), name=APART)
        graph.add(operator, *operands, **attributes)
        gap -= 1
    found = finished(graph.inputs, graph.tape)
    identify(found)
    return found


def _in_order(drawn: random.Random) -> list[_Node]:
    runs: list[list[_Node]] = []
    for node in _NODES:
        left = _EACH
        while left > 0:
            runs.append([node] * min(left, drawn.choice(_IN_A_ROW)))
            left -= len(runs[-1])
    drawn.shuffle(runs)
    return [node for run in runs for node in run]


class _Graph:
    def __init__(self) -> None:
        shapes = {"image": (1, 1, 1, 1), "column": (1, 3, 1, 1), "pair": (2,), "matrix": (1, 1)}
        shapes |= {f"large {size}": (size,) for size in _SWEEPS}
        self._made = {name: ir.val(name, ir.DataType.FLOAT, s) for name, s in shapes.items()}
        self.inputs = list(self._made.values())
        self.tape = Tape()
        for name, operator, operands in _OPERANDS:
            self._made[name] = self.add(operator, *operands, name=APART)

    def add(self, operator: str, *operands: Operand, name: str = "", **known: Any) -> ir.Value:
        made = self._made
        values = [made[o] if isinstance(o, str) else constant(self.tape, o) for o in operands]
        name = f"{name or operator} {len(self.tape.nodes)}"
        count = 2 if operator == "Split" else 1
        return self.tape.op_multi_out(operator, values, known, num_outputs=count, name=name)[0]


def launches_of(times_us: Mapping[str, float], near_bytes: int) -> tuple[dict[str, float], float]:
    """Least squares with one slope for all operators; errors count in shares of the usual time.

    Args:
        times_us: of the nodes of `model()`, by name.
        near_bytes: of the nearest level of memory.

    Returns:
        Microseconds by operator with all near, and what each thing adds that lies far.
    """
    graph, sizes = model().graph, Sizes()
    far = far_reads(graph, node_costs(graph, sizes), near_bytes)
    seen: dict[str, list[tuple[float, float]]] = {}
    for node in graph:
        name = node.name or ""
        if name in times_us and not name.startswith(APART):
            seen.setdefault(_listed(node, sizes), []).append((far[node_id(node)], times_us[name]))
    means: dict[str, tuple[float, float]] = {}
    above = below = 0.0
    for operator, points in seen.items():
        usual = max(_LEAST_US, median(us for _, us in points))
        xs, ys = [x for x, _ in points], [min(us, _MOST * usual) for _, us in points]
        x, y = means[operator] = fmean(xs), fmean(ys)
        above += sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / usual**2
        below += sum((a - x) ** 2 for a in xs) / usual**2
    far_us = max(0.0, above / below) if below else 0.0
    return {name: max(0.0, y - far_us * x) for name, (x, y) in means.items()}, far_us


def _listed(node: ir.Node, sizes: Sizes) -> str:
    kind = operator_class(node, sizes)
    return node.op_type if kind is None else launched_as(node, kind, sizes)
