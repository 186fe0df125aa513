"""Attributes and constant operands with which an operator can never run.

Native kernels divide by a stride or index by a permutation; some crash where they should complain.
What no operator's definition allows is an error. What fails only for the shapes at hand is a
warning that rules out running. Everything is decided from attributes and small constants.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np
from onnx import AttributeProto, NodeProto, TensorProto, numpy_helper

from optimizer.errors import InvalidGraph
from optimizer.model.report import EXPORT_AGAIN, Findings, Place
from optimizer.model.tensors import element_count

Dim = int | None
Shape = tuple[Dim, ...]

_MOST_READ = 1024
"""Elements of the largest constant that is looked into."""
_INTEGERS = frozenset({TensorProto.INT64, TensorProto.INT32})


@dataclass(slots=True)
class Contents:
    """What is certain about values, by name.

    Attributes:
        types: element types, for tensors.
        shapes: sizes, None where a dimension is free.
        constants: initializers that no caller can override, and Constant nodes.
    """

    types: dict[str, int] = field(default_factory=dict[str, int])
    shapes: dict[str, Shape] = field(default_factory=dict[str, Shape])
    constants: dict[str, TensorProto] = field(default_factory=dict[str, TensorProto])


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a node can never run; `always` if no input whatsoever would make it."""

    message: str
    always: bool = True


class _Operands:
    """A node's attributes and what is known of its inputs."""

    def __init__(self, node: NodeProto, known: Contents) -> None:
        self._node = node
        self._known = known
        self._attributes = {attribute.name: attribute for attribute in node.attribute}

    def ints(self, name: str) -> list[int]:
        attribute = self._attributes.get(name)
        return [] if attribute is None else list(attribute.ints)

    def number(self, name: str, default: int) -> int:
        attribute = self._attributes.get(name)
        if attribute is None or attribute.type != AttributeProto.INT:
            return default
        return attribute.i

    def count(self) -> int:
        return len(self._node.input)

    def text(self, name: str) -> str:
        attribute = self._attributes.get(name)
        return "" if attribute is None else attribute.s.decode(errors="replace")

    def texts(self, name: str) -> list[str]:
        attribute = self._attributes.get(name)
        strings: Iterable[bytes] = () if attribute is None else attribute.strings
        return [text.decode(errors="replace") for text in strings]

    def shape(self, position: int) -> Shape | None:
        if position >= len(self._node.input):
            return None
        return self._known.shapes.get(self._node.input[position])

    def size(self, position: int, axis: int) -> int | None:
        shape = self.shape(position)
        if shape is None or not -len(shape) <= axis < len(shape):
            return None
        return shape[axis]

    def constant(self, position: int) -> list[int] | None:
        """The elements of a small integer constant."""
        if position >= len(self._node.input):
            return None
        tensor = self._known.constants.get(self._node.input[position])
        if (
            tensor is None
            or tensor.data_type not in _INTEGERS
            or tensor.data_location == TensorProto.EXTERNAL
            or element_count(tensor.dims) > _MOST_READ
        ):
            return None
        return np.asarray(numpy_helper.to_array(tensor)).ravel().tolist()


def check_operands(node: NodeProto, where: Place, known: Contents, report: Findings) -> None:
    """Report the operands with which this node can never run."""
    check = _CHECKS.get(node.op_type)
    problem = check(_Operands(node, known)) if check is not None else None
    if problem is None:
        return
    if problem.always:
        report.error(InvalidGraph, where, problem.message)
    else:
        report.warning(where, problem.message, remedy=EXPORT_AGAIN, blocks=("runnable",))


def _window(given: _Operands) -> Fault | None:
    for name in ("strides", "dilations", "kernel_shape"):
        if any(size < 1 for size in given.ints(name)):
            return Fault(f"A size in {name} is below 1.")
    if given.number("group", 1) < 1:
        return Fault("The number of groups is below 1.")
    return None


def _transpose(given: _Operands) -> Fault | None:
    perm = given.ints("perm")
    if sorted(perm) != list(range(len(perm))):
        return Fault("Its perm is not a permutation.")
    shape = given.shape(0)
    if perm and shape is not None and len(shape) != len(perm):
        return Fault(f"Its perm has {len(perm)} axes, but the input {len(shape)}.")
    return None


