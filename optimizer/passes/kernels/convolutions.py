"""Convolutions as something else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.passes.kernels.quantization import quantized_rows
from optimizer.passes.kernels.site import (
    NotHere,
    Site,
    attributes_of,
    dims_of,
    floats_of,
    only_one_free,
    written,
)
from optimizer.registry import Pass, register, rule
from optimizer.rules.context import Context
from optimizer.rules.replacement import Operand, Outcome, Replacement

KINDS = ("Conv",)


def convolution_as_product(site: Site) -> Replacement:
    """A 1×1 convolution is a matrix product over channels; strides skip pixels beforehand."""
    node = _convolution(site)
    image: Operand | None = node.inputs[0]
    weight = floats_of(node.inputs[1])
    about = attributes_of(node)
    if any(size != 1 for size in weight.shape[2:]):
        raise NotHere("only a 1×1 convolution is a plain matrix product")
    if about.get("group", 1) != 1 or any(about.get("pads", ())):
        raise NotHere("it has groups or padding")
    if about.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise NotHere("its padding is not known")
    strides = about.get("strides", (1,) * (weight.ndim - 2))
    dims = dims_of(node.outputs[0])
    target = only_one_free(*dims[2:])
    outputs, inputs = weight.shape[:2]
    if max(strides) > 1:
        image = _every(site, image, strides)
    rows = site.new("Reshape", image, site.integers(0, inputs, -1))
    result: Operand = site.new("MatMul", site.weight(weight.reshape(outputs, inputs)), rows)
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        result = site.new("Add", result, site.weight(floats_of(node.inputs[2])[:, None]))
    result = site.new("Reshape", result, site.integers(0, outputs, *target))
    why = "A 1×1 convolution is a product of its weights with the pixels, channel by channel."
    return site.put([node], node.outputs[0], result, why)


def convolution_in_integers(site: Site) -> Replacement:
    """Weights as int8 by output channel, activations as uint8 anew in every run."""
    node = _convolution(site)
    weight = floats_of(node.inputs[1])
    rows, scales = quantized_rows(weight.reshape(weight.shape[0], -1))
    pixels, scale, zero = site.news("DynamicQuantizeLinear", _input(node), count=3)
    product = site.new(
        "ConvInteger", pixels, site.weight(rows.reshape(weight.shape)), zero, **attributes_of(node)
    )
    spread = (1, -1, *(1,) * (weight.ndim - 2))
    result = site.new("Cast", product, to=int(ir.DataType.FLOAT))
    both = site.new("Mul", scale, site.weight(scales.reshape(spread)))
    result = site.new("Mul", result, both)
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        result = site.new("Add", result, site.weight(floats_of(node.inputs[2]).reshape(spread)))
    why = "Its weights are constant: int8 with a scale a channel; its input is quantized anew."
    return site.put([node], node.outputs[0], result, why)


def _convolution(site: Site) -> ir.Node:
    node = site.node("Conv")
    if node is None:
        raise NotHere("it is no convolution")
    return node


def _input(node: ir.Node) -> ir.Value:
    value = node.inputs[0]
    assert value is not None
    return value


def _every(site: Site, image: Operand | None, strides: tuple[int, ...]) -> Operand:
    axes = range(2, 2 + len(strides))
    return site.new(
        "Slice",
        image,
        site.integers(*(0 for _ in strides)),
        site.integers(*(int(np.iinfo(np.int64).max) for _ in strides)),
        site.integers(*axes),
        site.integers(*strides),
    )


@register
@dataclass(frozen=True)
class WriteConvAsMatmul(Pass):
    """Write a 1×1 Conv as MatMul.

    What it does:
        A convolution of one pixel is a matrix product over channels, for which the runtime has
        other kernels. Strides become a Slice before it.
    Before:
        Conv 1×1
    After:
        Reshape → MatMul → Reshape
    When it is safe:
        The kernel has size 1, one group and no padding; its weights are constant float32; at most
        one size of the result is free.
    Numerics:
        The same products, added in another order.
    Source:
        ONNX Runtime; whether it is faster, a race says.
    """

    id = "write-conv-as-matmul"
    family = "kernels"
    exactness = "reassociates"
    presets = ()

    @rule("Conv", name="PointwiseConv")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The convolution; what follows it stays."""
        return written(node, context, convolution_as_product, kinds=KINDS, at=0)


@register
@dataclass(frozen=True)
class QuantizeConvDynamically(Pass):
    """Compute Conv in 8-bit integers.

    What it does:
        Weights are stored as int8 with a scale a channel; the input is quantized anew in every
        run; products are of integers.
    Before:
        Conv
    After:
        DynamicQuantizeLinear → ConvInteger → Cast → Mul
    When it is safe:
        The weights are constant float32. What is lost has to be worth it: no accuracy is promised.
    Numerics:
        8 bits: about 1 % of the largest result.
    Source:
        Jacob et al. 2018, eq. 1.
    """

    id = "quantize-conv-dynamically"
    family = "kernels"
    exactness = "lossy"
    presets = ()

    @rule("Conv", name="DynamicConv")
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The convolution; what follows it stays."""
        return written(node, context, convolution_in_integers, kinds=KINDS, at=0)
