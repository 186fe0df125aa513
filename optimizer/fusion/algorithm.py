"""What the nodes of a region compute, as loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from optimizer.constants import constant_of, is_constant_node
from optimizer.dimension import TooComplex
from optimizer.errors import quoted
from optimizer.fusion.sizes import SizeNames
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.building import (
    MAX_CHOICES,
    LoopBuilder,
    LoopTensor,
    NotGenerated,
    constant_tensor,
)
from optimizer.loops.simplification import simplified
from optimizer.operators.call import MAX_CONSTANT, Call, Contradiction, Known
from optimizer.operators.catalogue import operator_of
from optimizer.operators.loops.site import NodeLoops


def algorithm_of(
    nodes: Sequence[ir.Node],
    inputs: Sequence[ir.Value],
    outputs: Sequence[ir.Value],
    known: Known,
    opset: int,
) -> Algorithm:
    """The loops of a region, from the rules of the operator catalogue.

    Args:
        nodes: the region, each node after those that it reads.
        inputs: what the kernel reads, in this order. Any other value that is read must be a
            constant of few elements, which becomes part of the kernel.
        outputs: what the kernel gives, in this order.
        known: element types, shapes and contents of the values.
        opset: version of the default operator set.

    Returns:
        an algorithm whose inputs and outputs have the shapes that are known of them. Names are C
        identifiers; free sizes are `s0`, `s1`, … (see `Algorithm.sizes`).

    Raises:
        NotGenerated: a node has no loops, or the inputs do not say how large something is.
    """
    try:
        region = _Region(inputs, known, opset)
        for node in nodes:
            if not is_constant_node(node):
                region.add(node)
        return region.algorithm(outputs)
    except (Contradiction, TooComplex) as error:
        raise NotGenerated(f"sizes contradict each other: {error}") from error


class _Region:
    """The values of a region as tensors of an algorithm."""

    def __init__(self, inputs: Sequence[ir.Value], known: Known, opset: int) -> None:
        facts = [known(value) for value in inputs]
        self._names = SizeNames([fact.shape or () for fact in facts])
        self._known = self._names.fact(known)
        self._opset = opset
        self._builder = LoopBuilder()
        self._tensors = {value: self._input(value, number) for number, value in enumerate(inputs)}

    def add(self, node: ir.Node) -> None:
        """Loops of one more node.

        Raises:
            NotGenerated: there are none.
        """
        operator = operator_of(node)
        if operator is None or operator.loops is None:
            raise NotGenerated(f"{node.op_type} has no loop rule")
        if any(attribute.is_ref() for attribute in node.attributes.values()):
            raise NotGenerated(f"{node.op_type} has an attribute of the function around it")
        call = Call(node, self._known, opset=self._opset)
        tensors = operator.loops(NodeLoops(call, self._builder, self._tensor))
        for value, tensor in zip(node.outputs, tensors, strict=False):
            if tensor is not None:
                self._tensors[value] = tensor

    def algorithm(self, outputs: Sequence[ir.Value]) -> Algorithm:
        """The algorithm with these outputs.

        Raises:
            NotGenerated: the inputs do not say how large something is.
        """
        made = self._builder.algorithm([self._tensor(value) for value in outputs])
        found = simplified(made)
        missing = found.unknown_sizes()
        if missing:
            raise NotGenerated(f"no input says how large {missing[0]} is")
        return replace(found, sizes=self._names.meanings)

    def _input(self, value: ir.Value, number: int) -> LoopTensor:
        fact = self._known(value)
        if fact.dtype is None or fact.shape is None:
            raise NotGenerated(f"type or rank of {quoted(value.name or '')} is not known")
        return self._builder.input(f"in{number}", fact.dtype, fact.shape)

    def _tensor(self, value: ir.Value) -> LoopTensor:
        """What a value is: computed here, read, or a constant."""
        if value not in self._tensors:
            self._tensors[value] = self._constant(value)
        return self._tensors[value]

    def _constant(self, value: ir.Value) -> LoopTensor:
        array, tensor = self._known(value).array, constant_of(value)
        if array is None and tensor is not None and tensor.size <= MAX_CONSTANT:
            array = tensor.numpy()
        if array is None and tensor is None:
            raise NotGenerated(f"{quoted(value.name or '')} is neither computed here nor an input")
        dtype = (
            tensor.dtype if tensor is not None else ir.DataType.from_numpy(np.asarray(array).dtype)
        )
        made = None if array is None else constant_tensor(np.asarray(array), dtype)
        if made is None:
            raise NotGenerated(
                f"the constant {quoted(value.name or '')} has more than {MAX_CHOICES} elements:"
                " it has to be an input"
            )
        return made
