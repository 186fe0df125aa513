"""Rotary position embedding spelled out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.passes.block.conditions import of_float_type, older, plain
from optimizer.patterns import Condition, Found, Pattern, Value, node
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
    given,
    producer_of,
    transposition,
)

OPSET = 23
"""The first operator set with RotaryEmbedding."""

_ROW_BY_ROW = ("Cast", "Cos", "Sin", "Unsqueeze", "Reshape", "Mul", "Div", "Gather", "Expand")
"""What keeps the halves of the last axis equal; the last axis stays the last, or it is no half."""

_MOST_STEPS = 8
_BY_HEADS = [0, 2, 1, 3]


@dataclass(frozen=True, slots=True)
class _Rotation:
    """x · cos + rotated(x) · sin.

    Attributes:
        source: float32[batch, heads, seq, size].
        cosine: with equal halves; broadcast to `source`.
        nodes: those that take `source` apart.
    """

    source: ir.Value
    cosine: ir.Value
    sine: ir.Value
    nodes: tuple[ir.Node, ...]


def _rotation(found: Found, context: Context) -> _Rotation | None:
    """What is rotated; None where the halves are not those of one of the factors."""
    apart = _halves(found.values["first"], found.values["second"], context)
    factors = [found.values["one"], found.values["other"]]
    if apart is None or apart[0] not in factors:
        return None
    factors.remove(apart[0])
    return _Rotation(apart[0], factors[0], found.values["sine"], apart[1])


def _halves(
    first: ir.Value, second: ir.Value, context: Context
) -> tuple[ir.Value, tuple[ir.Node, ...]] | None:
    """What two values are the halves of, along the last of four axes."""
    shapes = [context.symbolic.shape(value) for value in (first, second)]
    makers = [value.producer() for value in (first, second)]
    if shapes[0] is None or shapes[0] != shapes[1] or None in makers or len(shapes[0]) != 4:
        return None
    one, other = (maker for maker in makers if maker is not None)
    source = one.inputs[0]
    whole = context.symbolic.shape(source)
    if source is None or source is not other.inputs[0] or whole is None:
        return None
    if whole[:3] != shapes[0][:3] or whole[3] != shapes[0][3] * 2:
        return None
    if one.op_type == other.op_type == "Slice":
        starts = [context.parameter(each, "starts", 1) for each in (one, other)]
        steps = [context.ints(given(each, 4)) or [1] for each in (one, other)]
        fits = starts == [[0], [shapes[0][3]]] and steps == [[1], [1]]
        return (source, (one, other)) if fits else None
    fits = one is other and one.op_type == "Split" and [*one.outputs] == [first, second]
    return (source, (one,)) if fits else None


def _takes_halves(found: Found, context: Context) -> str | None:
    axis = context.attribute(found.named["rotated"], "axis")
    if axis not in (-1, 3):
        return f"they are joined along axis {axis}"
    return None if _rotation(found, context) else "they are others"


def _angles(name: str) -> Condition:
    def check(found: Found, context: Context) -> str | None:
        rotation = _rotation(found, context)
        assert rotation is not None, "the condition on the halves holds"
        value = rotation.cosine if name == "cosine" else rotation.sine
        shape, whole = context.symbolic.shape(value), context.symbolic.shape(rotation.source)
        if shape is None or whole is None or len(shape) > 4:
            return "its shape is not known"
        batch, heads, *rest = (1,) * (4 - len(shape)) + shape
        if heads != 1 or batch not in (1, whole[0]) or rest != [*whole[2:]]:
            return f"it has {plain(shape)} for {plain(whole)}"
        return None if _doubled(value, context) else "its halves may differ"

    return Condition(f"The {name} is one for all heads, twice the same half", check)


def _doubled(value: ir.Value | None, context: Context) -> bool:
    """Whether the halves of the last axis are surely equal."""
    for _ in range(_MOST_STEPS):
        array = context.array(value)
        if array is not None:
            half = array.shape[-1] // 2 if array.ndim else 0
            return bool(half) and np.array_equal(array[..., :half], array[..., half:])
        maker = None if value is None else value.producer()
        shape = context.symbolic.shape(value)
        if maker is None or maker.domain or not shape:
            return False
        if maker.op_type == "Concat":
            same = len(maker.inputs) == 2 and maker.inputs[0] is maker.inputs[1]
            return same and context.attribute(maker, "axis") in (-1, len(shape) - 1)
        above = _along(maker, context)
        size = context.symbolic.shape(above)
        if above is None or not size or size[-1] != shape[-1]:
            return False
        value = above
    return False


def _along(maker: ir.Node, context: Context) -> ir.Value | None:
    """The operand whose last axis is the result's."""
    if maker.op_type not in _ROW_BY_ROW:
        return None
    first = maker.inputs[0]
    if maker.op_type == "Gather":
        rank = context.rank(first)
        return first if rank == 2 and context.attribute(maker, "axis") == 0 else None
    if maker.op_type in ("Mul", "Div"):
        numbers = [context.scalar(each) is not None for each in maker.inputs]
        first = first if numbers[1] else maker.inputs[1] if numbers[0] else None
        return first if maker.op_type == "Mul" or numbers[1] else None
    return first


