"""Products of one value with several weights, as one product with all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.passes.wording import variable
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Outcome,
    Replacement,
    given,
)

_FLOATS = frozenset({ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16})


@dataclass(frozen=True, slots=True)
class _Branch:
    """One of the products.

    Attributes:
        node: the MatMul, Gemm or Conv.
        weight: its weight.
        bias: what it adds, by itself or by an Add behind it; None where there is none.
        end: its last node, the Add where there is one.
        width: how many columns or channels it has.
    """

    node: ir.Node
    weight: np.ndarray
    bias: np.ndarray | None
    end: ir.Node
    width: int


@register
class MergeParallelProducts(Pass):
    """Merge parallel products of one value.

    What it does:
        Several MatMul, Gemm or Conv that read the same value, each with a constant weight, become
        one with all weights side by side, and a Split. Constant biases come along, also those
        that an Add behind each MatMul brings.
    Before:
        MatMul(x, q), MatMul(x, k), MatMul(x, v)
    After:
        MatMul(x, [q k v]) → Split
    When it is safe:
        Weights and biases are constants that no caller overrides, and no weight is read elsewhere.
        All are float, double or float16. Gemm and Conv have the same attributes, Conv a single
        group and kernels of one size. Fewer nodes are left.
    Numerics:
        The same sums of products; a runtime may add them up in another order for another width.
        ONNX Runtime's own fusion of attention looks for three products: it finds none here.
    Source:
        Jia et al. 2019, TASO: merging of matrix products and enlarged convolutions; TVM,
        CombineParallelMatmul; onnxoptimizer, fuse_qkv.
    """

    id = "merge-parallel-products"
    exactness = "reassociates"
    order = 90
    presets = ()

    @rule("MatMul", "Gemm", "Conv", name="ParallelProducts")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """Look at one product and at those that read the same value."""
        source = node.inputs[0]
        if source is None or source.dtype not in _FLOATS or context.opset() < 7:
            return None
        siblings = _siblings(node, source)
        if len(siblings) < 2 or not all(context.precedes(node, other) for other in siblings[1:]):
            return None
        unknown = variable(node.inputs[1], "weight", context)
        if unknown is not None:
            return unknown
        branches = [_branch(other, context) for other in siblings]
        known = [one for one in branches if one is not None]
        if branches[0] is None or len(known) < 2:
            return None
        biased = any(one.end is not one.node for one in known)
        before = len({one.end for one in known} | {one.node for one in known})
        if before <= 2 + biased:
            return Declined("No fewer nodes would be left", tuple(siblings[1:]))
        return _merged(known, source, context)


def _siblings(node: ir.Node, source: ir.Value) -> list[ir.Node]:
    """The products like this one that read the value as their first factor, this one first."""
    found = [
        use.node
        for use in source.uses()
        if use.idx == 0
        and use.node.op_type == node.op_type
        and not use.node.domain
        and use.node.graph is node.graph
        and _settings(use.node) == _settings(node)
    ]
    return [node, *(other for other in dict.fromkeys(found) if other is not node)]


def _settings(node: ir.Node) -> dict[str, str]:
    return {name: str(attribute.value) for name, attribute in node.attributes.items()}


def _branch(node: ir.Node, context: Context) -> _Branch | None:
    weight, bias = context.array(node.inputs[1]), context.array(given(node, 2))
    if weight is None or (given(node, 2) is not None and bias is None):
        return None
    value = node.inputs[1]
    if value is None or len(value.uses()) > 1 or weight.dtype.kind != "f":
        return None
    if node.op_type == "Conv":
        if context.attribute(node, "group") != 1:
            return None
        return _Branch(node, weight, bias, node, weight.shape[0])
    if weight.ndim != 2 or context.attribute(node, "transA"):
        return None
    width = weight.shape[0 if context.attribute(node, "transB") else 1]
    if node.op_type == "Gemm":
        fits = bias is None or bias.shape in ((width,), (1, width))
        flat = None if bias is None else bias.reshape(-1)
        return _Branch(node, weight, flat, node, width) if fits else None
    return _with_bias(node, weight, width, context)


def _with_bias(node: ir.Node, weight: np.ndarray, width: int, context: Context) -> _Branch:
    """A MatMul with the Add behind it, if that is a bias."""
    product = node.outputs[0]
    alone = _Branch(node, weight, None, node, width)
    if not context.single_use(product):
        return alone
    use = next(iter(product.uses()))
    if use.node.op_type != "Add" or use.node.domain or use.node.graph is not node.graph:
        return alone
    bias = context.array(use.node.inputs[1 - use.idx])
    if bias is None or bias.shape != (width,) or bias.dtype != weight.dtype:
        return alone
    return _Branch(node, weight, bias, use.node, width)


def _merged(branches: Sequence[_Branch], source: ir.Value, context: Context) -> Outcome:
    first = branches[0]
    outer = first.node.op_type == "Conv" or bool(context.attribute(first.node, "transB"))
    shapes = {_other_sizes(one.weight, outer) for one in branches}
    if len(shapes) > 1 or len({one.weight.dtype for one in branches}) > 1:
        return None
    with_add = [one.end is not one.node for one in branches]
    weight = np.concatenate([one.weight for one in branches], axis=0 if outer else 1)
    hint = first.node.inputs[1].name if first.node.inputs[1] is not None else None
    inputs = [source, NewInitializer.of(weight, hint or "weight")]
    bias = _bias(branches)
    made = NewNode(first.node.op_type, inputs, first.node.attributes)
    if bias is not None and not any(with_add):
        made = NewNode(first.node.op_type, [*inputs, bias], first.node.attributes)
    nodes = [made]
    if bias is not None and any(with_add):
        nodes.append(NewNode("Add", [made.output(), bias]))
    rank = context.rank(first.node.outputs[0])
    if rank is None:
        return None
    axis = 1 if first.node.op_type == "Conv" else rank - 1
    nodes.append(_split(nodes[-1], [one.width for one in branches], axis, context))
    values = {one.end.outputs[0]: nodes[-1].output(i) for i, one in enumerate(branches)}
    matched = list(dict.fromkeys([n for one in branches[1:] for n in (one.node, one.end)]))
    rest = [first.end] if first.end is not first.node else []
    reason = f"{len(branches)} products read the same value: one does the work of all."
    return Replacement([*matched, *rest, first.node], values, reason, nodes=nodes)


def _other_sizes(weight: np.ndarray, outer: bool) -> tuple[int, ...]:
    return weight.shape[1:] if outer else weight.shape[:1]


def _bias(branches: Sequence[_Branch]) -> NewInitializer | None:
    """All biases in a row, zeros where a product has none; None where none has one."""
    if all(one.bias is None for one in branches):
        return None
    parts = [np.zeros(b.width, b.weight.dtype) if b.bias is None else b.bias for b in branches]
    return NewInitializer.of(np.concatenate(parts), "bias")


def _split(product: NewNode, widths: Sequence[int], axis: int, context: Context) -> NewNode:
    outputs = len(widths)
    if context.opset() < 13:
        attributes = {"axis": axis, "split": [*widths]}
        return NewNode("Split", [product.output()], attributes, outputs=outputs)
    sizes = NewInitializer.ints(widths, "widths")
    return NewNode("Split", [product.output(), sizes], {"axis": axis}, outputs=outputs)
