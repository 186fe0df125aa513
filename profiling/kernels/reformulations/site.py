"""One block in a graph, to be written another way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from optimizer.model.constants import constant_of
from profiling.kernels.block import Block

MICROSOFT = "com.microsoft"
Floats = NDArray[np.float32]


class NotHere(Exception):
    """A block cannot be written this way; the text says why, and nothing was changed."""


class Site:
    """Collects what is new; the graph changes only in `put`.

    The same code serves the block alone, whose sizes are all known, and the block in its model,
    where sizes may be free: a size that is not in the file must not get into it.
    """

    def __init__(self, model: ir.Model, block: Block, *, mark: str) -> None:
        self.block = block
        self._model = model
        self._mark = mark
        self._nodes: list[ir.Node] = []
        self._weights: list[ir.Value] = []

    @property
    def opset(self) -> int:
        """The version of ONNX's own operators."""
        return self._model.opset_imports.get("", 1)

    def node(self, operator: str) -> ir.Node | None:
        """The block's first node of this type."""
        return next((node for node in self.block.nodes if node.op_type == operator), None)

    def new(
        self, operator: str, *inputs: ir.Value | None, domain: str = "", **attributes: Any
    ) -> ir.Value:
        """The result of a new operator."""
        name = f"{self._mark}{len(self._nodes)}"
        output = ir.Value(name=name)
        given = [ir.convenience.convert_attribute(key, v) for key, v in attributes.items()]
        self._nodes.append(ir.Node(domain, operator, inputs, given, outputs=[output], name=name))
        return output

    def news(self, operator: str, *inputs: ir.Value, count: int) -> tuple[ir.Value, ...]:
        """The results of a new operator that has several."""
        name = f"{self._mark}{len(self._nodes)}"
        outputs = [ir.Value(name=f"{name}.{number}") for number in range(count)]
        self._nodes.append(ir.Node("", operator, inputs, outputs=outputs, name=name))
        return tuple(outputs)

    def weight(self, array: NDArray[Any]) -> ir.Value:
        """A new constant."""
        name = f"{self._mark}w{len(self._weights)}"
        tensor = ir.Tensor(np.ascontiguousarray(array).reshape(array.shape), name=name)
        shape, dtype = ir.Shape(array.shape), ir.TensorType(tensor.dtype)
        value = ir.Value(name=name, shape=shape, type=dtype, const_value=tensor)
        self._weights.append(value)
        return value

    def integers(self, *numbers: int) -> ir.Value:
        """A new list of sizes."""
        return self.weight(np.array(numbers, np.int64))

    def put(self, nodes: Iterable[ir.Node], old: ir.Value, new: ir.Value) -> None:
        """The new operators take the place of `nodes`, `new` that of `old`."""
        gone = list(nodes)
        graph = gone[-1].graph
        assert isinstance(graph, ir.Graph)
        for value in self._weights:
            graph.register_initializer(value)
        for domain in {node.domain for node in self._nodes}:
            graph.opset_imports.setdefault(domain, 1)
        graph.insert_before(gone[-1], self._nodes)
        new.type, new.shape = old.type, old.shape
        name = old.name
        if old.is_graph_output():
            outputs = graph.outputs
            for index, output in enumerate(outputs):
                if output is old:
                    outputs[index] = new
        ir.convenience.replace_all_uses_with(old, new)
        graph.remove(gone, safe=True)
        new.name, old.name = name, None


def array_of(value: ir.Value | None) -> NDArray[Any]:
    """A constant's elements.

    Raises:
        NotHere: it is computed.
    """
    tensor = constant_of(value)
    if tensor is None:
        raise NotHere("its weights are computed, not constant")
    return tensor.numpy()


def floats_of(value: ir.Value | None) -> Floats:
    """A float32 constant's elements.

    Raises:
        NotHere: it is computed, or of another type.
    """
    array = array_of(value)
    if array.dtype != np.float32:
        raise NotHere(f"its weights are {array.dtype}, not float32")
    return array


def dims_of(value: ir.Value | None) -> tuple[int | None, ...]:
    """Sizes of a value, None for those that the file leaves free.

    Raises:
        NotHere: not even the rank is known.
    """
    if value is None or value.shape is None:
        raise NotHere("the rank of its input is not known")
    return tuple(dim if isinstance(dim, int) else None for dim in value.shape)


def only_one_free(*dims: int | None) -> tuple[int, ...]:
    """Sizes for a Reshape: the one that is free becomes -1.

    Raises:
        NotHere: more than one is free.
    """
    if sum(dim is None for dim in dims) > 1:
        raise NotHere("more than one of its sizes is free in the file")
    return tuple(-1 if dim is None else dim for dim in dims)


def attributes_of(node: ir.Node) -> Mapping[str, Any]:
    """A node's attributes by name, as plain values."""
    return {name: attribute.value for name, attribute in node.attributes.items()}
