"""Operators that normalize over rows or channels."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.operators import flops
from optimizer.operators.broadcasting import like_first
from optimizer.operators.call import CONTRIB, Call, Shape, Typed, axis_in
from optimizer.operators.loops import normalization as loops
from optimizer.operators.operands import indexed_axis
from optimizer.operators.operator import Operator, OperatorClass
from optimizer.operators.reference import reference


def batch_normalization(call: Call) -> list[Typed]:
    """Y like X; in training also the running mean and variance, shaped like inputs 3 and 4."""
    outputs: list[Typed] = [(call.dtype(0), call.shape(0))]
    if call.opset >= 14:
        outputs += [(call.dtype(3), call.shape(3)), (call.dtype(4), call.shape(4))]
    return outputs


def layer_normalization(call: Call) -> list[Typed]:
    """Y like X; mean and inverse deviation with the normalized axes reduced to 1."""
    shape = call.shape(0)
    if shape is None:
        return [(call.dtype(0), None)]
    axis = axis_in(call.number("axis", -1), len(shape))
    reduced: Shape = shape[:axis] + (1,) * (len(shape) - axis)
    stash = ir.DataType(call.number("stash_type", 1))
    return [(call.dtype(0), shape), (stash, reduced), (stash, reduced)]


def skip_layer_normalization(call: Call) -> list[Typed]:
    """Output 3 is the sum of input and skip; mean and deviation (1 and 2) are not described."""
    like: Typed = (call.dtype(0), call.shape(0))
    return [like, (None, None), (None, None), like]


def embed_layer_normalization(call: Call) -> list[Typed]:
    """input_ids[batch, seq], word_embedding[…, hidden]: Y[batch, seq, hidden]."""
    ids, table = call.shape(0), call.shape(2)
    if ids is None or table is None or len(ids) != 2 or len(table) != 2:
        return [(call.dtype(2), None)]
    width: Dimension = table[1]
    return [(call.dtype(2), (ids[0], ids[1], width))]


_IMAGE, _LAST = "NC* -> NC*", "…C -> …C"
_NORMALIZATION = Operator(
    types=like_first, category="norm", kind=OperatorClass.NORMALIZATION, layout="sensitive",
    precision="accumulates",
)  # fmt: skip
_SOFTMAX = Operator(
    types=like_first, category="act", kind=OperatorClass.SOFTMAX, overwrites="first",
    layout="follows", precision="accumulates",
)  # fmt: skip
_CONTRIB = _NORMALIZATION.named("", domain=CONTRIB)

OPERATORS = (
    # scale and shift with precomputed constants
    _NORMALIZATION.named(
        "BatchNormalization",
        types=batch_normalization,
        loops=loops.batch_normalization,
        overwrites="first",
        flops=flops.fixed(2),
        axes=_IMAGE,
    ),
    # mean, subtract, square, mean, divide by the root, scale, shift
    _NORMALIZATION.named(
        "LayerNormalization",
        types=layer_normalization,
        loops=loops.last_axes(centred=True),
        flops=flops.fixed(7),
        layout="follows",
        axes=_LAST,
    ),
    _NORMALIZATION.named(
        "GroupNormalization", flops=flops.fixed(7), axes=_IMAGE, loops=loops.group_normalization
    ),
    _NORMALIZATION.named(
        "InstanceNormalization",
        flops=flops.fixed(7),
        axes=_IMAGE,
        loops=loops.instance_normalization,
    ),
    # square, mean, divide by the root, scale
    *_NORMALIZATION.named(
        "",
        flops=flops.fixed(4),
        layout="follows",
        axes=_LAST,
        loops=loops.last_axes(centred=False),
    ).each("RMSNormalization SimplifiedLayerNormalization"),
    # both square what they read
    _NORMALIZATION.named(
        "LpNormalization", flops=flops.per_input(2), layout="follows", precision="range-critical"
    ),
    _NORMALIZATION.named(
        "LRN", flops=flops.local_response_normalization, axes=_IMAGE, precision="range-critical"
    ),
    _NORMALIZATION.named("MeanVarianceNormalization", flops=flops.per_input(5), axes=_IMAGE),
    _CONTRIB.named("LayerNormalization", flops=flops.fixed(7), loops=loops.last_axes(centred=True)),
    _CONTRIB.named(
        "SimplifiedLayerNormalization", flops=flops.fixed(4), loops=loops.last_axes(centred=False)
    ),
    _CONTRIB.named(
        "SkipLayerNormalization",
        types=skip_layer_normalization,
        flops=flops.fixed(8),
        loops=loops.with_skip(centred=True),
    ),
    _CONTRIB.named(
        "SkipSimplifiedLayerNormalization",
        types=skip_layer_normalization,
        flops=flops.fixed(5),
        loops=loops.with_skip(centred=False),
    ),
    _CONTRIB.named(
        "EmbedLayerNormalization",
        types=embed_layer_normalization,
        flops=flops.fixed(9),
        indexes={0: indexed_axis(2), 1: indexed_axis(4)},
    ),
    _CONTRIB.named("GroupNorm", flops=flops.fixed(7)),
    _CONTRIB.named("SkipGroupNorm", flops=flops.fixed(8)),
    # maximum, subtract, exponential, sum, divide
    _SOFTMAX.named("LogSoftmax", kernel=reference, flops=flops.fixed(5), loops=loops.log_softmax),
    _SOFTMAX.named("Softmax", kernel=reference, flops=flops.fixed(5), loops=loops.softmax),
    _SOFTMAX.named(
        "Hardmax", flops=flops.fixed(2), overwrites="nothing", precision="range-critical"
    ),
)
