"""Outliers of activations moved into the weights that they are multiplied with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import onnx_ir as ir

from optimizer.passes.draft import Floats
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

_LEAST = 1e-5


@register
class SmoothActivations(Pass):
    """Smooth activations before they are quantized.

    What it does:
        A channel of what products read is divided by s = max|X|^α / max|W|^(1−α), and the rows of
        the weights that it meets are multiplied by it: a channel with outliers takes no bits from
        the others. All products that read the value take part. The division is a Mul, which a
        LayerNormalization before it takes into its scale and bias if nothing else reads it. Ranges
        have to be observed afterwards: the values are others.
    Before:
        LayerNormalization(g, b) → MatMul(w)
    After:
        LayerNormalization(g/s, b/s) → MatMul(s·w)
    When it is safe:
        `maxima` holds the largest |x| of each channel of the value, `alpha` is between 0 and 1.
        The weights are constant float32 matrices.
    Numerics:
        The same mathematics, rounded otherwise.
    Source:
        Xiao et al. 2023, SmoothQuant, eq. 4.
    """

    id = "smooth-activations"
    exactness = "reassociates"
    order = 30

    maxima: tuple[tuple[str, tuple[float, ...]], ...] = ()
    alpha: float = 0.5

    @rule("MatMul", "Gemm", name="SmoothedProducts")
    def products(self, node: ir.Node, context: Context) -> Outcome:
        """The first of the products that read a value."""
        value = node.inputs[0]
        largest = None if value is None else self._table(context).get(value.name or "")
        if value is None or largest is None:
            return None
        readers = [_Reader.of(use.node, context) for use in value.uses() if use.idx == 0]
        known = [one for one in readers if one is not None and one.node.graph is node.graph]
        if node not in [one.node for one in known]:
            return None
        if any(one.weight.shape[one.axis] != len(largest) for one in known):
            return Declined("The channels of its weights are not those that were observed")
        if any(one.node is not node and context.precedes(one.node, node) for one in known):
            return None  # that one is asked
        maxima = np.asarray(largest, np.float32)
        scales = smoothing(maxima, np.max([one.most() for one in known], axis=0), self.alpha)
        inverse = NewInitializer.of((1 / scales).astype(np.float32), f"{value.name}_smoothing")
        divided = NewNode("Mul", [value, inverse])
        inputs: dict[tuple[ir.Node, int], Operand | None] = {}
        for one in known:
            inputs[one.node, 0] = divided.output()
            inputs[one.node, 1] = one.multiplied(scales)
        reason = f"{len(known)} products read {len(largest)} channels of different size."
        matched = [one.node for one in known]
        return Replacement(matched, {}, reason, [divided], inputs=inputs)

    @rule("Mul", name="SmoothedNormalization")
    def normalization(self, node: ir.Node, context: Context) -> Outcome:
        """A Mul by a constant after a LayerNormalization that nothing else reads."""
        normal = producer_of(node.inputs[0], "LayerNormalization")
        factor = context.array(node.inputs[1])
        if normal is None or factor is None or factor.ndim != 1:
            return None
        scale, bias = context.array(normal.inputs[1]), context.array(given(normal, 2))
        if scale is None or scale.shape != factor.shape or scale.dtype != factor.dtype:
            return None
        if not context.single_use(normal.outputs[0]):
            return Declined("Its LayerNormalization is read by others, too", (normal,))
        if given(normal, 2) is not None and bias is None:
            return Declined("The bias of its LayerNormalization is computed", (normal,))
        constants = [NewInitializer.of(scale * factor, "scale")]
        constants += [] if bias is None else [NewInitializer.of(bias * factor, "bias")]
        made = NewNode(
            "LayerNormalization", [normal.inputs[0], *constants], dict(normal.attributes)
        )
        reason = "Its LayerNormalization ends with a scale and a bias a channel, as this does."
        return Replacement.by(made, reason, normal, node)

    def _table(self, context: Context) -> Mapping[str, Sequence[float]]:
        if "maxima" not in context.memory:
            context.memory["maxima"] = dict(self.maxima)
        return cast("Mapping[str, Sequence[float]]", context.memory["maxima"])


def smoothing(activations: Floats, weights: Floats, alpha: float) -> Floats:
    """What each channel of the activations is divided by; 1 where one of both is nothing.

    Args:
        activations: float32[channels], the largest |x|.
        weights: float32[channels], the largest |w| that it meets.
        alpha: how much of the difference moves into the weights, 0 to 1.
    """
    some = (activations > _LEAST) & (weights > _LEAST)
    scales = np.where(some, activations, 1.0) ** alpha / np.where(some, weights, 1.0) ** (1 - alpha)
    return np.where(some, np.maximum(scales, _LEAST), 1.0).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Reader:
    """A product with constant weights.

    Attributes:
        axis: of the weights' rows.
    """

    node: ir.Node
    weight: Floats
    axis: int

    @staticmethod
    def of(node: ir.Node, context: Context) -> _Reader | None:
        weight = context.array(given(node, 1))
        if node.domain or node.op_type not in ("Gemm", "MatMul") or weight is None:
            return None
        if weight.dtype != np.float32 or weight.ndim != 2:
            return None
        if node.op_type == "MatMul":
            return _Reader(node, weight, 0)
        if context.attribute(node, "transA"):
            return None
        return _Reader(node, weight, 1 if context.attribute(node, "transB") else 0)

    def most(self) -> Floats:
        """The largest weight of each row."""
        return np.abs(self.weight).max(axis=1 - self.axis, initial=0.0)

    def multiplied(self, scales: Floats) -> NewInitializer:
        """The weights with their rows multiplied."""
        along = scales[:, None] if self.axis == 0 else scales[None, :]
        value = self.node.inputs[1]
        return NewInitializer.of(self.weight * along, (value.name if value else None) or "weight")
