"""Rotary position embedding spelled out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension
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
        source: float32[batch, heads, seq, size], or with heads behind seq.
        cosine: with equal halves, or equal neighbours; broadcast to `source`.
        sine: as the cosine.
        nodes: those that take `source` apart.
        interleaved: whether neighbours are turned, and not halves.
    """

    source: ir.Value
    cosine: ir.Value
    sine: ir.Value
    nodes: tuple[ir.Node, ...]
    interleaved: bool


def _rotation(found: Found, context: Context) -> _Rotation | None:
    """What is rotated; None where the parts are not those of one of the factors."""
    interleaved = "stacked" in found.named
    apart = _parts(found.values["first"], found.values["second"], context, interleaved=interleaved)
    factors = [found.values["one"], found.values["other"]]
    if apart is None or apart[0] not in factors:
        return None
    factors.remove(apart[0])
    return _Rotation(apart[0], factors[0], found.values["sine"], apart[1], interleaved)


def _parts(
    first: ir.Value, second: ir.Value, context: Context, *, interleaved: bool
) -> tuple[ir.Value, tuple[ir.Node, ...]] | None:
    """What two values are the halves of, or every other element of, along the last of four axes."""
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
        start, step = ([1], [2]) if interleaved else ([shapes[0][3]], [1])
        fits = starts == [[0], start] and steps == [step, step]
        return (source, (one, other)) if fits else None
    fits = one is other and one.op_type == "Split" and [*one.outputs] == [first, second]
    return (source, (one,)) if fits and not interleaved else None


def _takes_halves(found: Found, context: Context) -> str | None:
    axis = context.attribute(found.named["rotated"], "axis")
    if axis not in (-1, 3):
        return f"they are joined along axis {axis}"
    return None if _rotation(found, context) else "they are others"