ROTATED = node(
    "Concat",
    node("Neg", Value("second"), core=True),
    Value("first"),
    name="rotated",
    core=True,
)
ROTARY = Pattern(
    "RotaryEmbedding",
    Value("one") * Value("other") + ROTATED * Value("sine"),
    (
        of_float_type(ir.DataType.FLOAT),
        Condition("The halves that change places are those of what is rotated", _takes_halves),
        _angles("cosine"),
        _angles("sine"),
    ),
)


@register
class RecognizeRotaryEmbedding(Pass):
    """Recognize RotaryEmbedding.

    What it does:
        The rotation of queries and keys by their positions, half against half as Llama has it,
        becomes one RotaryEmbedding. Moves of heads before it are put behind it, where Attention
        takes them along.
    Before:
        x · cos + Concat(−x₂, x₁) · sin
    After:
        RotaryEmbedding(x, cos₁, sin₁)
    When it is safe:
        The model uses opset 23 or later, which has RotaryEmbedding. The element type is float32,
        and x has four axes. Cosine and sine are the same for all heads, and their halves are surely
        equal: made of twice the same angles, or a table in which they are. Nothing else reads the
        values in between.
    Numerics:
        The same products and sums; the runtime's kernel may round differently.
    Source:
        Su et al. 2021, RoFormer; ONNX operator specification, RotaryEmbedding.
    """

    id = "recognize-rotary-embedding"
    exactness = "reassociates"
    presets = ("portable", "cpu", "cuda")
    order = 84

    @rule(*ROTARY.roots, name="RotaryEmbedding", reach=ROTARY.reach + 1)
    def match(self, node: ir.Node, context: Context) -> Outcome:
        """The sum of what stays and what changes places."""
        found = find(ROTARY, node, context)
        if not isinstance(found, Found):
            return found
        problem = older(found, "RotaryEmbedding", OPSET, context)
        rotation = _rotation(found, context)
        if problem is not None or rotation is None:
            return problem
        made: list[NewNode] = []
        angles = [_half(each, rotation, context, made) for each in (rotation.cosine, rotation.sine)]
        made.append(NewNode("RotaryEmbedding", [rotation.source, *angles]))
        matched = [*rotation.nodes, *[*found.nodes][::-1]]
        reason = f"These {len(matched)} nodes compute RotaryEmbedding."
        return Replacement(matched, {node.outputs[0]: made[-1].output()}, reason, made)

    @rule("RotaryEmbedding", name="HeadsBehind", reach=2)
    def moved(self, node: ir.Node, context: Context) -> Outcome:
        """A Transpose that brings heads forward, before the rotation."""
        move = producer_of(node.inputs[0], "Transpose")
        shape = context.symbolic.shape(node.inputs[0])
        if move is None or shape is None or node.domain or len(shape) != 4:
            return None
        if transposition(move, context) != _BY_HEADS or not context.single_use(move.outputs[0]):
            return None
        heads, size = shape[1], shape[3]
        if not isinstance(heads, int) or not isinstance(size, int):
            return Declined(f"Heads and their size are known: {plain(shape)}")
        flat = NewNode(
            "Reshape", [move.inputs[0], NewInitializer.ints([0, 0, heads * size], "joined")]
        )
        attributes: dict[str, object] = {**node.attributes, "num_heads": heads}
        turned = NewNode("RotaryEmbedding", [flat.output(), *node.inputs[1:]], attributes)
        apart = NewNode(
            "Reshape", [turned.output(), NewInitializer.ints([0, 0, heads, size], "apart")]
        )
        back = NewNode("Transpose", [apart.output()], {"perm": _BY_HEADS})
        reason = f"RotaryEmbedding itself tells {heads} heads apart."
        return Replacement(
            [move, node], {node.outputs[0]: back.output()}, reason, [flat, turned, apart, back]
        )


def _half(angles: ir.Value, rotation: _Rotation, context: Context, made: list[NewNode]) -> Operand:
    """The first half of cosine or sine as [batch, seq, size / 2]."""
    shape, whole = context.symbolic.shape(angles), context.symbolic.shape(rotation.source)
    assert shape is not None
    assert whole is not None
    size = whole[3]
    assert isinstance(size, int)
    bounds = [NewInitializer.ints([n], hint) for n, hint in ((0, "start"), (size // 2, "end"))]
    made.append(NewNode("Slice", [angles, *bounds, NewInitializer.ints([len(shape) - 1], "axis")]))
    if len(shape) == 4:
        made.append(NewNode("Squeeze", [made[-1].output(), NewInitializer.ints([1], "axis")]))
    elif len(shape) == 2:
        made.append(NewNode("Unsqueeze", [made[-1].output(), NewInitializer.ints([0], "axis")]))
    half = made[-1]
    if whole[0] == (shape[0] if len(shape) == 4 else 1):
        return half.output()
    move = producer_of(rotation.source, "Transpose")
    first = move is not None and (transposition(move, context) or [1])[0] == 0
    made.append(NewNode("Shape", [move.inputs[0] if move and first else rotation.source]))
    made.append(NewNode("Gather", [made[-1].output(), NewInitializer.ints([0], "axis")]))
    ones = NewInitializer.ints([1, 1], "ones")
    made.append(NewNode("Concat", [made[-1].output(), ones], {"axis": 0}))
    made.append(NewNode("Expand", [half.output(), made[-1].output()]))
    return made[-1].output()
