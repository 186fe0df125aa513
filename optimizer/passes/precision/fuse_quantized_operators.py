"""One operator on integers in place of DequantizeLinear, an operator and QuantizeLinear."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.passes.draft import MICROSOFT, NotHere, attributes_of
from optimizer.passes.precision.products import bias_after
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
    given,
    producer_of,
)

_OF_ELEMENTS: Mapping[str, str] = {
    "Add": MICROSOFT, "AveragePool": MICROSOFT, "Concat": MICROSOFT, "Conv": "",
    "GlobalAveragePool": MICROSOFT, "LeakyRelu": MICROSOFT, "MatMul": "", "Mul": MICROSOFT,
    "Sigmoid": MICROSOFT,
}  # fmt: skip
"""Operators for which there is one on integers, called QLinear…, and its domain."""
_EIGHT_BITS = (ir.DataType.INT8, ir.DataType.UINT8)
_WEIGHTED = ("Conv", "Gemm", "MatMul")
_OF_SCALARS = ("Add", "AveragePool", "Mul")
"""Those whose scales and zero points ONNX Runtime takes without an axis only."""


@register
class FuseQuantizedOperators(Pass):
    """Fuse quantization into operators on integers.

    What it does:
        An operator that reads what DequantizeLinear makes, and is read by a QuantizeLinear alone,
        becomes one on integers: QLinearConv, QLinearMatMul, QLinearAdd, … A product with constant
        weights whose result stays float becomes MatMulIntegerToFloat or QGemm. ONNX Runtime does
        the same when it opens the file; written out, it can be seen, measured and edited.
    Before:
        DequantizeLinear(x), DequantizeLinear(w) → Conv → QuantizeLinear
    After:
        QLinearConv(x, w)
    When it is safe:
        Scales and zero points are constant; the values, the result too, have one scale, weights one
        or, if they are no stack of matrices, one a channel of the result. The scale of a bias is
        that of input times weights, times a Gemm's alpha; one added to a product has a number a
        column. Scales are float32 and integers have 8 bits; those read and made are of one type,
        but that weights may be int8 where the others are uint8.
    Numerics:
        The same integers are added up; a result on the border of two may go to the other one.
    Source:
        ONNX operator specification, QLinearConv; ONNX Runtime, operator-oriented (QOperator)
        representation.
    """

    id = "fuse-quantized-operators"
    exactness = "lossy"
    order = 90

    @rule(*_OF_ELEMENTS, name="BetweenQuantization")
    def quantized(self, node: ir.Node, context: Context) -> Outcome:
        """An operator before a QuantizeLinear."""
        out = node.outputs[0]
        last = next(iter(out.uses())).node if context.single_use(out) else None
        if last is None or last.op_type != "QuantizeLinear" or last.domain:
            return None
        return _answered(node, last, context, _quantized)

    @rule("MatMul", "Gemm", name="FloatResult")
    def product(self, node: ir.Node, context: Context) -> Outcome:
        """A product with constant weights whose result is read as float."""
        if any(use.node.op_type == "QuantizeLinear" for use in node.outputs[0].uses()):
            return None
        weight = producer_of(node.inputs[1], "DequantizeLinear")
        if weight is None or not context.is_constant(weight.inputs[0]):
            return None
        return _answered(node, node, context, _of_gemm if node.op_type == "Gemm" else _of_matmul)


_Write = Callable[[ir.Node, ir.Node, Context], tuple[NewNode, ir.Node]]
"""Writes a node, and says which node's result that is, if not that of the last one given."""


@dataclass(frozen=True, slots=True)
class _Integers:
    """What a DequantizeLinear reads: integers, scale and zero point."""

    data: ir.Value
    scale: ir.Value
    zero: Operand

    @property
    def all(self) -> tuple[Operand, Operand, Operand]:
        """In the order of the operators on integers."""
        return self.data, self.scale, self.zero


def _answered(node: ir.Node, last: ir.Node, context: Context, write: _Write) -> Outcome:
    """What `write` makes; None where nothing is dequantized here."""
    if producer_of(given(node, 0), "DequantizeLinear") is None:
        return None
    try:
        made, end = write(node, last, context)
    except NotHere as why:
        return Declined(str(why))
    read = [value for one in (node, end) for value in one.inputs]
    found = [producer_of(value, "DequantizeLinear") for value in read]
    above = [one for one in found if one is not None and one.graph is node.graph]
    matched = list(dict.fromkeys([*above, node, end]))
    reason = "What it reads and makes are integers with constant scales."
    return Replacement(matched, {end.outputs[0]: made.output()}, reason, [made])


