"""Which axes of a node's tensors mean the same, whatever they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.cost.sizes import Sizes
from optimizer.layout.axes import SPATIAL, Axis, Digit
from optimizer.layout.reshaping import groups
from optimizer.operators.call import Call
from optimizer.operators.catalogue import BROADCASTING, RESHAPING, operator_of
from optimizer.operators.layouts import BLOCKS
from optimizer.operators.operator import Operator

Place = tuple[ir.Value, int]
"""An axis of a value."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What an operator asks of an axis.

    Attributes:
        at: the axis.
        name: its name, or that of the whole of which it is a part.
        full: elements of the whole; None where the axis is all of it.
        stride: how far along the whole one step goes.
    """

    at: Place
    name: str
    full: int | None = None
    stride: int = 1

    def axis(self, size: int) -> Axis:
        """The axis with so many elements."""
        return (Digit(self.name, size if self.full is None else self.full, size, self.stride),)


@dataclass(frozen=True, slots=True)
class Related:
    """Runs of axes that hold the same, as one and as the other."""

    left: tuple[Place, ...]
    right: tuple[Place, ...]


Relation = Meant | Related


def relations(node: ir.Node, sizes: Sizes) -> Iterator[Relation]:
    """What a node says about the axes of what it reads and makes; nothing where it is not known."""
    operator = operator_of(node)
    if operator is None:
        return
    yield from _asked(node, operator, sizes)
    source = node.inputs[0] if node.inputs else None
    shape, out = sizes.shape(source), sizes.shape(node.outputs[0])
    if source is None or shape is None or out is None or 0 in shape:
        return
    name = operator.name if not operator.domain else ""
    if name == "Transpose":
        perm = node.attributes.get("perm")
        order = perm.as_ints() if perm is not None else list(range(len(shape)))[::-1]
        yield from (_same(source, axis, node.outputs[0], at) for at, axis in enumerate(order))
    elif name in RESHAPING:
        for left, right in groups(shape, out):
            yield Related(_places(source, left), _places(node.outputs[0], right))
    elif name in ("MatMul", "Gemm"):
        yield from _product(node, sizes)
    elif name == "Gather":
        yield from _gathered(node, shape, sizes)
    elif operator.layout == "agnostic" or name in BROADCASTING or name == "Expand":
        yield from _broadcast(node, sizes)
    elif operator.layout == "follows":
        yield from _followed(node, name, shape, sizes)


def _asked(node: ir.Node, operator: Operator, sizes: Sizes) -> Iterator[Meant]:
    """The operator's own names: of inputs, then of outputs, in the order of the signature."""
    inputs, _, outputs = operator.axes.partition("->")
    for values, words in ((node.inputs, inputs), (node.outputs, outputs)):
        for value, word in zip(values, words.split(), strict=False):
            shape = sizes.shape(value)
            if value is None or shape is None or word == "_":
                continue
            if word == BLOCKS and len(shape) > 2:
                yield from _blocked(value, shape)
                continue
            left = len(shape) - len(word) + 1
            letters = word.replace("*", SPATIAL.get(left, "")).replace("…", "_" * left)
            if len(letters) == len(shape):
                named = ((axis, name) for axis, name in enumerate(letters) if name != "_")
                yield from (Meant((value, axis), name) for axis, name in named)


def _blocked(value: ir.Value, shape: Sequence[int]) -> Iterator[Meant]:
    """[N, C1, …, C0]: C0 channels side by side, C1 such blocks."""
    last, filled = len(shape) - 1, shape[1] * shape[-1]
    yield Meant((value, 0), "N")
    yield Meant((value, 1), "C", filled, shape[-1])
    places = SPATIAL.get(len(shape) - 3, "")
    yield from (Meant((value, axis), name) for axis, name in enumerate(places, start=2))
    yield Meant((value, last), "C", filled)


def _product(node: ir.Node, sizes: Sizes) -> Iterator[Relation]:
    """A[…, m, k] B[…, k, n] is Y[…, m, n]; weights give k other elements of the same meaning."""
    first, second, out = node.inputs[0], node.inputs[1], node.outputs[0]
    ranks = [
        len(shape) if (shape := sizes.shape(v)) is not None else 0 for v in (first, second, out)
    ]
    if first is None or second is None or min(ranks) < 2 or ranks[2] < ranks[0]:
        return
    call = Call(node, sizes.fact)
    turned = [bool(call.number(name, 0)) for name in ("transA", "transB")]
    m, k = (1, 0) if turned[0] else (ranks[0] - 2, ranks[0] - 1)
    inner, n = (1, 0) if turned[1] else (ranks[1] - 2, ranks[1] - 1)
    yield _same(first, m, out, ranks[2] - 2)
    for axis in range(ranks[0] - 2):
        yield _same(first, axis, out, axis + ranks[2] - ranks[0])
    if constant_of(second) is not None or second.is_initializer():
        yield _same(first, k, out, ranks[2] - 1)
    else:
        yield _same(first, k, second, inner)
        yield _same(second, n, out, ranks[2] - 1)


def _gathered(node: ir.Node, shape: Sequence[int], sizes: Sizes) -> Iterator[Relation]:
    source, indices = node.inputs[0], sizes.shape(node.inputs[1])
    if source is None or indices is None:
        return
    axis = Call(node, sizes.fact).number("axis", 0) % max(1, len(shape))
    for before in range(len(shape)):
        if before != axis:
            after = before if before < axis else before + len(indices) - 1
            yield _same(source, before, node.outputs[0], after)


def _broadcast(node: ir.Node, sizes: Sizes) -> Iterator[Relation]:
    """Axes count from the back; one element that is repeated says nothing."""
    for out in node.outputs:
        shape = sizes.shape(out)
        if shape is None:
            continue
        for value in node.inputs:
            given = sizes.shape(value)
            if value is None or given is None or len(given) > len(shape):
                continue
            shift = len(shape) - len(given)
            for axis, size in enumerate(given):
                if size == shape[axis + shift]:
                    yield _same(value, axis, out, axis + shift)


def _followed(node: ir.Node, name: str, shape: Sequence[int], sizes: Sizes) -> Iterator[Relation]:
    """Axis by axis; a reduction that keeps no axes leaves some out."""
    sources = node.inputs if name == "Concat" else node.inputs[:1]
    kept = list(range(len(shape)))
    out = sizes.shape(node.outputs[0]) or ()
    if len(out) < len(shape):
        reduced = Call(node, sizes.fact).axes("axes", 1, len(shape))
        kept = [axis for axis in kept if axis not in (reduced or kept)]
    for value in sources:
        given = sizes.shape(value)
        if value is None or given is None or len(given) != len(shape):
            continue
        for result in node.outputs:
            if len(sizes.shape(result) or ()) == len(kept):
                yield from (_same(value, axis, result, at) for at, axis in enumerate(kept))


def _same(left: ir.Value, axis: int, right: ir.Value, other: int) -> Related:
    return Related(((left, axis),), ((right, other),))


def _places(value: ir.Value, axes: Sequence[int]) -> tuple[Place, ...]:
    return tuple((value, axis) for axis in axes)
