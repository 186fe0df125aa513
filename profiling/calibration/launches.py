"""What an operator costs before it does anything, in the surroundings of a network.

The same tiny operator again and again would be measured with all caches warm. So here is what
exporters write around the arithmetic: shapes computed at run time, bounds of slices, grids of
indices, a normalization in parts. Every dimension is 1. Each node has constants of its own, as
exporters give it, for those are read from far; and every few dozen nodes a large one sweeps the
caches.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from itertools import cycle
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.model.graph import identify
from profiling.calibration.micro import constant, finished

SWEEPER = "sweeper"
"""What the name of a large node begins with; that of a tiny one with its operator."""

_ROUNDS = 6
_IN_A_ROW = (1, 1, 2, 4, 8)
_BETWEEN_SWEEPS = 50
_SWEEPS = (1 << 16, 1 << 18, 1 << 19, 1 << 20)
_SEED = 11

_ONE = np.ones(1, np.float32)
_IMAGE = np.ones((1, 1, 1, 1), np.float32)
_MATRIX = np.ones((1, 1), np.float32)
_KERNEL = np.ones((1, 1, 1, 1), np.float32)
_ALONE = (
    "Abs", "Clip", "Erf", "Exp", "Floor", "GlobalAveragePool", "Identity", "Neg", "Relu", "Round",
    "Sigmoid", "Softmax", "Sqrt", "Tanh",
)  # fmt: skip
_WITH_ONE = ("Add", "Div", "LayerNormalization", "Max", "Min", "Mul", "Pow", "Sub", "Sum")
_ON_FLOATS: Mapping[str, tuple[tuple[NDArray[Any], ...], dict[str, Any]]] = {
    **{operator: ((), {}) for operator in _ALONE},
    **{operator: ((_ONE,), {}) for operator in _WITH_ONE},
    "AveragePool": ((), {"kernel_shape": [1, 1]}),
    "BatchNormalization": ((_ONE, _ONE, _ONE, _ONE), {}),
    "Conv": ((_KERNEL,), {}),
    "MatMul": ((_MATRIX,), {}),
    "MaxPool": ((), {"kernel_shape": [1, 1]}),
    "ReduceMax": ((), {"axes": [-1]}),
    "ReduceSum": ((np.ones(1, np.int64),), {}),
    "Transpose": ((), {"perm": [0, 2, 1, 3]}),
}
"""Operators from an image to an image: constants and attributes."""

Operand = ir.Value | NDArray[Any]


def model() -> ir.Model:
    """The graph, with ids."""
    writer = _Writer()
    gap = 0.0
    for group in writer.groups():
        if gap <= 0:
            gap = writer.drawn.expovariate(1 / _BETWEEN_SWEEPS)
            writer.sweep()
        before = len(writer.nodes)
        group()
        gap -= len(writer.nodes) - before
    outputs = [value for node in writer.nodes for value in node.outputs if not value.uses()]
    found = finished(list(writer.inputs.values()), writer.constants, writer.nodes, outputs)
    identify(found)
    return found


class _Writer:
    """Writes groups of nodes as exporters do; no group reads what another made."""

    def __init__(self) -> None:
        self.drawn = random.Random(_SEED)  # noqa: S311 - an order, no secret
        self._numbers = np.random.default_rng(_SEED)
        shapes = {"image": (1, 1, 1, 1), "pair": (2,)}
        shapes |= {f"large {size}": (size,) for size in _SWEEPS}
        self.inputs = {name: ir.val(name, ir.DataType.FLOAT, s) for name, s in shapes.items()}
        self.constants: list[ir.Value] = []
        self.nodes: list[ir.Node] = []
        self._image = self.inputs["image"]
        self._next_on_floats = cycle(sorted(_ON_FLOATS))
        self._next_between = cycle(("Add", "Div", "Mod", "Mul", "Sub"))
        self._next_compared = cycle(("Equal", "Greater", "Less"))

    def groups(self) -> list[Callable[[], ir.Value]]:
        """All of them, in an order where some come several times in a row."""
        often = {
            self._reshaped: 6, self._expanded: 2, self._grid: 2, self._sliced: 3,
            self._between: 2, self._end: 3, self._padded: 1, self._scattered: 2,
            self._normalized: 2, self._on_floats: 5, self._compared: 2, self._other: 1,
        }  # fmt: skip
        runs: list[list[Callable[[], ir.Value]]] = []
        for group, count in often.items():
            left = count * _ROUNDS
            while left > 0:
                runs.append([group] * min(left, self.drawn.choice(_IN_A_ROW)))
                left -= len(runs[-1])
        self.drawn.shuffle(runs)
        return [group for run in runs for group in run]

    def sweep(self) -> None:
        """One large node, with a constant that no other has."""
        size = self.drawn.choice(_SWEEPS)
        swept = self._constant(self._numbers.random(size, np.float32))
        self._node("Add", self.inputs[f"large {size}"], swept, name=SWEEPER)

    def _node(
        self, operator: str, *operands: Operand, name: str = "", **attributes: Any
    ) -> ir.Value:
        values = [o if isinstance(o, ir.Value) else self._constant(o) for o in operands]
        outputs = 2 if operator == "Split" else 1
        node = ir.node(
            operator,
            values,
            attributes,
            num_outputs=outputs,
            name=f"{name or operator} {len(self.nodes)}",
        )
        self.nodes.append(node)
        return node.outputs[0]

    def _constant(self, array: NDArray[Any]) -> ir.Value:
        self.constants.append(constant(f"c{len(self.constants)}", array))
        return self.constants[-1]

    def _dimension(self) -> ir.Value:
        return self._node("Gather", self._node("Shape", self._image), _integer(0), axis=0)

    def _unsqueezed(self, value: Operand) -> ir.Value:
        return self._node("Unsqueeze", value, _integers(0))

    def _shape(self, computed: int, given: int) -> ir.Value:
        parts = [self._unsqueezed(self._dimension()) for _ in range(computed)]
        parts += [self._unsqueezed(_integer(1)) for _ in range(given)]
        return self._node("Concat", *parts, axis=0)

    def _reshaped(self) -> ir.Value:
        rank = self.drawn.choice((2, 3, 4, 4, 4, 6))
        computed = self.drawn.randint(1, min(3, rank))
        found = self._node("Reshape", self._image, self._shape(computed, rank - computed))
        return self._node("Transpose", found, perm=[0, 2, 1, 3]) if rank == 4 else found

    def _expanded(self) -> ir.Value:
        shape = self._shape(2, 2)
        ones = self._filled(self._node("Shape", shape))
        unchanged = self._node("Equal", shape, self._node("Mul", ones, _integer(-1)))
        return self._node("Expand", self._image, self._node("Where", unchanged, shape, shape))

    def _filled(self, shape: Operand) -> ir.Value:
        return self._node("ConstantOfShape", shape, value=ir.tensor(np.ones(1, np.int64)))

    def _grid(self) -> ir.Value:
        end = self._node("Cast", self._dimension(), to=7)
        run = self._node("Range", _integer(0), end, _integer(1))
        bound = self._unsqueezed(self._dimension())
        part = self._node("Slice", run, _integers(0), bound, _integers(0), _integers(1))
        column = self._node("Reshape", part, _integers(1, 1))
        return self._unsqueezed(self._node("Add", column, _integers(0)))

    def _sliced(self) -> ir.Value:
        operator = next(self._next_between)
        neutral = _integer(0 if operator in ("Add", "Sub") else 1)
        bound = self._unsqueezed(self._node(operator, self._dimension(), neutral))
        return self._node("Slice", self._image, _integers(0), bound, _integers(0), _integers(1))

    def _between(self) -> ir.Value:
        operator = next(self._next_between)
        return self._unsqueezed(self._node(operator, self._dimension(), self._dimension()))

    def _end(self) -> ir.Value:
        shape = self._node("Shape", self._image)
        end = self._node("Slice", shape, _integers(0), _integers(1), _integers(0))
        again = self._unsqueezed(self._node("Squeeze", end, _integers(0)))
        return self._node("Concat", end, again, axis=0)

    def _padded(self) -> ir.Value:
        sizes = self._node(
            "Concat", self._node("Shape", self._image), _integers(1, 1, 1, 1), axis=0
        )
        pairs = self._node("Slice", sizes, _integers(0), _integers(8), _integers(0), _integers(1))
        table = self._node("Transpose", self._node("Reshape", pairs, _integers(2, 4)), perm=[1, 0])
        margins = self._node("Reshape", table, _integers(-1))
        margins = self._node("Sub", margins, self._filled(_integers(8)))
        return self._node("Pad", self._image, self._node("Cast", margins, to=7))

    def _scattered(self) -> ir.Value:
        shape = self._node("Identity", self._node("Shape", self._image))
        return self._node("ScatterND", shape, np.zeros((1, 1), np.int64), _integers(1))

    def _normalized(self) -> ir.Value:
        mean = self._node("ReduceMean", self._image, axes=[-1])
        away = self._node("Sub", self._image, mean)
        squares = self._node("Pow", away, np.asarray(2, np.float32))
        variance = self._node("ReduceMean", squares, axes=[-1])
        deviation = self._node("Sqrt", self._node("Add", variance, np.asarray(1e-5, np.float32)))
        scaled = self._node("Mul", self._node("Div", away, deviation), _ONE)
        return self._node("Add", scaled, _ONE)

    def _on_floats(self) -> ir.Value:
        found = self._image
        for _ in range(self.drawn.randint(3, 8)):
            operator = next(self._next_on_floats)
            operands, attributes = _ON_FLOATS[operator]
            found = self._node(operator, found, *operands, **attributes)
        return found

    def _compared(self) -> ir.Value:
        truth = self._node("Not", self._node(next(self._next_compared), self._image, _ONE))
        chosen = self._node("Where", truth, self._image, _IMAGE)
        return self._node("Cast", self._node("Cast", chosen, to=7), to=1)

    def _other(self) -> ir.Value:
        self._node("Split", self.inputs["pair"], axis=0)
        return self._node("Gemm", self._node("Flatten", self._image), _MATRIX)


def _integer(number: int) -> NDArray[np.int64]:
    return np.asarray(number, np.int64)


def _integers(*numbers: int) -> NDArray[np.int64]:
    return np.asarray(numbers, np.int64)
