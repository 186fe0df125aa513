"""Convolutions as something else."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from profiling.kernels.reformulations.quantization import quantized_rows
from profiling.kernels.reformulations.site import (
    NotHere,
    Site,
    attributes_of,
    dims_of,
    floats_of,
    only_one_free,
)

_SLICE_WITH_STEPS = 10


def convolution_as_product(site: Site) -> None:
    """A 1×1 convolution is a matrix product over channels; strides skip pixels beforehand."""
    node = _convolution(site)
    image, weight = node.inputs[0], floats_of(node.inputs[1])
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
    result = site.new("MatMul", site.weight(weight.reshape(outputs, inputs)), rows)
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        result = site.new("Add", result, site.weight(floats_of(node.inputs[2])[:, None]))
    result = site.new("Reshape", result, site.integers(0, outputs, *target))
    site.put([node], node.outputs[0], result)


def convolution_in_integers(site: Site) -> None:
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
    site.put([node], node.outputs[0], result)


def _convolution(site: Site) -> ir.Node:
    node = site.node("Conv")
    if node is None:
        raise NotHere("it is no convolution")
    return node


def _input(node: ir.Node) -> ir.Value:
    value = node.inputs[0]
    assert value is not None
    return value


def _every(site: Site, image: ir.Value | None, strides: tuple[int, ...]) -> ir.Value:
    if site.opset < _SLICE_WITH_STEPS:
        raise NotHere(f"strides need operator set {_SLICE_WITH_STEPS}")
    axes = range(2, 2 + len(strides))
    return site.new(
        "Slice",
        image,
        site.integers(*(0 for _ in strides)),
        site.integers(*(int(np.iinfo(np.int64).max) for _ in strides)),
        site.integers(*axes),
        site.integers(*strides),
    )