def _takes_neighbours(found: Found, context: Context) -> str | None:
    rotation = _rotation(found, context)
    if rotation is None:
        return "they are others"
    whole = context.symbolic.shape(rotation.source)
    assert whole is not None, "a value that was taken apart"
    stacked = context.symbolic.shape(found.named["stacked"].outputs[0])
    if stacked != (*whole[:3], whole[3] // 2, 2):
        return f"they are joined to {plain(stacked or ())}"
    turned = context.symbolic.shape(found.named["rotated"].outputs[0])
    return None if turned == whole else f"they become {plain(turned or ())}"


def _angles(name: str) -> Condition:
    def check(found: Found, context: Context) -> str | None:
        rotation = _rotation(found, context)
        assert rotation is not None, "the condition on the parts holds"
        value = rotation.cosine if name == "cosine" else rotation.sine
        shape, whole = context.symbolic.shape(value), context.symbolic.shape(rotation.source)
        if shape is None or whole is None or len(shape) > 4:
            return "its shape is not known"
        alone = any(_one_along(shape, whole, axis) for axis in _axes(rotation))
        if not alone or (name == "sine" and _heads_axis(rotation, context) is None):
            return f"it has {plain(shape)} for {plain(whole)}"
        parts = "neighbours" if rotation.interleaved else "halves"
        doubled = _doubled(value, context, interleaved=rotation.interleaved)
        return None if doubled else f"its {parts} may differ"

    return Condition(f"The {name} is one for all heads, each angle twice", check)


def _heads_axis(rotation: _Rotation, context: Context) -> int | None:
    """Where the heads are: the axis along which cosine and sine are the same; 1 where both are."""
    shapes = [context.symbolic.shape(value) for value in (rotation.cosine, rotation.sine)]
    whole = context.symbolic.shape(rotation.source)
    for axis in _axes(rotation):
        if whole is not None and all(s is not None and _one_along(s, whole, axis) for s in shapes):
            return axis
    return None


def _axes(rotation: _Rotation) -> tuple[int, ...]:
    """Where heads may be."""
    return (1, 2) if rotation.interleaved else (1,)


def _one_along(shape: tuple[Dimension, ...], whole: tuple[Dimension, ...], axis: int) -> bool:
    """Whether a shape is one for all heads, which are the axis 1 or 2."""
    batch, *rest = (1,) * (4 - len(shape)) + shape
    wanted = [*whole[1:]]
    wanted[axis - 1] = 1
    return batch in (1, whole[0]) and rest == wanted


def _doubled(value: ir.Value | None, context: Context, *, interleaved: bool) -> bool:
    """Whether the halves of the last axis, or all neighbours in it, are surely equal."""
    for _ in range(_MOST_STEPS):
        array = context.array(value)
        if array is not None:
            return _twice(array, interleaved=interleaved)
        maker = None if value is None else value.producer()
        shape = context.symbolic.shape(value)
        if maker is None or maker.domain or not shape:
            return False
        if maker.op_type == "Concat" and not interleaved:
            same = len(maker.inputs) == 2 and maker.inputs[0] is maker.inputs[1]
            return same and context.attribute(maker, "axis") in (-1, len(shape) - 1)
        if interleaved and maker.op_type == "Reshape" and _repeats(maker, shape, context):
            return True
        above = _along(maker, context)
        size = context.symbolic.shape(above)
        if above is None or not size or size[-1] != shape[-1]:
            return False
        value = above
    return False


def _twice(array: np.ndarray, *, interleaved: bool) -> bool:
    """Whether a table has each angle twice."""
    size = array.shape[-1] if array.ndim else 0
    if not size or size % 2:
        return False
    if interleaved:
        return np.array_equal(array[..., ::2], array[..., 1::2])
    return np.array_equal(array[..., : size // 2], array[..., size // 2 :])


def _repeats(maker: ir.Node, shape: tuple[Dimension, ...], context: Context) -> bool:
    """Whether a Reshape joins an axis to a last one, along which one element was repeated."""
    source = maker.inputs[0]
    above = producer_of(source, "Expand", "Tile")
    pairs = context.symbolic.shape(source)
    single = None if above is None else context.symbolic.shape(above.inputs[0])
    if pairs is None or not single or len(pairs) < 2 or pairs[-1] != 2 or single[-1] != 1:
        return False
    return pairs[-2] * 2 == shape[-1]


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
STACKED = node(
    "Concat",
    node("Unsqueeze", node("Neg", Value("second"), core=True), Value("axes")),
    node("Unsqueeze", Value("first"), Value("other axes")),
    name="stacked",
    core=True,
)
INTERLEAVED = Pattern(
    "RotaryEmbedding",
    Value("one") * Value("other")
    + node("Reshape", STACKED, Value("shape"), name="rotated") * Value("sine"),
    (
        of_float_type(ir.DataType.FLOAT),
        Condition(
            "The neighbours that change places are those of what is rotated", _takes_neighbours
        ),
        _angles("cosine"),
        _angles("sine"),
    ),
)


@register
class RecognizeRotaryEmbedding(Pass):
    """Recognize RotaryEmbedding.

    What it does:
        The rotation of queries and keys by their positions, half against half as Llama has it, or
        neighbour against neighbour as GPT-J, becomes one RotaryEmbedding. Moves of heads before it
        are put behind it, where Attention takes them along.
    Before:
        x · cos + Concat(−x₂, x₁) · sin
    After:
        RotaryEmbedding(x, cos₁, sin₁)
    When it is safe:
        The model uses opset 23 or later, which has RotaryEmbedding. The element type is float32,
        and x has four axes. Cosine and sine are the same for all heads, and have each angle twice
        for sure: made of twice the same angles, or a table in which they are. Nothing else reads
        the values in between.
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
        """The sum of what stays and what changes places, half against half."""
        return _recognized(ROTARY, node, context)

    @rule(*INTERLEAVED.roots, name="InterleavedRotaryEmbedding", reach=INTERLEAVED.reach + 1)
    def neighbours(self, node: ir.Node, context: Context) -> Outcome:
        """The same, neighbour against neighbour."""
        return _recognized(INTERLEAVED, node, context)

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


def _recognized(pattern: Pattern, node: ir.Node, context: Context) -> Outcome:
    found = find(pattern, node, context)
    if not isinstance(found, Found):
        return found
    problem = older(found, "RotaryEmbedding", OPSET, context)
    rotation = _rotation(found, context)
    if problem is not None or rotation is None:
        return problem
    axis, whole = _heads_axis(rotation, context), context.symbolic.shape(rotation.source)
    heads, size = (None, None) if whole is None or axis is None else (whole[axis], whole[3])
    if not isinstance(size, int) or (axis == 2 and not isinstance(heads, int)):
        return Declined(f"Heads and their size are known: {plain(whole or ())}")
    made: list[NewNode] = []
    angles = [
        _once(each, size, rotation, context, made) for each in (rotation.cosine, rotation.sine)
    ]
    attributes = {"interleaved": 1} if rotation.interleaved else {}
    if axis == 2 and isinstance(heads, int):
        made += _by_row(rotation.source, angles, heads, size, attributes)
    else:
        made.append(NewNode("RotaryEmbedding", [rotation.source, *angles], attributes))
    matched = [*rotation.nodes, *[*found.nodes][::-1]]
    reason = f"These {len(matched)} nodes compute RotaryEmbedding."
    return Replacement(matched, {node.outputs[0]: made[-1].output()}, reason, made)


def _by_row(
    source: ir.Value, angles: list[Operand], heads: int, size: int, attributes: dict[str, int]
) -> list[NewNode]:
    """Heads behind positions: all heads of one are a row, which the operator takes apart."""
    joined = NewNode("Reshape", [source, NewInitializer.ints([0, 0, heads * size], "joined")])
    told = {**attributes, "num_heads": heads}
    turned = NewNode("RotaryEmbedding", [joined.output(), *angles], told)
    apart = NewInitializer.ints([0, 0, heads, size], "apart")
    return [joined, turned, NewNode("Reshape", [turned.output(), apart])]


def _once(
    angles: ir.Value, size: int, rotation: _Rotation, context: Context, made: list[NewNode]
) -> Operand:
    """Each angle of cosine or sine once, as [batch, seq, size / 2]."""
    shape, whole = context.symbolic.shape(angles), context.symbolic.shape(rotation.source)
    assert shape is not None
    assert whole is not None
    end = size if rotation.interleaved else size // 2
    bounds = [NewInitializer.ints([n], hint) for n, hint in ((0, "start"), (end, "end"))]
    bounds.append(NewInitializer.ints([len(shape) - 1], "axis"))
    if rotation.interleaved:
        bounds.append(NewInitializer.ints([2], "step"))
    made.append(NewNode("Slice", [angles, *bounds]))
    heads, rank = _heads_axis(rotation, context) or 1, len(shape)
    if heads == 2 or rank == 4:
        axis = NewInitializer.ints([heads + rank - 4], "axis")
        made.append(NewNode("Squeeze", [made[-1].output(), axis]))
        rank -= 1
    if rank == 2:
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
