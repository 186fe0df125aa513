"""Attention spelled out, for ONNX Runtime in any operator set."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.attention_parts import Parts, parts_of
from optimizer.passes.block.attention_pattern import ATTENTION
from optimizer.passes.block.conditions import plain
from optimizer.patterns import Found
from optimizer.patterns.search import find
from optimizer.registry import Pass, register, rule
from optimizer.rules import (
    Context,
    Declined,
    NewInitializer,
    NewNode,
    Operand,
    Outcome,
    Replacement,
)

OPSET = 13
"""From this one on the new nodes have the form they have here."""

_BY_HEADS = [0, 2, 1, 3]


@register
class FuseMultiHeadAttentionRuntime(Pass):
    """Fuse attention into MultiHeadAttention.

    What it does:
        Product of queries and keys, scale, masks, Softmax and product with the values become ONNX
        Runtime's MultiHeadAttention.
    Before:
        softmax(q · kᵀ · scale + mask) · v
    After:
        com.microsoft.MultiHeadAttention(q, k, v, mask)
    When it is safe:
        The model is to run in ONNX Runtime, and uses opset 13 or later. The element type is
        float32; queries, keys and values have four axes, batch and heads first, and the same known
        numbers of heads and size. What takes the place of scores is -10,000 or less. No guard puts
        another number in the place of NaN: the operator has none.
    Numerics:
        The same mathematics; the runtime's kernel rounds differently. Where every key is masked
        with −∞, the parts give NaN and the operator the mean; a score that is NaN or ∞ stays that
        where a number takes its place. In no preset: Attention of opset 23, which takes the moves
        of heads along, takes 0.40 to 1.09 times as long on a CPU (one thread, eleven sizes).
    Source:
        ONNX Runtime contrib operators, MultiHeadAttention.
    """

    id = "fuse-multi-head-attention-runtime"
    exactness = "reassociates"
    presets = ()
    order = 85

    @rule(*ATTENTION.roots, name="MultiHeadAttention", reach=ATTENTION.reach)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The product of shares and values."""
        found = find(ATTENTION, node, context)
        if not isinstance(found, Found):
            return found
        if context.opset() < OPSET:
            needs = f"The masks of MultiHeadAttention need opset {OPSET}"
            return Declined(f"{needs}: the model has {context.opset()}")
        if "instead" in found.numbers:
            return Declined("MultiHeadAttention has no guard against NaN: here one gives 0")
        query, value = (context.symbolic.shape(found.values[n]) for n in ("query", "value"))
        assert query is not None
        assert value is not None
        if len(query) == 3:
            return Declined("Batch and heads are axes of their own: they are one")
        heads, size = query[1], query[3]
        if not isinstance(heads, int) or not isinstance(size, int) or size != value[3]:
            needs = "Heads and their size are known, and the same for values"
            return Declined(f"{needs}: {plain(query)} and {plain(value)}")
        parts = parts_of(found, context)
        return _fused(found, parts, _four_axes(found, parts, context), (heads, size))


def _four_axes(found: Found, parts: Parts, context: Context) -> NewNode | None:
    """What gives the mask four axes; None where it has them."""
    expanded = bool(parts.nodes) and parts.nodes[-1].op_type == "Expand"
    if parts.mask is None or expanded or "windows" in found.values:
        return None
    kinds = ("mask ", "shown ", "hidden ")
    masks = [value for name, value in found.values.items() if name.startswith(kinds)]
    missing = 4 - max(context.rank(mask) or 0 for mask in masks)
    axes = NewInitializer.ints([*range(missing)], "axes")
    return NewNode("Unsqueeze", [parts.mask, axes]) if missing else None


def _fused(
    found: Found, parts: Parts, spread: NewNode | None, heads_and_size: tuple[int, int]
) -> Replacement:
    heads, size = heads_and_size
    rows = NewNode("Transpose", [parts.query], {"perm": _BY_HEADS})
    joined = NewInitializer.ints([0, 0, heads * size], "joined")
    flat = NewNode("Reshape", [rows.output(), joined])
    mask = parts.mask if spread is None else spread.output()
    inputs: list[Operand | None] = [flat.output(), parts.key, parts.value]
    whole = NewNode(
        "MultiHeadAttention",
        inputs if mask is None else [*inputs, None, None, mask],
        {"num_heads": heads, "scale": parts.scale},
        domain="com.microsoft",
    )
    apart = NewInitializer.ints([0, 0, heads, size], "apart")
    back = NewNode("Reshape", [whole.output(), apart])
    last = NewNode("Transpose", [back.output()], {"perm": _BY_HEADS})
    matched = [*parts.moved, *[*found.nodes][::-1]]
    reason = f"These {len(matched)} nodes compute attention with {heads} heads."
    made = [*parts.nodes, *([] if spread is None else [spread]), rows, flat, whole, back, last]
    return Replacement(matched, {found.root.outputs[0]: last.output()}, reason, made)
