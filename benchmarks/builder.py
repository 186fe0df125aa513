"""Building small networks by hand, with the names an exporter would give."""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from studio.gallery.packed import Weight, draw

Array = np.ndarray[tuple[int, ...], np.dtype[np.generic]]


@dataclass(slots=True)
class Builder:
    """A graph in the making; operators are named as an exporter names them."""

    graph: ir.Graph
    scope: str = ""
    names: Counter[str] = field(default_factory=Counter[str])

    def op(
        self,
        op_type: str,
        *inputs: ir.Value | None,
        **attributes: int | float | list[int] | ir.TensorProtocol,
    ) -> ir.Value:
        """Append a node in the current scope and return its first output."""
        name = f"{self.scope}/{op_type}"
        self.names[name] += 1
        if self.names[name] > 1:
            name += f"_{self.names[name] - 1}"
        node = ir.node(op_type, inputs, attributes, name=name, num_outputs=1)
        node.outputs[0].name = f"{name}_output_0"
        self.graph.append(node)
        return node.outputs[0]

    def weight(self, name: str, data: Array) -> ir.Value:
        """An initializer with the given data."""
        value = ir.Value(name=f"{self.scope[1:]}.{name}", const_value=ir.tensor(data))
        value.dtype, value.shape = ir.DataType.from_numpy(data.dtype), ir.Shape(data.shape)
        self.graph.register_initializer(value)
        return value

    def drawn(self, name: str, *shape: int, mean: float = 0.0, std: float = 0.25) -> ir.Value:
        """An initializer of random float32 values that are the same on every machine."""
        count = int(np.prod(shape))
        seed = zlib.crc32(f"{self.scope}.{name}".encode())
        weight = Weight(0, "float32", count, mean, std, mean - 4 * std, mean + 4 * std, seed)
        return self.weight(name, np.frombuffer(draw(weight), "<f4").reshape(shape))

    def floats(self, *values: float, shape: tuple[int, ...] | None = None) -> ir.Value:
        """A Constant node of float32 values; one value is a scalar."""
        return self.op("Constant", value=ir.tensor(_shaped(values, np.float32, shape)))

    def ints(self, *values: int, shape: tuple[int, ...] | None = None) -> ir.Value:
        """A Constant node of int64 values; one value is a scalar unless `shape` says otherwise."""
        return self.op("Constant", value=ir.tensor(_shaped(values, np.int64, shape)))


def _shaped(
    values: tuple[float, ...], dtype: type[np.generic], shape: tuple[int, ...] | None
) -> Array:
    return np.array(values, dtype).reshape(shape or ((len(values),) if len(values) > 1 else ()))