def _quantized(node: ir.Node, last: ir.Node, context: Context) -> tuple[NewNode, ir.Node]:
    """The operator with integers in and out."""
    if node.op_type == "AveragePool" and "dilations" in node.attributes:
        raise NotHere("QLinearAveragePool has no dilations")
    count = 2 if node.op_type in ("Conv", "MatMul") else len(node.inputs)
    weighted = node.op_type in _WEIGHTED
    inputs = [
        _integers(node, index, context, axis=_channels(node) if weighted and index == 1 else None)
        for index in range(count)
    ]
    end = _of_result(last, context)
    _check_types(node, inputs, (end[0], last.outputs[0]))
    scales = [(found.scale, found.zero) for found in inputs]
    if node.op_type in _OF_SCALARS:
        end, *scales = (_scalars(pair, context) for pair in (end, *scales))
    pairs = zip(inputs, scales, strict=True)
    operands: list[Operand | None] = [one for each, of in pairs for one in (each.data, *of)]
    operands = [*end, *operands] if node.op_type == "Concat" else [*operands, *end]
    if node.op_type == "Conv" and given(node, 2) is not None:
        operands.append(_bias(node, inputs[0], inputs[1], context))
    about = attributes_of(node)
    domain = _OF_ELEMENTS[node.op_type]
    return NewNode(f"QLinear{node.op_type}", operands, about, domain), last


def _of_matmul(node: ir.Node, last: ir.Node, context: Context) -> tuple[NewNode, ir.Node]:
    """The product, and the constant bias that an Add gives it."""
    data, weight = _integers(node, 0, context), _integers(node, 1, context, axis=1)
    _check_types(node, [data, weight])
    columns = weight.data.shape[1] if weight.data.shape is not None else 0
    if weight.data.shape is None or len(weight.data.shape) != 2 or not isinstance(columns, int):
        raise NotHere("Its weights are no matrix")
    adding, bias = _dequantized_bias(node, columns, context)
    if adding is None:
        adding, added = bias_after(node, columns, context)
        bias = None if added is None else context.array(added)
    constant = [] if bias is None else [NewInitializer.of(bias, "bias", np.float32)]
    first, second = (data.scale, weight.scale), (data.zero, weight.zero)
    operands = [data.data, weight.data, *first, *second, *constant]
    return NewNode("MatMulIntegerToFloat", operands, {}, MICROSOFT), adding or last


def _of_gemm(node: ir.Node, last: ir.Node, context: Context) -> tuple[NewNode, ir.Node]:
    """The product with its bias."""
    transposed = context.attribute(node, "transB")
    data, weight = (
        _integers(node, 0, context),
        _integers(node, 1, context, axis=1 - bool(transposed)),
    )
    _check_types(node, [data, weight])
    if context.number(node, "beta") != 1:
        raise NotHere("Its bias is scaled")
    bias = [] if given(node, 2) is None else [_bias(node, data, weight, context)]
    about = {name: context.attribute(node, name) for name in ("alpha", "transA", "transB")}
    return NewNode("QGemm", [*data.all, *weight.all, *bias], about, MICROSOFT), last


def _channels(node: ir.Node) -> int | None:
    """The axis of constant weights along which ONNX Runtime takes a scale each."""
    if node.op_type == "Conv":
        return 0
    weight = node.inputs[1]
    # Along axis 1 of a stack of matrices lie their rows.
    matrix = weight is not None and weight.shape is not None and len(weight.shape) == 2
    return 1 if matrix else None


def _integers(node: ir.Node, index: int, context: Context, *, axis: int | None = None) -> _Integers:
    """What an input is dequantized from, with one scale, or one along `axis`.

    Raises:
        NotHere: it is not, or otherwise.
    """
    made_by = producer_of(node.inputs[index], "DequantizeLinear")
    if made_by is None or made_by.inputs[0] is None:
        raise NotHere("Not all that it reads is quantized")
    scale = _constant(made_by, 1, context)
    alone = context.scalar(scale) is not None
    if not alone and (axis is None or context.attribute(made_by, "axis") != axis):
        raise NotHere("What it reads has scales along another axis")
    if context.attribute(made_by, "block_size"):
        raise NotHere("What it reads has a scale a block")
    return _Integers(made_by.inputs[0], scale, _zero(made_by, context))


def _of_result(last: ir.Node, context: Context) -> tuple[ir.Value, Operand]:
    """Scale and zero point of a QuantizeLinear.

    Raises:
        NotHere: it has several scales.
    """
    scale = _constant(last, 1, context)
    if context.scalar(scale) is None or context.attribute(last, "block_size"):
        raise NotHere("Its result has more than one scale")
    return scale, _zero(last, context)


