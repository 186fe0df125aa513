"""Attention spelled out."""

from __future__ import annotations

import onnx_ir as ir

from optimizer.passes.block.attention_parts import parts_of
from optimizer.passes.block.attention_pattern import ATTENTION
from optimizer.passes.block.conditions import older, plain
from optimizer.patterns import Found, matches
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
    transposition,
)

OPSET = 23
"""The first operator set with Attention."""

_BY_HEADS = [0, 2, 1, 3]


@register
class RecognizeAttention(Pass):
    """Recognize Attention.

    What it does:
        Product of queries and keys, scale, masks, Softmax and product with the values become one
        Attention. Masks that are added, or that put a number in the place of scores, become one
        mask, which layers share. The moves of heads around it, keys and values that are repeated
        for several heads, and those of earlier calls that are put before the new ones, become part
        of the operator too.
    Before:
        softmax(q · kᵀ · scale + mask) · v
    After:
        Attention(q, k, v, mask)
    When it is safe:
        The model uses opset 23 or later, which has Attention. The element type is float32, and
        queries, keys and values have four axes, batch and heads first, or three, where batch and
        heads are one axis, or there is one head. The scale is one positive number. What takes the
        place of scores is -10,000 or less. Nothing else reads the values in between.
    Numerics:
        The same mathematics; the runtime's kernel rounds differently. Where every key is masked
        with −∞, the parts give NaN and the operator the mean; where 0 takes the place of NaN, as
        PyTorch writes it, ONNX Runtime's operator gives 0 too. A score that is NaN or ∞ stays that
        where a number is put in its place, since the mask is added. Not in the preset `generated`,
        whose kernels compute attention by heads.
    Source:
        Vaswani et al. 2017, eq. 1; ONNX operator specification, Attention.
    """

    id = "recognize-attention"
    exactness = "reassociates"
    presets = ("portable", "cpu", "cuda")
    order = 84

    @matches(ATTENTION, name="Attention")
    def match(self, found: Found, context: Context) -> Outcome:
        """The product of shares and values."""
        problem = older(found, "Attention", OPSET, context)
        return problem or attention(found, context)

    @rule("Attention", name="RepeatedHeads", reach=4)
    def repeated(self, node: ir.Node, context: Context) -> Outcome:
        """Keys and values that are repeated for several heads."""
        sources = [_repeated(value, context) for value in node.inputs[1:3]]
        if node.domain or None in sources or any(given(node, index) for index in (4, 5)):
            return None
        shapes = [context.symbolic.shape(value) for value in sources]
        heads = [None if shape is None else shape[1] for shape in shapes]
        if heads[0] is None or heads[0] != heads[1]:
            return Declined(f"Keys and values have the same heads: {plain(heads)}")
        inputs = [node.inputs[0], *sources, *node.inputs[3:]]
        above = [one for value in node.inputs[1:3] for one in _chain(value, 3)]
        made = NewNode("Attention", inputs, _attributes(node))
        reason = f"Attention itself repeats {heads[0]} heads of keys and values."
        return Replacement.by(made, reason, *dict.fromkeys(above), node)

    @rule("Attention", name="EarlierKeys", reach=2)
    def cached(self, node: ir.Node, context: Context) -> Outcome:
        """Keys and values of earlier calls that are put before the new ones."""
        if node.domain or any(given(node, index) for index in (4, 5)):
            return None
        joins = [producer_of(value, "Concat") for value in node.inputs[1:3]]
        first, second = joins
        if first is None or second is None or first is second:
            return None
        for one in (first, second):
            axis, rank = context.attribute(one, "axis"), context.rank(one.outputs[0])
            if len(one.inputs) != 2 or rank != 4 or axis not in (2, -2):
                return Declined(f"Keys are joined along their axis 2, two at a time: axis {axis}")
        if not _same_batch(first, context) or not _same_batch(second, context):
            return Declined("Earlier keys and values have the batch and heads of the new ones")
        if not _joined_alike(first, second, context):
            return Declined("There are as many earlier keys as values, or as many new ones")
        mask = given(node, 3)
        inputs: list[Operand | None] = [node.inputs[0], first.inputs[1], second.inputs[1], mask]
        made = NewNode(
            "Attention",
            [*inputs, first.inputs[0], second.inputs[0]],
            _attributes(node),
            outputs=3,
        )
        outputs = (node.outputs[0], first.outputs[0], second.outputs[0])
        values = {value: made.output(index) for index, value in enumerate(outputs)}
        reason = "Attention itself puts earlier keys and values before the new ones."
        return Replacement([first, second, node], values, reason, [made], delays=True)

    @rule("Transpose", name="HeadsInside", reach=3)
    def headed(self, node: ir.Node, context: Context) -> Outcome:
        """The moves of heads before and after."""
        inner = producer_of(node.inputs[0], "Attention")
        if inner is None or transposition(node, context) != _BY_HEADS:
            return None
        if not context.single_use(inner.outputs[0]):
            return Declined("Attention output has another consumer")
        moves = [producer_of(value, "Transpose") for value in inner.inputs[:3]]
        problems = [_problem(each, context) for each in inner.inputs[:3]]
        problem = next((each for each in problems if each), "")
        if problem:
            return Declined(f"Queries, keys and values get their heads by a Transpose: {problem}")
        known = [_heads(each, context) for each in inner.inputs[:3]]
        query, key, value = known
        made = [
            _reshaped(move.inputs[0], [0, 0, heads * size])
            for move, (heads, size) in zip(moves, known, strict=True)
            if move is not None
        ]
        operands = [each.output() for each in made]
        counts = {"q_num_heads": query[0], "kv_num_heads": key[0]}
        whole = NewNode(
            "Attention",
            [*operands, *inner.inputs[3:]],
            _attributes(inner) | counts,
            outputs=len(inner.outputs),
        )
        apart = _reshaped(whole.output(), [0, 0, query[0], value[1]])
        values: dict[ir.Value, Operand] = {node.outputs[0]: apart.output()}
        for index, output in enumerate(inner.outputs[1:], 1):
            values[output] = whole.output(index)
        matched = dict.fromkeys([*(each for each in moves if each is not None), inner, node])
        reason = f"Attention itself tells {query[0]} heads apart."
        return Replacement([*matched], values, reason, [*made, whole, apart])


