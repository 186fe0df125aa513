"""Products with constant weights: the weights, the bias, and what they meet on average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from optimizer.passes.precision.pairs import Weights
from optimizer.rules import Context, Declined, given


def name_of(value: ir.Value | None) -> str:
    """A value's name in the file; empty for none."""
    return "" if value is None else value.name or ""


def weights_of(
    node: ir.Node, context: Context, *, per_channel: bool, bits: int
) -> Weights | Declined | None:
    """Constant weights, and the bias; None for a product of two values that are computed."""
    data, bias = context.array(node.inputs[1]), given(node, 2)
    if data is None or data.dtype != np.float32 or data.ndim < 2 or not data.size:
        return None
    added = context.array(bias)
    if bias is not None and (added is None or added.dtype != np.float32):
        return Declined("Its bias is not a float32 constant")
    names = (name_of(node.inputs[1]), name_of(bias))
    if node.op_type == "Conv":
        return Weights(data, added, 0, per_channel, bits, names)
    if node.op_type == "MatMul":
        # A stack of matrices has no channels that all of them share.
        return Weights(data, None, data.ndim - 1, per_channel and data.ndim == 2, bits, names)
    if context.attribute(node, "transA") or context.number(node, "alpha") != 1:
        return Declined("Its Gemm transposes its rows, or scales")
    axis = 0 if context.attribute(node, "transB") else 1
    if added is not None and (
        added.shape != (data.shape[axis],) or context.number(node, "beta") != 1
    ):
        return Declined("Its bias is no row, or is scaled")
    return Weights(data, added, axis, per_channel, bits, names)


def corrected(weights: Weights, node: ir.Node, means: Mapping[str, Sequence[float]]) -> Weights:
    """The weights with the mean of what they meet, where it was observed for their channels.

    Source: Nagel et al. 2019, eq. 17: the mean that is added is the error of the weights times the
    mean of the input.
    """
    mean = np.asarray(means.get(name_of(node.inputs[0]), ()), np.float32)
    data = weights.data
    if node.op_type == "Conv":
        groups = mean.size // data.shape[1]
        if groups * data.shape[1] != mean.size or not groups or data.shape[0] % groups:
            return weights
        rows = mean.reshape(groups, -1).repeat(data.shape[0] // groups, axis=0)
        met = rows.reshape(*rows.shape, *(1,) * (data.ndim - 2))
    elif data.ndim == 2 and mean.size == data.shape[1 - weights.axis]:
        met = np.expand_dims(mean, weights.axis)
    else:
        return weights
    none = None if node.op_type == "MatMul" else np.zeros(data.shape[weights.axis], np.float32)
    return replace(weights, met=met, bias=none if weights.bias is None else weights.bias)


def bias_after(
    node: ir.Node, columns: int, context: Context
) -> tuple[ir.Node | None, ir.Value | None]:
    """The Add that gives a product its constant bias, and the bias."""
    out = node.outputs[0]
    adding = next(iter(out.uses())).node if context.single_use(out) else None
    if adding is None or adding.op_type != "Add" or adding.domain or adding.graph is not node.graph:
        return None, None
    bias = adding.inputs[0 if adding.inputs[1] is out else 1]
    data = context.array(bias)
    if data is None or data.dtype != np.float32 or data.shape != (columns,):
        return None, None
    return adding, bias
