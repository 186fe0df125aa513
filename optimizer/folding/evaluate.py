"""Evaluates a constant expression, node by node, and stops before anything too large is made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from math import prod

import numpy as np
import onnx_ir as ir

from optimizer.frozen import frozen
from optimizer.numbers import bytes_text
from optimizer.operators.call import UNKNOWN, Array, Call, Fact, NotFoldable, Shape, in_numbers
from optimizer.operators.catalogue import CATALOGUE, standard
from optimizer.operators.contents import array_content

FOLDED = tuple(name for (domain, name), op in CATALOGUE.items() if op.kernel and not domain)
"""Operators that are folded.

Left out on purpose: what draws random numbers, control flow, convolutions and resampling (slow, and
never constant in practice), and DequantizeLinear, whose folding would undo a model's compression.
"""

MOST_PRODUCTS = 1 << 28
"""Multiplications in one constant matrix product."""

_PLAIN = "biuf"
"""numpy kinds every kernel may compute with: bool, integers, floats."""


class Blocked(Exception):
    """A node of the expression cannot be computed here.

    Attributes:
        node: which.
        others: nodes for which the same holds.
    """

    def __init__(self, node: ir.Node, reason: str, *, others: Sequence[ir.Node] = ()) -> None:
        super().__init__(reason)
        self.node = node
        self.others = others


def data_inputs(node: ir.Node) -> Sequence[ir.Value | None]:
    """The inputs whose elements matter; of CastLike's second input only the type does."""
    typed = node.op_type == "CastLike" and node.outputs[0].dtype is not None
    return node.inputs[:1] if typed else node.inputs


@frozen()
class Evaluation:
    """What came out.

    Attributes:
        values: the wanted results.
        sizes: bytes that each node's results take.
    """

    values: dict[ir.Value, Array]
    sizes: dict[ir.Node, int]


@frozen()
class Evaluator:
    """Computes expressions over constants.

    Attributes:
        constant: gives the data of a constant value.
        opset: version of the default operator set.
        largest_bytes: bound for every result, intermediate ones included.
    """

    constant: Callable[[ir.Value], ir.TensorProtocol | None]
    opset: int
    largest_bytes: int

    @np.errstate(all="ignore")
    def run(self, nodes: Sequence[ir.Node], wanted: Collection[ir.Node]) -> Evaluation:
        """Compute nodes in the given, topological, order; what is used up is let go.

        Args:
            nodes: the whole expression.
            wanted: the nodes whose results are kept.

        Raises:
            Blocked: one of them cannot be computed, or its result would be too large.
        """
        last_use = {v: node for node in nodes for v in data_inputs(node) if v is not None}
        known: dict[ir.Value, Array] = {}
        sizes: dict[ir.Node, int] = {}
        for node in nodes:
            outputs = self._guarded(node, known)
            sizes[node] = sum(array.nbytes for array in outputs)
            for value, array in zip(node.outputs, outputs, strict=False):
                _check_type(node, value, array)
                known[value] = array
            for value in data_inputs(node):
                if value is None or last_use[value] is not node:
                    continue
                if value.producer() not in wanted:
                    known.pop(value, None)
        return Evaluation(known, sizes)

    def _guarded(self, node: ir.Node, known: dict[ir.Value, Array]) -> tuple[Array, ...]:
        try:
            return self._compute(node, known)
        except NotFoldable as error:
            raise Blocked(node, f"{node.op_type} was left unfolded: {error}.") from error
        except (ArithmeticError, IndexError, MemoryError, TypeError, ValueError) as error:
            text = str(error)[:80]
            raise Blocked(node, f"{node.op_type} was left unfolded: {text}.") from error

    def _compute(self, node: ir.Node, known: dict[ir.Value, Array]) -> tuple[Array, ...]:
        data = {v: self._input(v, known) for v in data_inputs(node) if v is not None}
        operator = standard(node)
        if operator is None or operator.types is None or operator.kernel is None:
            raise NotFoldable("nobody said how it is computed")
        if not operator.any_type and any(array.dtype.kind not in _PLAIN for array in data.values()):
            raise NotFoldable("the element type is left to the runtime")
        facts = {value: _fact(array) for value, array in data.items()}
        call = Call(node, lambda value: facts.get(value, UNKNOWN), opset=self.opset)
        typed = operator.types(call)
        most = max((array.size for array in data.values()), default=1)
        self._check_size(node, max(_elements(shape, most) for _, shape in typed), data.values())
        if operator.product and operator.flops is not None:
            facts[node.outputs[0]] = Fact(shape=in_numbers(typed[0][1]))
            _check_work(operator.flops(call))
        return operator.kernel(call)

    def _input(self, value: ir.Value, known: dict[ir.Value, Array]) -> Array:
        found = known.get(value)
        if found is not None:
            return found
        tensor = self.constant(value)
        if tensor is None or tensor.dtype == ir.DataType.STRING:
            raise NotFoldable("text is left to the runtime")
        return tensor.numpy()

    def _check_size(self, node: ir.Node, elements: int, inputs: Iterable[Array]) -> None:
        dtype = node.outputs[0].dtype
        width = dtype.itemsize if dtype is not None and dtype != ir.DataType.STRING else 8
        needed = max(elements, 0) * width
        given = max((array.nbytes for array in inputs), default=0)
        if needed > max(self.largest_bytes, given):
            raise NotFoldable(
                f"its result needs {bytes_text(needed)} (limit {bytes_text(self.largest_bytes)})"
            )


def _fact(array: Array) -> Fact:
    dtype = ir.DataType.from_numpy(array.dtype)
    return Fact(dtype, array.shape, array_content(array), array)


def _elements(shape: Shape | None, most: int) -> int:
    """Elements of a result, at most; an axis that nobody knows takes no more than the inputs."""
    dims = (None,) if shape is None else shape
    return prod(dim if isinstance(dim, int) else most for dim in dims)


def _check_work(flops: int | None) -> None:
    """A product may do more than its result tells."""
    if flops is not None and flops > 2 * MOST_PRODUCTS:
        raise NotFoldable(
            f"the constant matrix product takes {flops // 2:,} multiplications "
            f"(limit {MOST_PRODUCTS:,})"
        )


def _check_type(node: ir.Node, value: ir.Value, array: Array) -> None:
    if value.dtype is not None and value.dtype != ir.DataType.from_numpy(array.dtype):
        found = ir.DataType.from_numpy(array.dtype)
        raise Blocked(node, f"{node.op_type} was left unfolded: {found} instead of {value.dtype}.")