def _scalars(values: Sequence[Operand], context: Context) -> list[Operand]:
    """Scales and zero points of one element, without the axis that they may have."""
    made: list[Operand] = []
    for value in values:
        data = value.tensor.numpy() if isinstance(value, NewInitializer) else None
        data = context.array(value) if isinstance(value, ir.Value) else data
        if data is not None and data.ndim and data.size == 1:
            made.append(NewInitializer.of(data.reshape(()), "scalar"))
        else:
            made.append(value)
    return made


def _check_types(
    node: ir.Node, read: list[_Integers], made: tuple[ir.Value, ir.Value] | None = None
) -> None:
    """Guard: ONNX Runtime has the operator for integers of these types.

    Args:
        node: the operator on floats.
        read: data, then weights where it has some.
        made: the scale of its result, and the result; None where that stays float.

    Raises:
        NotHere: it has not.
    """
    pairs = [(one.scale, one.data) for one in read] + ([] if made is None else [made])
    scales, integers = ([value.dtype for value in each] for each in zip(*pairs, strict=True))
    wide = [dtype for dtype in integers if dtype not in _EIGHT_BITS]
    if wide:
        raise NotHere(f"Its integers do not have 8 bits: {wide[0]}")
    if any(dtype != ir.DataType.FLOAT for dtype in scales):
        raise NotHere("Its scales are not float32")
    weighted = node.op_type in _WEIGHTED
    if weighted and integers[1] == ir.DataType.UINT8 != integers[0]:
        raise NotHere("ONNX Runtime multiplies int8 by int8 alone: its weights are uint8")
    alike = {integers[0], *integers[2:]} if weighted else {*integers}
    if len(alike) > 1:
        raise NotHere("What it reads and makes are integers of two types")


def _constant(node: ir.Node, index: int, context: Context) -> ir.Value:
    value = node.inputs[index]
    if value is None or not context.is_constant(value):
        raise NotHere("A scale or a zero point is computed")
    return value


def _zero(node: ir.Node, context: Context) -> Operand:
    """The zero point of a QuantizeLinear or DequantizeLinear, written out."""
    if given(node, 2) is not None:
        return _constant(node, 2, context)
    value = node.inputs[0] if node.op_type == "DequantizeLinear" else node.outputs[0]
    scale = context.array(node.inputs[1])
    if value is None or value.dtype is None or scale is None:
        raise NotHere("The type of its integers is not known")
    return NewInitializer.of(np.zeros(scale.shape, value.dtype.numpy()), "zero_point")


def _bias(node: ir.Node, data: _Integers, weight: _Integers, context: Context) -> ir.Value:
    """The int32 of a bias.

    Raises:
        NotHere: it has another scale than the products, which a Gemm multiplies by alpha.
    """
    made_by = producer_of(given(node, 2), "DequantizeLinear")
    integers = None if made_by is None else made_by.inputs[0]
    scale = None if made_by is None else context.array(made_by.inputs[1])
    first, second = context.array(data.scale), context.array(weight.scale)
    alpha = context.number(node, "alpha") if node.op_type == "Gemm" else 1
    if integers is None or scale is None or integers.dtype != ir.DataType.INT32:
        raise NotHere("Its bias is not int32")
    if first is None or second is None:
        raise NotHere("A scale or a zero point is computed")
    if not np.allclose(scale, alpha * first * second, rtol=1e-4, atol=0):
        raise NotHere("Its bias has another scale than its products")
    return integers


def _dequantized_bias(
    node: ir.Node, columns: int, context: Context
) -> tuple[ir.Node | None, np.ndarray | None]:
    """The Add of a bias that is dequantized, and its numbers.

    Raises:
        NotHere: they are not one for each of the `columns` of the product.
    """
    out = node.outputs[0]
    adding = next(iter(out.uses())).node if context.single_use(out) else None
    if adding is None or adding.op_type != "Add" or adding.domain or adding.graph is not node.graph:
        return None, None
    made_by = producer_of(adding.inputs[0 if adding.inputs[1] is out else 1], "DequantizeLinear")
    parts = [context.array(given(made_by, index)) for index in (0, 1)] if made_by else [None]
    integers, *scale = parts
    if integers is None or not scale or scale[0] is None or integers.ndim != 1:
        return None, None
    if integers.dtype != np.int32:
        return None, None
    if integers.size != columns:
        raise NotHere(f"Its bias has not one number for each of the {columns} columns")
    return adding, (integers * scale[0]).astype(np.float32)
