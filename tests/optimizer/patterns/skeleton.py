"""The smallest ONNX model of each spelling of a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from optimizer.patterns.spelling import Line, Spelling
from optimizer.patterns.terms import Number, Value
from tests.optimizer.random_graphs import NEWEST

_IR_VERSION = 10
_FIXED = "fixed"
"""Begins the names of numbers that a pattern asks for."""


def smallest(spelling: Spelling, *, opset: int = NEWEST) -> onnx.ModelProto:
    """A model that computes one spelling and nothing else: float32 inputs, output `y`."""
    writer = _Writer(opset)
    for line in spelling.lines:
        writer.add(line)
    last = spelling.lines[-1].output
    writer.nodes.append(helper.make_node("Identity", [last], ["y"]))
    inputs = [
        helper.make_tensor_value_info(value.name, TensorProto.FLOAT, value.sample)
        for value in spelling.values.values()
        if not value.weight
    ]
    weights = [_weight(value) for value in spelling.values.values() if value.weight]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(
        writer.nodes, "smallest", inputs, [output], [*weights, *writer.initializers]
    )
    domains = {"": opset} | {line.node.domain: 1 for line in spelling.lines if line.node.domain}
    opsets = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)


def _weight(value: Value) -> onnx.TensorProto:
    whole = all(isinstance(number, int) for number in value.weight)
    kind = bool if isinstance(value.weight[0], bool) else np.int64 if whole else np.float32
    numbers = np.resize(value.weight, value.sample).astype(kind)
    return numpy_helper.from_array(numbers, value.name)


class _Writer:
    """Nodes and constants of one model."""

    def __init__(self, opset: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._opset = opset

    def add(self, line: Line) -> None:
        """One node, its numbers and lists as constants."""
        operands = [o if isinstance(o, str) else self._number(o) for o in line.operands]
        attributes: dict[str, Any] = dict(line.node.settings)
        for parameter in line.node.parameters:
            if self._reads(line.operator, parameter.index):
                numbers = np.array(parameter.sample, np.int64)
                operands.append(self._constant(numbers, parameter.name))
            else:
                attributes[parameter.name] = [*parameter.sample]
        made = helper.make_node(
            line.operator, operands, [line.output], domain=line.node.domain, **attributes
        )
        self.nodes.append(made)

    def _number(self, number: Number) -> str:
        if number.value is None:
            return self._constant(np.array(number.sample, np.float32), "free")
        return self._constant(np.array(number.value, np.float32), _FIXED)

    def _constant(self, array: np.ndarray, hint: str) -> str:
        name = f"{hint}_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def _reads(self, operator: str, index: int) -> bool:
        """Whether this version of an operator has an input at this place."""
        schema = onnx.defs.get_schema(operator, self._opset)
        return len(schema.inputs) > index


def planted(spelling: Spelling, factor: float) -> Iterator[onnx.ModelProto]:
    """The smallest model once for each number that must be what it is, times a factor, 0 as 1."""
    whole = smallest(spelling)
    for index, tensor in enumerate(whole.graph.initializer):
        if not tensor.name.startswith(_FIXED):
            continue
        model = onnx.ModelProto()
        model.CopyFrom(whole)
        number = numpy_helper.to_array(tensor)
        array = np.where(number == 0, np.float32(1), number * np.float32(factor))
        model.graph.initializer[index].CopyFrom(numpy_helper.from_array(array, tensor.name))
        yield model
