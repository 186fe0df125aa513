"""A region of a graph as a generated function: the same nodes under names of their own.

What two regions have in common shows: nodes are in the order in which the outputs ask for them,
values and free sizes have numbers for names, so that equal regions are one function with one hash.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir
from onnx import FunctionProto
from onnx_ir import serde

from optimizer.constants import constant_of
from optimizer.dimension import Dimension, Expression, symbol
from optimizer.model.generated_functions import (
    SIGNATURE,
    SIGNATURE_FORM,
    KernelSignature,
    TensorSignature,
    content_hash,
)
from optimizer.operators.call import MAX_CONTENT, Known
from optimizer.operators.catalogue import operator_of
from optimizer.operators.generated import GENERATED

_MOST_TOLD = 3
"""Operators that a name tells."""


class NoSignature(ValueError):
    """The region cannot be a function of its own; the text says why."""


@dataclass(frozen=True, slots=True)
class RegionFunction:
    """A region as a function.

    Attributes:
        proto: the function.
        inputs: what a call of it reads, in order.
        outputs: what takes the place of its outputs, in order.
    """

    proto: FunctionProto
    inputs: tuple[ir.Value, ...]
    outputs: tuple[ir.Value, ...]

    def function(self) -> ir.Function:
        """The function, for a model."""
        return serde.deserialize_function(self.proto)


def region_function(
    nodes: Collection[ir.Node],
    outputs: Sequence[ir.Value],
    known: Known,
    opsets: Mapping[str, int],
) -> RegionFunction:
    """The function of a region.

    Args:
        nodes: of the region, no Constant nodes; those that no output needs are left out.
        outputs: values of the region that are read outside.
        known: what is known of the values around it.
        opsets: of the model.

    Raises:
        NoSignature: a type, a rank or a size is not known well enough.
    """
    ordered = list(_in_order(set(nodes), outputs))
    made = {value for node in ordered for value in node.outputs}
    read = dict.fromkeys(v for node in ordered for v in node.inputs if v is not None)
    outside = [value for value in read if value not in made]
    inside = [value for value in outside if stands_inside(value)]
    inputs = [value for value in outside if not stands_inside(value)]
    sizes = _Sizes(_shape(value, known) for value in inputs)
    signature = KernelSignature(
        tuple(_told(value, known, sizes, contents=True) for value in inputs),
        tuple(_told(value, known, sizes, contents=False) for value in outputs),
    )
    graph = _Copy(inputs, inside).graph(ordered, outputs, opsets)
    graph.metadata_props[SIGNATURE] = SIGNATURE_FORM.dumps(signature).decode()
    unnamed = ir.Function(GENERATED, "", graph=graph, attributes=())
    proto = serde.serialize_function(unnamed)
    proto.name = f"{_kind(ordered)}_{content_hash(proto)}"
    return RegionFunction(proto, tuple(inputs), tuple(outputs))


def stands_inside(value: ir.Value) -> bool:
    """Whether a constant is part of a function's body: one number, or a list of few integers.

    Or one of few numbers of any type that says how large something is.
    """
    tensor = constant_of(value)
    if tensor is None or tensor.dtype == ir.DataType.STRING:
        return False
    few = tensor.size <= MAX_CONTENT and len(tensor.shape) <= 1
    return tensor.size == 1 or (few and (tensor.dtype.is_integer() or _says_sizes(value)))


def _says_sizes(value: ir.Value) -> bool:
    """Whether a shape depends on it, as on the scales of a Resize."""
    return any(
        operator is not None and use.idx in operator.shape_inputs
        for use in value.uses()
        for operator in (operator_of(use.node),)
    )


def _in_order(region: set[ir.Node], outputs: Iterable[ir.Value]) -> Iterator[ir.Node]:
    """The nodes as outputs ask for them, inputs from the left first."""
    done: set[ir.Node] = set()
    stack = [(value.producer(), False) for value in reversed([*outputs])]
    while stack:
        node, ready = stack.pop()
        if node is None or node in done or node not in region:
            continue
        if ready:
            done.add(node)
            yield node
            continue
        stack.append((node, True))
        makers = (None if value is None else value.producer() for value in reversed(node.inputs))
        stack.extend((maker, False) for maker in makers)


def _kind(nodes: Sequence[ir.Node]) -> str:
    """What it computes, readable: the operators that compute most of it, and how many there are."""
    names = [node.op_type for node in nodes]
    told = [*dict.fromkeys(names)]
    text = "_".join(told if len(told) <= _MOST_TOLD else [*told[:2], told[-1]])
    more = f"_{len(names)}" if len(names) > len(text.split("_")) else ""
    return f"{''.join(c if c.isalnum() else '_' for c in text)}{more}"


def _shape(value: ir.Value, known: Known) -> tuple[Dimension, ...]:
    shape = known(value).shape
    if shape is None:
        raise NoSignature(f"the rank of '{value.name}' is not known")
    return shape


def _told(value: ir.Value, known: Known, sizes: _Sizes, *, contents: bool) -> TensorSignature:
    fact = known(value)
    if fact.dtype is None:
        raise NoSignature(f"the element type of '{value.name}' is not known")
    shape = tuple(sizes.told(size) for size in _shape(value, known))
    if any(size == "" for size in shape):
        raise NoSignature(f"nothing that it reads says how large '{value.name}' is")
    told: tuple[int | str, ...] | None = None
    if contents and fact.content is not None:
        elements = fact.content if isinstance(fact.content, tuple) else (fact.content,)
        told = tuple("" if one is None else sizes.told(one) for one in elements)
    return TensorSignature(fact.dtype.name, shape, told)


class _Sizes:
    """The free sizes of a function: axes of its inputs, under numbers."""

    def __init__(self, shapes: Iterable[Sequence[Dimension]]) -> None:
        free = [size for shape in shapes for size in shape if isinstance(size, Expression)]
        alone = {str(size) for size in free if size.symbols() == frozenset([str(size)])}
        self._names: dict[str, Expression] = {}
        for size in free:
            if str(size) in alone or not size.symbols() <= alone:
                self._names.setdefault(str(size), symbol(f"n{len(self._names)}"))

    def told(self, size: Dimension) -> int | str:
        """A number, or text over the function's sizes; empty where they do not say it."""
        if isinstance(size, int):
            return size
        whole = self._names.get(str(size))
        if whole is not None:
            return str(whole)
        if not size.symbols() <= self._names.keys():
            return ""
        found = size.evaluate(self._names)
        return found if isinstance(found, int) else str(found)


