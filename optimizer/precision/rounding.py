"""How much rounding a network's values to 16 bits adds to them, told beforehand from one run.

An estimate that ranks nodes: it knows nothing of what becomes of an error further on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.precision.float_formats import FloatFormat, Losses
from optimizer.precision.histogram import BINS, Histogram

_BIAS = 127
_LEAST = 2.0**-126
"""The smallest normal float32: below it nothing is told apart."""


def noise(histogram: Histogram, form: FloatFormat) -> float:
    """Mean squared error of rounding what was counted: step² / 12, each number in its binade.

    What is beyond the range is not part of it.
    """
    least = math.frexp(form.smallest_normal)[1] - 1
    exponents = np.maximum(np.arange(255) - _BIAS, least) - (form.digits - 1)
    counts = histogram.exponents[:255].astype(np.float64)
    counts[0] -= histogram.zeros
    return float((counts * np.exp2(2.0 * exponents)).sum() / 12 / max(1, histogram.finite))


def lost(histogram: Histogram, form: FloatFormat) -> Losses:
    """How many of the numbers are lost, by kind; beyond the range from the next power of two on."""
    beyond = math.frexp(form.largest)[1] + _BIAS
    vanished = histogram.nonzero_below(form.smallest / 2) if form.smallest > _LEAST else 0
    low = histogram.nonzero_below(form.smallest_normal) if form.smallest_normal > _LEAST else 0
    overflow = int(histogram.exponents[beyond:255].sum())
    return Losses(histogram.seen, overflow, subnormal=low - vanished, vanished=vanished)


def power(histogram: Histogram) -> float:
    """Mean square of what was counted, each number in the middle of its bin."""
    middles = (np.arange(BINS) + 0.5) * histogram.width
    counted = histogram.magnitudes.astype(np.float64)
    counted[0] -= histogram.zeros
    return float((counted * np.square(middles)).sum() / max(1, histogram.finite))


def estimated_error(node: ir.Node, histograms: Mapping[str, Histogram], form: FloatFormat) -> float:
    """Error of a node's results in 16 bits over the results themselves, as powers.

    What is rounded of the results, and of a product's weights: mse(W) · mean(x²) · the products
    that one result sums up.
    """
    seen = next((histograms[v.name] for v in node.outputs if v.name and v.name in histograms), None)
    if seen is None or not power(seen):
        return 0.0
    added = noise(seen, form)
    first, weight = (*node.inputs, None, None)[0], constant_of((*node.inputs, None, None)[1])
    data = histograms.get(first.name or "") if first is not None else None
    products = 0 if weight is None else _products(node, weight)
    if data is not None and weight is not None and products and weight.dtype == ir.DataType.FLOAT:
        array = weight.numpy()
        off = array.astype(np.float64) - form.rounded(array).astype(np.float64)
        added += float(np.square(off).mean()) * power(data) * products
    return added / power(seen)


def _products(node: ir.Node, weight: ir.TensorProtocol) -> int:
    """How many products with a weight one result sums up; 0 where there are none."""
    shape = weight.shape.numpy()
    if not all(shape):
        return 0
    match node.op_type:
        case "MatMul":
            return shape[-2] if len(shape) > 1 else shape[0]
        case "Gemm":
            return shape[1 if node.attributes.get_int("transB", 0) else 0]
        case "Conv":
            return math.prod(shape[1:])
        case _:
            return 0