def _reshape(given: _Operands) -> Fault | None:
    target, shape = given.constant(1), given.shape(0)
    if target is None:
        return None
    if target.count(-1) > 1 or min(target, default=0) < -1:
        return Fault("Its shape has more than one size to infer, or a negative one.")
    if shape is None or None in shape or (0 in target and not given.number("allowzero", 0)):
        return None
    have, want = prod(size or 0 for size in shape), prod(size for size in target if size != -1)
    if want != have if -1 not in target else (want == 0 or have % want):
        return Fault(f"{have:,} elements cannot take the shape {target[:8]}.", always=False)
    return None


def _slice(given: _Operands) -> Fault | None:
    steps = given.constant(4)
    return Fault("A step of the slice is 0.") if steps is not None and 0 in steps else None


def _split(given: _Operands) -> Fault | None:
    sizes = given.constant(1) or given.ints("split")
    total = given.size(0, given.number("axis", 0))
    if any(size < 0 for size in sizes):
        return Fault("A size of the split is negative.")
    if sizes and total is not None and sum(sizes) != total:
        return Fault(f"The parts add up to {sum(sizes):,}, not to {total:,}.", always=False)
    return None


def _gather(given: _Operands) -> Fault | None:
    indices, size = given.constant(1), given.size(0, given.number("axis", 0))
    if indices and size is not None and (max(indices) >= size or min(indices) < -size):
        return Fault(f"An index lies outside the axis, which has {size:,}.", always=False)
    return None


_TERM = re.compile(r"\s*[A-Za-z\s]*(\.\.\.)?[A-Za-z\s]*")


def _einsum(given: _Operands) -> Fault | None:
    equation = given.text("equation")
    left, arrow, right = equation.partition("->")
    terms = [*left.split(","), right]
    free = set(right) - set(left) - set(". ")
    if not all(_TERM.fullmatch(term) for term in terms) or (arrow and free) or "->" in right:
        return Fault("Its equation cannot be understood.")
    if len(terms) - 1 != given.count():
        return Fault(f"Its equation has {len(terms) - 1} terms, but {given.count()} inputs.")
    return None


def _attention(given: _Operands) -> Fault | None:
    names = ("num_heads", "q_num_heads", "kv_num_heads")
    few = any(given.number(name, 1) < 1 for name in names)
    return Fault("The number of heads is below 1.") if few else None


def _trees(given: _Operands) -> Fault | None:
    names = ("nodes_treeids", "nodes_nodeids", "nodes_truenodeids", "nodes_falsenodeids")
    columns = [given.ints(name) for name in names]
    modes, features = given.texts("nodes_modes"), given.ints("nodes_featureids")
    if len({len(column) for column in [*columns, modes, features]}) > 1:
        return Fault("The lists that describe its trees differ in length.")
    nodes = set(zip(columns[0], columns[1], strict=True))
    for tree, own, yes, no, mode in zip(*columns, modes, strict=True):
        if mode != "LEAF" and (own in (yes, no) or not {(tree, yes), (tree, no)} <= nodes):
            return Fault("A branch of its trees leads to itself, or to no node.")
    size = given.size(0, -1)
    if min(features, default=0) < 0:
        return Fault("A tree looks at a feature with a negative number.")
    if size is not None and max(features, default=-1) >= size:
        return Fault(f"A tree looks at a feature that the input, of {size:,}, lacks.", always=False)
    return None


_WINDOWS = "AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool", "QLinearConv"
_CHECKS: Mapping[str, Callable[[_Operands], Fault | None]] = {
    "Attention": _attention,
    **dict.fromkeys(_WINDOWS, _window),
    "Einsum": _einsum,
    "Gather": _gather,
    "GroupQueryAttention": _attention,
    "MultiHeadAttention": _attention,
    "Reshape": _reshape,
    "Slice": _slice,
    "Split": _split,
    "Transpose": _transpose,
    "TreeEnsembleClassifier": _trees,
    "TreeEnsembleRegressor": _trees,
}