def attention(found: Found, context: Context) -> Replacement:
    """The operator in place of what it is made of."""
    parts = parts_of(found, context)
    inputs = [parts.query, parts.key, parts.value]
    whole = [*inputs, parts.mask] if parts.mask is not None else inputs
    one = {"q_num_heads": 1, "kv_num_heads": 1} if context.rank(parts.query) == 3 else {}
    made = NewNode("Attention", whole, {"scale": parts.scale, **one})
    reason = f"These {len(found.nodes) + len(parts.moved)} nodes compute Attention."
    return Replacement(
        [*parts.moved, *[*found.nodes][::-1]],
        {found.root.outputs[0]: made.output()},
        reason,
        [*parts.nodes, made],
    )


def _attributes(node: ir.Node) -> dict[str, object]:
    return {**node.attributes}


def _chain(value: ir.Value | None, count: int) -> list[ir.Node]:
    """The nodes above a value, along first inputs."""
    found: list[ir.Node] = []
    while value is not None and len(found) < count:
        above = value.producer()
        if above is None:
            break
        found.insert(0, above)
        value = above.inputs[0]
    return found


def _repeated(value: ir.Value | None, context: Context) -> ir.Value | None:
    """What is repeated along a second axis: x[B, H, L, D] as [B, H, 1, L, D], [B, H, n, L, D]."""
    last = producer_of(value, "Reshape")
    spread = producer_of(None if last is None else last.inputs[0], "Expand", "Tile")
    first = producer_of(None if spread is None else spread.inputs[0], "Unsqueeze", "Reshape")
    if last is None or spread is None or first is None:
        return None
    source = first.inputs[0]
    stages = (source, first.outputs[0], spread.outputs[0], last.outputs[0])
    shapes = [context.symbolic.shape(stage) for stage in stages]
    whole, apart, many, joined = shapes
    if whole is None or apart is None or many is None or joined is None or len(whole) != 4:
        return None
    fits = apart == (*whole[:2], 1, *whole[2:]) and len(many) == 5 and len(joined) == 4
    if not fits or many[:2] != whole[:2] or many[3:] != whole[2:]:
        return None
    count, heads = many[2], whole[1]
    if not isinstance(count, int) or not isinstance(heads, int):
        return None
    same = joined[0] == whole[0] and joined[2:] == whole[2:]
    return source if same and joined[1] == heads * count else None


def _joined_alike(keys: ir.Node, values: ir.Node, context: Context) -> bool:
    """Whether as many are joined before and behind, one of which is enough to know.

    There are as many keys as values in all, or the attention that is there could not be computed.
    """
    pairs = zip(keys.inputs, values.inputs, strict=True)
    shapes = [(context.symbolic.shape(key), context.symbolic.shape(value)) for key, value in pairs]
    return any(
        key is not None and value is not None and key[2] == value[2] for key, value in shapes
    )


def _same_batch(join: ir.Node, context: Context) -> bool:
    shapes = [context.symbolic.shape(value) for value in join.inputs]
    first, second = shapes
    if first is None or second is None:
        return False
    return first[:2] == second[:2] and first[3] == second[3] and None not in (*first[:2], first[3])


def _problem(value: ir.Value | None, context: Context) -> str:
    """Why a value is not one whose heads were brought forward; empty where it is."""
    move, shape = producer_of(value, "Transpose"), context.symbolic.shape(value)
    if move is None or shape is None:
        above = None if value is None else value.producer()
        return "one is an input" if above is None else f"one is made by {above.op_type}"
    if transposition(move, context) != _BY_HEADS:
        return f"one has perm {plain(transposition(move, context))}"
    numbers = isinstance(shape[1], int) and isinstance(shape[3], int)
    return "" if numbers else f"one has {plain(shape)}"


def _heads(value: ir.Value | None, context: Context) -> tuple[int, int]:
    """The number of heads, and their size, of a value without a problem."""
    shape = context.symbolic.shape(value)
    assert shape is not None
    heads, size = shape[1], shape[3]
    assert isinstance(heads, int)
    assert isinstance(size, int)
    return heads, size


def _reshaped(value: Operand | None, target: list[int]) -> NewNode:
    return NewNode("Reshape", [value, NewInitializer.ints(target, "heads")])
