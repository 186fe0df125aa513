"""Chains to play with, for whoever's model has none: any size, weights at random."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from onnx_ir.tape import Tape

OPSET = 17
Dims = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Dim:
    """A size to play with.

    Attributes:
        sizes: to choose from.
    """

    title: str
    default: int
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A chain that can be built in any size.

    Attributes:
        title: its operators.
        dims: by name, in the order in which they are shown.
        build: the model; all dims are given.
    """

    title: str
    dims: Mapping[str, Dim]
    build: Callable[[Dims], ir.Model]

    def sizes(self, chosen: Dims) -> dict[str, int]:
        """All sizes, those that were not chosen as they are meant."""
        return {
            name: size if (size := chosen.get(name)) in dim.sizes else dim.default
            for name, dim in self.dims.items()
        }


class _Builder:
    """A chain as it grows; the last value is what the next operator reads."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._chance, self._tape = np.random.default_rng(0), Tape()
        self.input = self.last = _value("x", shape)

    def weight(self, *shape: int, scale: float = 1.0, around: float = 0.0) -> ir.Value:
        """A weight at random."""
        return self._constant(around + scale * self._chance.standard_normal(shape))

    def number(self, amount: float) -> ir.Value:
        """A scalar."""
        return self._constant(np.asarray(amount))

    def _constant(self, data: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> ir.Value:
        name = f"w{len(self._tape.initializers)}"
        return self._tape.initializer(ir.tensor(data.astype(np.float32), name=name))

    def add(
        self,
        operator: str,
        *inputs: ir.Value,
        shape: tuple[int, ...],
        **attributes: int | list[int],
    ) -> ir.Value:
        """One operator on the last value, or on these."""
        name = f"{operator}_{len(self._tape.nodes)}"
        output = _value(f"{name}_out", shape)
        read = inputs or (self.last,)
        self.last = self._tape.op(operator, read, attributes, name=name, output=output)
        return output

    def model(self) -> ir.Model:
        """All of it."""
        graph = ir.Graph(
            [self.input],
            [self.last],
            nodes=self._tape.nodes,
            initializers=self._tape.initializers,
            opset_imports={"": OPSET},
            name="example",
        )
        return ir.Model(graph, ir_version=8, producer_name="passlens")


def _value(name: str, shape: tuple[int, ...]) -> ir.Value:
    return ir.Value(name=name, type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape(shape))


def _conv(dims: Dims) -> ir.Model:
    channels, size, kernel = dims["channels"], dims["size"], dims["kernel"]
    shape = (1, channels, size, size)
    chain = _Builder(shape)
    scale = 1 / (channels**0.5 * kernel)
    filters = chain.weight(channels, channels, kernel, kernel, scale=scale)
    chain.add("Conv", chain.last, filters, shape=shape, pads=[kernel // 2] * 4)
    around = (1.0, 0.0, 0.0, 1.0)  # scale, bias, mean, variance
    vectors = [chain.weight(channels, scale=0.05, around=middle) for middle in around]
    chain.add("BatchNormalization", chain.last, *vectors, shape=shape)
    chain.add("Relu", shape=shape)
    return chain.model()


def _matmul(dims: Dims) -> ir.Model:
    rows, inner, columns = dims["rows"], dims["inner"], dims["columns"]
    chain, shape = _Builder((rows, inner)), (rows, columns)
    weight = chain.weight(inner, columns, scale=1 / inner**0.5)
    chain.add("MatMul", chain.last, weight, shape=shape)
    chain.add("Add", chain.last, chain.weight(columns), shape=shape)
    chain.add("Relu", shape=shape)
    return chain.model()


def _gelu(dims: Dims) -> ir.Model:
    shape = (dims["rows"], dims["columns"])
    chain = _Builder(shape)
    x = chain.input
    chain.add("Div", x, chain.number(2**0.5), shape=shape)
    chain.add("Erf", shape=shape)
    chain.add("Add", chain.last, chain.number(1.0), shape=shape)
    chain.add("Mul", x, chain.last, shape=shape)
    chain.add("Mul", chain.last, chain.number(0.5), shape=shape)
    return chain.model()


_POWERS = tuple(1 << power for power in range(3, 13))
EXAMPLES: Mapping[str, Example] = {
    "example-conv": Example(
        "Conv + BatchNormalization + Relu",
        {
            "channels": Dim("Channels", 64, tuple(n for n in _POWERS if n <= 512)),
            "size": Dim("Height and width", 56, (7, 14, 28, 56, 112, 224)),
            "kernel": Dim("Kernel", 3, (1, 3, 5, 7)),
        },
        _conv,
    ),
    "example-matmul": Example(
        "MatMul + Add + Relu",
        {
            "rows": Dim("Rows", 128, (1, *_POWERS)),
            "inner": Dim("Inner", 256, _POWERS),
            "columns": Dim("Columns", 1024, _POWERS),
        },
        _matmul,
    ),
    "example-gelu": Example(
        "Gelu of five operators",
        {"rows": Dim("Rows", 512, (1, *_POWERS)), "columns": Dim("Columns", 1024, _POWERS)},
        _gelu,
    ),
}
"""By id."""
