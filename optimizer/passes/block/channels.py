"""Scale and shift per channel, folded into the weights of Conv, ConvTranspose, Gemm or MatMul.

Everything is computed in float64 and rounded once, to the element type of the weights. Weights are
never changed in place: other nodes may share them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from optimizer.errors import quoted
from optimizer.passes.wording import variable
from optimizer.rules import Context, Declined, NewInitializer, NewNode, Operand, given

CONVOLUTIONS = ("Conv", "ConvTranspose")
PRODUCTS = ("Gemm", "MatMul")

_PART_ELEMENTS = 1 << 18
"""Of larger weights so many are scaled at a time, which takes half as long."""


@dataclass(frozen=True, slots=True)
class Affine:
    """What happens to each channel: `x * scale + shift`.

    Attributes:
        scale: float64[channels], or float64[] for all.
        shift: likewise.
        hint: a readable name for a bias that comes of it.
    """

    scale: np.ndarray
    shift: np.ndarray
    hint: str


def unknown_weights(linear: ir.Node, context: Context) -> Declined | None:
    """Why weight or bias of a node are not known beforehand; None when they are."""
    weight, bias = linear.inputs[1], given(linear, 2)
    unknown = variable(weight, "weight", context) or variable(bias, "bias", context)
    return None if unknown is None else replace(unknown, nodes=(linear,))


def output_channels(conv: ir.Node, context: Context) -> int:
    """How many channels a Conv or ConvTranspose with a constant weight puts out."""
    weight = context.tensor(conv.inputs[1])
    assert weight is not None, f"the weight of {quoted(conv.name or '')} is constant"
    shape = weight.shape.numpy()
    return shape[0] if conv.op_type == "Conv" else shape[1] * _group(conv, context)


def with_outputs_scaled(linear: ir.Node, affine: Affine, context: Context) -> NewNode | Declined:
    """The node with `affine` applied to its output channels; weight and bias are constant."""
    if linear.op_type in PRODUCTS:
        return _product_scaled(linear, affine, context)
    weight = _weight(linear, context)
    channels = output_channels(linear, context)
    if affine.scale.size not in (1, channels) or affine.shift.size not in (1, channels):
        return Declined(f"{linear.op_type} has {channels} output channels", (linear,))
    scale = np.broadcast_to(affine.scale.reshape(-1), (channels,))
    if linear.op_type == "Conv":
        factor = scale.reshape(-1, 1)
    else:  # weights are [inputs, outputs / group, ...]: outputs of group g stand at inputs of g
        group = _group(linear, context)
        factor = np.repeat(scale.reshape(group, -1), weight.shape[0] // group, axis=0)
    bias = _array(linear, 2, context)
    old = np.zeros(channels) if bias is None else bias.astype(np.float64)
    total = np.broadcast_to(old * scale + affine.shift, (channels,))
    needed = None if bias is None and not total.any() else total
    return _renewed(linear, weight, factor, bias=needed, hint=affine.hint)


def with_inputs_scaled(conv: ir.Node, scale: np.ndarray, context: Context) -> NewNode | Declined:
    """The convolution with its input channels multiplied by `scale`, float64[channels] or []."""
    weight, group = _weight(conv, context), _group(conv, context)
    channels = weight.shape[1] * group if conv.op_type == "Conv" else weight.shape[0]
    if scale.size not in (1, channels):
        return Declined(f"{conv.op_type} has {channels} input channels", (conv,))
    full = np.broadcast_to(scale.reshape(-1), (channels,))
    if conv.op_type == "Conv":  # weights are [outputs, inputs / group, ...]
        factor = np.repeat(full.reshape(group, -1), weight.shape[0] // group, axis=0)
    else:
        factor = full.reshape(-1, 1)
    return _renewed(conv, weight, factor, bias=given(conv, 2))


def with_columns_scaled(
    product: ir.Node, scale: np.ndarray, context: Context
) -> NewNode | Declined:
    """The MatMul or Gemm with the columns of its result multiplied by float64[columns] or [1]."""
    weight, transposed = _weight(product, context), bool(context.attribute(product, "transB"))
    columns = weight.shape[0 if transposed else -1]
    bias = _array(product, 2, context)
    if weight.ndim < 2 or scale.size not in (1, columns):
        return Declined(f"{product.op_type} has {columns} output columns", (product,))
    if bias is not None and bias.size > 1 and bias.shape[-1] == 1 and scale.size > 1:
        return Declined("The bias differs from row to row", (product,))
    factor = scale.reshape(-1, 1) if transposed else scale.reshape(1, -1)
    total = None if bias is None else bias.astype(np.float64) * scale
    return _product(product, factor, total, context)


def with_rows_scaled(product: ir.Node, scale: np.ndarray, context: Context) -> NewNode | Declined:
    """The MatMul or Gemm with the rows of its weight multiplied by float64[rows] or [1]."""
    weight, transposed = _weight(product, context), bool(context.attribute(product, "transB"))
    if weight.ndim < 2 or scale.size not in (1, weight.shape[-1 if transposed else -2]):
        return Declined(f"{product.op_type} has a weight with other rows", (product,))
    factor = scale.reshape(1, -1) if transposed else scale.reshape(-1, 1)
    return _product(product, factor, given(product, 2), context)


def with_inputs_affine(
    product: ir.Node, source: ir.Value | None, affine: Affine, context: Context
) -> NewNode | Declined:
    """Gemm of a matrix to whose columns `affine` was done before; weight and bias are constant."""
    weight, transposed = _weight(product, context), bool(context.attribute(product, "transB"))
    rows = weight.shape[1 if transposed else 0]
    if affine.scale.size not in (1, rows) or affine.shift.size not in (1, rows):
        return Declined(f"{product.op_type} has {rows} input columns", (product,))
    factor = affine.scale.reshape((1, -1) if transposed else (-1, 1))
    exact = weight.astype(np.float64)
    alpha, beta = (context.attribute(product, name) for name in ("alpha", "beta"))
    shift = np.broadcast_to(affine.shift.reshape(-1), (rows,))
    with np.errstate(all="ignore"):
        total = shift @ (exact.T if transposed else exact)
        total = total * (alpha if isinstance(alpha, float) else 1.0)
        if (bias := _array(product, 2, context)) is not None:
            total = total + bias.astype(np.float64) * (beta if isinstance(beta, float) else 1.0)
    made = _renewed(product, weight, factor, bias=total, hint=affine.hint)
    if isinstance(made, Declined):
        return made
    kept = {name: value for name, value in made.attributes.items() if name != "beta"}
    return NewNode("Gemm", [source, *made.inputs[1:]], kept, name=product.name)


def _product(
    product: ir.Node, factor: np.ndarray, bias: np.ndarray | ir.Value | None, context: Context
) -> NewNode | Declined:
    weight = _weight(product, context)
    scaled = _scaled(weight, factor)
    rounded = _rounded(bias, weight.dtype) if isinstance(bias, np.ndarray) else bias
    if scaled is None or (bias is not None and rounded is None):
        return Declined(f"The folded weights do not fit {weight.dtype}", (product,))
    inputs: list[Operand | None] = [
        product.inputs[0],
        _initializer(scaled, product.inputs[1], "weight"),
    ]
    if isinstance(rounded, np.ndarray):
        inputs.append(_initializer(rounded, given(product, 2), "bias"))
    elif rounded is not None:
        inputs.append(rounded)
    return NewNode(product.op_type, inputs, dict(product.attributes), name=product.name)


def along_channels(constant: np.ndarray, rank: int) -> np.ndarray | None:
    """A constant that broadcasts along axis 1 alone, as float64[channels] or float64[1].

    Args:
        constant: as it meets a tensor of rank `rank`.
        rank: at least 2.

    Returns:
        None where it varies along another axis or adds axes.
    """
    shape = (1,) * (rank - constant.ndim) + constant.shape
    if len(shape) != rank or any(size != 1 for axis, size in enumerate(shape) if axis != 1):
        return None
    return constant.astype(np.float64).reshape(-1)


def _product_scaled(linear: ir.Node, affine: Affine, context: Context) -> NewNode | Declined:
    weight = _weight(linear, context)
    transposed = bool(context.attribute(linear, "transB"))
    columns = weight.shape[0 if transposed else 1]
    bias = _array(linear, 2, context)
    if bias is not None and bias.ndim == 2 and bias.shape[0] != 1:
        return Declined("The bias differs from row to row", (linear,))
    if affine.scale.size not in (1, columns) or affine.shift.size not in (1, columns):
        return Declined(f"{linear.op_type} has {columns} output columns", (linear,))
    scale = np.broadcast_to(affine.scale.reshape(-1), (columns,))
    beta = context.attribute(linear, "beta")
    old = np.zeros(1) if bias is None else bias.astype(np.float64).reshape(-1)
    total = np.broadcast_to(
        old * (beta if isinstance(beta, float) else 1.0) * scale + affine.shift, (columns,)
    )
    factor = scale.reshape(-1, 1) if transposed else scale.reshape(1, -1)
    made = _renewed(linear, weight, factor, bias=total, hint=affine.hint)
    if isinstance(made, Declined):
        return made
    kept = {name: value for name, value in made.attributes.items() if name != "beta"}
    return NewNode("Gemm", made.inputs, kept, name=linear.name)


def _renewed(
    linear: ir.Node,
    weight: np.ndarray,
    factor: np.ndarray,
    *,
    bias: np.ndarray | ir.Value | None,
    hint: str = "",
) -> NewNode | Declined:
    """The node with its weight times `factor` (over the first two axes), and with this bias."""
    scaled = _scaled(weight, factor.reshape(*factor.shape, *(1,) * (weight.ndim - 2)))
    rounded = _rounded(bias, weight.dtype) if isinstance(bias, np.ndarray) else bias
    if scaled is None or (bias is not None and rounded is None):
        return Declined(f"The folded weights do not fit {weight.dtype}", (linear,))
    old_weight, old_bias = linear.inputs[1], given(linear, 2)
    inputs: list[Operand | None] = [linear.inputs[0], _initializer(scaled, old_weight, "weight")]
    if isinstance(rounded, np.ndarray):
        inputs.append(_initializer(rounded, old_bias, hint or "bias"))
    elif rounded is not None:
        inputs.append(rounded)
    return NewNode(linear.op_type, inputs, dict(linear.attributes))


def _scaled(weight: np.ndarray, factor: np.ndarray) -> np.ndarray | None:
    """`weight * factor` in the element type of the weights; None where that loses too much."""
    if weight.dtype.itemsize > 2:
        result = _times(weight, factor)
        return result if np.isfinite(result).all() else None
    exact = weight.astype(np.float64) * factor
    result = _rounded(exact, weight.dtype)
    if result is None or exact.size == 0:
        return result
    # Numbers near the bottom of a 16-bit range have few bits left.
    worst = np.abs(result.astype(np.float64) - exact).max()
    return result if worst <= _epsilon(weight.dtype) * np.abs(exact).max() else None


def _times(weight: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """`weight * factor`, computed in float64."""
    result = np.empty_like(weight, order="C")
    with np.errstate(all="ignore"):
        if weight.size <= _PART_ELEMENTS:
            return np.multiply(weight, factor, out=result, dtype=np.float64, casting="unsafe")
        factors = np.broadcast_to(factor, weight.shape)
        rows = max(1, _PART_ELEMENTS // math.prod(weight.shape[1:]))
        part = np.empty((rows, *weight.shape[1:]))
        for start in range(0, weight.shape[0], rows):
            inside = slice(start, start + rows)
            exact = part[: weight[inside].shape[0]]
            exact[...] = weight[inside]
            exact *= factors[inside]
            result[inside] = exact
    return result


def _rounded(exact: np.ndarray, dtype: np.dtype) -> np.ndarray | None:
    with np.errstate(all="ignore"):
        result = exact.astype(dtype)
    return result if np.isfinite(result.astype(np.float64)).all() else None


def _epsilon(dtype: np.dtype) -> float:
    return 2.0**-10 if dtype == np.float16 else 2.0**-7  # the other one is bfloat16


def _initializer(data: np.ndarray, like: ir.Value | None, hint: str) -> NewInitializer:
    name = like.name if like is not None and like.name else hint
    return NewInitializer.of(data, name)


def _weight(linear: ir.Node, context: Context) -> np.ndarray:
    weight = _array(linear, 1, context)
    assert weight is not None, f"the weight of {quoted(linear.name or '')} is constant"
    return weight


def _array(linear: ir.Node, index: int, context: Context) -> np.ndarray | None:
    return context.array(given(linear, index))


def _group(conv: ir.Node, context: Context) -> int:
    group = context.attribute(conv, "group")
    return group if isinstance(group, int) else 1