class _Copy:
    """Nodes again, over values of their own."""

    def __init__(self, inputs: Sequence[ir.Value], constants: Iterable[ir.Value]) -> None:
        self._inputs = [ir.Value(name=f"x{index}") for index in range(len(inputs))]
        self._values = dict(zip(inputs, self._inputs, strict=True))
        self._constants: list[ir.Node] = []
        held: dict[tuple[object, ...], ir.Value] = {}
        for value in constants:
            tensor = constant_of(value)
            assert tensor is not None, "only constants stand inside"
            key = (tensor.dtype, tuple(tensor.shape.numpy()), tensor.tobytes())
            if key not in held:
                held[key] = self._constant(tensor, f"c{len(held)}")
            self._values[value] = held[key]

    def graph(
        self, nodes: Iterable[ir.Node], outputs: Iterable[ir.Value], opsets: Mapping[str, int]
    ) -> ir.Graph:
        """The nodes as a graph of their own."""
        copies = [self._node(node, f"{node.op_type}_{i}") for i, node in enumerate(nodes)]
        domains = {node.domain for node in copies} | {""}
        return ir.Graph(
            self._inputs,
            [self._values[value] for value in outputs],
            nodes=[*self._constants, *copies],
            opset_imports={domain: opsets.get(domain, 1) for domain in sorted(domains)},
        )

    def _constant(self, tensor: ir.TensorProtocol, name: str) -> ir.Value:
        plain = ir.Tensor(tensor.numpy(), dtype=tensor.dtype, shape=ir.Shape(tensor.shape.numpy()))
        node = ir.Node(
            "", "Constant", [], [ir.AttrTensor("value", plain)],
            outputs=[ir.Value(name=name)], name=name,
        )  # fmt: skip
        self._constants.append(node)
        return node.outputs[0]

    def _node(self, node: ir.Node, name: str) -> ir.Node:
        outputs = [
            ir.Value(name=f"{name}_{index}" if value.name else "")
            for index, value in enumerate(node.outputs)
        ]
        self._values |= dict(zip(node.outputs, outputs, strict=True))
        domain = "" if node.domain == "ai.onnx" else node.domain
        inputs = [None if value is None else self._values[value] for value in node.inputs]
        return ir.Node(
            domain, node.op_type, inputs, node.attributes.values(), outputs=outputs, name=name
        )
