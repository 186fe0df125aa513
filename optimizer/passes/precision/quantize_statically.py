"""Products in int8 with ranges known beforehand, and everything between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np
import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.operators.catalogue import standard
from optimizer.passes.draft import NotHere, attributes_of
from optimizer.passes.precision.pairs import (
    PER_CHANNEL_SINCE,
    SINCE,
    Dequantized,
    Pairs,
    Weights,
    dequantized_from,
    pair_before,
)
from optimizer.passes.precision.products import bias_after, corrected, name_of, weights_of
from optimizer.precision.quantization import QuantizationParameters, affine
from optimizer.precision.ranges import Range, table_of
from optimizer.registry import ANY, Pass, register, rule
from optimizer.rules import Context, Declined, NewNode, Operand, Outcome, Replacement, given

_BYTES_SINCE = 12
"""The operator set since which MaxPool takes integers of 8 bits."""
HIGHER = "Switch on raise-opset."
"""What a user can do about a model of too old an opset."""


@register
class QuantizeStatically(Pass):
    """Compute products and what is between them in int8.

    What it does:
        A Conv, and a MatMul or Gemm with constant weights, reads what QuantizeLinear and
        DequantizeLinear make of its input with a range known beforehand, and int8 weights, by
        default with a scale a channel; a runtime runs that as one operator on integers. Neighbors
        share such pairs. The result of a Conv is quantized too, a Relu or Clip after it becomes the
        end of its range, and what reads only quantized values (Add, Mul, pooling, Concat, Reshape)
        stays on integers. Results of MatMul and Gemm stay float: Softmax and normalizations, which
        follow in transformers, lose more than they win.
    Before:
        x → Conv(w) → Relu
    After:
        x → QuantizeLinear → DequantizeLinear → Conv(DequantizeLinear(w)) → QuantizeLinear →
        DequantizeLinear
    When it is safe:
        A range for every value that is quantized, in `ranges`: name, low, high. Weights and bias
        are constant float32. A scale a channel needs opset 13 (see raise-opset). No accuracy is
        promised.
    Numerics:
        8 bits for activations, which saturate outside their range, 8 (or `weight_bits`) for
        weights; biases are int32. With `means`, the mean of each channel of what a product reads,
        its bias takes back what rounding of the weights adds on average.
    Source:
        Jacob et al. 2018, Quantization and Training of Neural Networks for Efficient
        Integer-Arithmetic-Only Inference; ONNX Runtime, QDQ representation; Nagel et al. 2019,
        section 4.2 (bias correction).
    """

    id = "quantize-statically"
    exactness = "lossy"
    order = 60

    ranges: tuple[tuple[str, float, float], ...] = ()
    activations: Literal["uint8", "int8"] = "uint8"
    per_channel: bool = True
    weight_bits: int = 8
    means: tuple[tuple[str, tuple[float, ...]], ...] = ()

    @rule("Conv", "MatMul", "Gemm", name="ConstantProduct")
    def product(self, node: ir.Node, context: Context) -> Outcome:
        """A Conv, MatMul or Gemm with constant weights."""
        found = weights_of(node, context, per_channel=self.per_channel, bits=self.weight_bits)
        if not isinstance(found, Weights):
            return found
        since = PER_CHANNEL_SINCE if found.per_channel else SINCE
        if context.opset() < since:
            reason = f"Quantized weights need operator set {since}"
            return Declined(reason, unlock=HIGHER)
        return _Unit(self, node, context).product(corrected(found, node, self._means(context)))

    @rule(ANY, name="BetweenIntegers")
    def between(self, node: ir.Node, context: Context) -> Outcome:
        """An operator that reads quantized values alone."""
        operator = standard(node)
        if operator is None or operator.integer is None or len(node.outputs) != 1:
            return None
        inputs = [dequantized_from(value, context) for value in node.inputs]
        read_by = {use.node.op_type for use in node.outputs[0].uses()}
        if inputs[0] is None or read_by == {"QuantizeLinear"}:
            return None
        if operator.integer == "keeps":
            return _sunk(node, context)
        constant = [context.is_constant(value) for value in node.inputs]
        if not all(one or other for one, other in zip(inputs, constant, strict=True)):
            return Declined("Not all that it reads is quantized")
        return _Unit(self, node, context).computed(inputs)

    def _means(self, context: Context) -> Mapping[str, Sequence[float]]:
        if "means" not in context.memory:
            context.memory["means"] = dict(self.means)
        return cast("Mapping[str, Sequence[float]]", context.memory["means"])

    def table(self, context: Context) -> Mapping[str, Range]:
        """`ranges` by name, put together once a round."""
        if "ranges" not in context.memory:
            context.memory["ranges"] = table_of(self.ranges)
        return cast("Mapping[str, Range]", context.memory["ranges"])


@dataclass(frozen=True, slots=True)
class _Unit:
    """A node, with the Relu or Clip after it, that is to run on integers."""

    asked: QuantizeStatically
    node: ir.Node
    context: Context

    def _pairs(self) -> Pairs:
        return Pairs(self.context.opset(), self.node.name or self.node.op_type)

    def product(self, weights: Weights) -> Outcome:
        """The node on a quantized input and quantized weights."""
        pairs = self._pairs()
        try:
            data = self._read(self.node.inputs[0], pairs)
            if self.node.op_type == "Conv":
                operands = [data.real, *filter(None, weights.written(pairs, data.scale))]
                return self._put(pairs, operands)
            return self._to_float(pairs, data, weights)
        except NotHere as why:
            return Declined(str(why))

    def _to_float(self, pairs: Pairs, data: Dequantized, weights: Weights) -> Replacement:
        """A matrix product whose result stays float; the bias that an Add gives it is int32 too.

        ONNX Runtime makes one Gemm of MatMul and Add, and runs it on integers only if all it reads
        is quantized.
        """
        node = self.node
        adding, added = (None, None)
        if node.op_type == "MatMul" and weights.per_channel:
            adding, added = bias_after(node, weights.data.shape[1], self.context)
        names = (weights.names[0], name_of(added) if added is not None else weights.names[1])
        bias = weights.bias if added is None else self.context.array(added)
        bias = None if bias is None else bias.reshape(-1)
        weight, bias = replace(weights, bias=bias, names=names).written(pairs, data.scale)
        operands = [data.real, weight, *filter(None, [None if adding else bias])]
        result = pairs.new(node.op_type, *operands, **attributes_of(node))
        if adding is not None:
            result = pairs.new("Add", result, bias)
        last = adding or node
        why = "Its weights are constant, and the range of what it reads is known."
        matched = list(dict.fromkeys([node, last]))
        return Replacement(matched, {last.outputs[0]: result}, why, pairs.made)

    def computed(self, inputs: list[Dequantized | None]) -> Outcome:
        """The node as it is, with its result quantized."""
        pairs = self._pairs()
        operands: list[Operand | None] = []
        for value, known in zip(self.node.inputs, inputs, strict=True):
            array = self.context.array(value)
            if known is not None:
                operands.append(value)
            elif array is None or array.dtype != np.float32:
                return Declined("A constant that it reads is not float32")
            else:
                operands.append(pairs.constant(array, name_of(value)).real)
        try:
            return self._put(pairs, operands)
        except NotHere as why:
            return Declined(str(why))

    def _read(self, value: ir.Value | None, pairs: Pairs) -> Dequantized:
        """An input quantized: as its producer or another reader has it, or anew."""
        assert value is not None
        known = dequantized_from(value, self.context)
        if known is not None:
            return known
        by = affine(self._range(value), self.asked.activations)
        shared = pair_before(value, self.node, by, self.context)
        return shared or pairs.pair(value, by, name_of(value))

    def _put(self, pairs: Pairs, operands: Sequence[Operand | None]) -> Replacement:
        """The node with its result quantized."""
        node = self.node
        result = pairs.new(node.op_type, *operands, **attributes_of(node))
        last, by = self._end()
        pair = pairs.pair(result, by, name_of(last.outputs[0]))
        folded = f" {last.op_type} is the end of its range." if last is not node else ""
        why = f"The ranges of what it reads and makes are known.{folded}"
        matched = list(dict.fromkeys([node, last]))
        return Replacement(matched, {last.outputs[0]: pair.real}, why, pairs.made)

    def _end(self) -> tuple[ir.Node, QuantizationParameters]:
        """The last node of the unit, and how its result becomes integers."""
        out = self.node.outputs[0]
        follower = next(iter(out.uses())).node if self.context.single_use(out) else None
        bounds = None if follower is None else _bounds(follower, self.context)
        name = None if follower is None else name_of(follower.outputs[0])
        found = self.asked.table(self.context).get(name or "")
        if follower is not None and bounds is not None and found is not None:
            low, high = (float(np.clip(end, *bounds)) for end in (found.low, found.high))
            by = affine(Range(low, high), self.asked.activations)
            # What saturates is what Relu or Clip would have cut off, to half a step.
            if by.range.low > bounds[0] - by.scale / 2 and by.range.high < bounds[1] + by.scale / 2:
                return follower, by
        return self.node, affine(self._range(out), self.asked.activations)

    def _range(self, value: ir.Value) -> Range:
        found = self.asked.table(self.context).get(name_of(value))
        if found is None:
            raise NotHere(f"No range is known: value {quoted(name_of(value))}")
        return found


def _bounds(node: ir.Node, context: Context) -> tuple[float, float] | None:
    """Between what a Relu or a Clip with constant bounds leaves its input; None for others."""
    if node.domain or len(node.outputs) != 1:
        return None
    if node.op_type == "Relu":
        return 0.0, np.inf
    if node.op_type != "Clip" or context.opset() < 11:
        return None
    ends = [given(node, 1), given(node, 2)]
    low, high = (context.scalar(end) for end in ends)
    if any(end is not None and known is None for end, known in zip(ends, (low, high), strict=True)):
        return None
    return (
        -np.inf if low is None else float(low),
        np.inf if high is None else float(high),
    )


def _sunk(node: ir.Node, context: Context) -> Outcome:
    """Integers moved as they are, and dequantized afterwards."""
    value = node.inputs[0]
    dequantize = None if value is None else value.producer()
    if dequantize is None or dequantize.graph is not node.graph:
        return None
    if context.opset() < _BYTES_SINCE:
        return Declined(f"{node.op_type} of integers needs operator set {_BYTES_SINCE}")
    moved = NewNode(
        node.op_type, [dequantize.inputs[0], *node.inputs[1:]], dict(node.attributes), node.domain
    )
    back = NewNode(
        "DequantizeLinear", [moved.output(), *dequantize.inputs[1:]], dict(dequantize.attributes)
    )
    reason = f"{node.op_type} moves numbers or picks some: it does the same to integers."
    return replace(Replacement.by(back, reason, dequantize, node), nodes=[moved, back])
