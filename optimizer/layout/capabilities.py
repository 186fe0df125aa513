"""What a target has a kernel for."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.layout.formats import BLOCKS, LAST
from optimizer.layout.forms import Move, NotPossible
from optimizer.layout.targets import Target
from optimizer.model.own_functions import OLDEST_OPSET
from optimizer.operators.catalogue import operator_of
from optimizer.operators.layouts import WRAPPED


def check_kernel(place: Move, target: Target) -> None:
    """What the target has no kernel for.

    Raises:
        NotPossible: with the reason.
    """
    node = place.node
    lacks = node.op_type in WRAPPED and node.op_type not in target.images_last
    if place.wanted == LAST and lacks:
        raise NotPossible(f"target '{target.id}' has no {node.op_type} with channels last")
    if (place.wanted == BLOCKS or node.op_type in WRAPPED) and place.opset < OLDEST_OPSET:
        raise NotPossible(f"functions need opset {OLDEST_OPSET}, the model has {place.opset}")
    if place.wanted != BLOCKS:
        return
    if not place.block:
        raise NotPossible("the target has no blocks for its element type")
    operator = operator_of(node)
    everywhere = operator is not None and operator.layout in ("agnostic", "follows")
    if node.op_type not in target.blocked and not (target.elementwise and everywhere):
        raise NotPossible(f"target '{target.id}' has no {node.op_type} over blocks")
    if node.op_type == "Conv":
        _check_conv(place, target.aligned)


def _check_conv(place: Move, aligned: int) -> None:
    """What ONNX Runtime's NchwcTransformer asks of a convolution; a cube asks less."""
    node = place.node
    weights = constant_of(node.inputs[1])
    if weights is None:
        raise NotPossible("its weights are no constant")
    shape = weights.shape.numpy()
    groups = _integer(node, "group", 1)
    depthwise = groups > 1 and shape[1] == 1 and shape[0] == groups
    if groups > 1 and not depthwise and (
        shape[1] % place.block or (shape[0] // groups) % place.block
    ):  # fmt: skip
        raise NotPossible("its groups do not fill blocks")
    channels = shape[0] if depthwise else shape[1]
    if channels % aligned and channels >= place.block:
        raise NotPossible(f"its channels are no multiple of {aligned}")


def _integer(node: ir.Node, name: str, default: int) -> int:
    attribute = node.attributes.get(name)
    return default if attribute is None else attribute.as_int()
