"""Scaled dot-product attention spelled out: the pattern, and what is read from a place of it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.passes.block.conditions import of_float_type, plain
from optimizer.patterns import Condition, Found, Number, Pattern, Term, Value, either, node
from optimizer.patterns.found import spoken
from optimizer.rules import Context, NewInitializer, NewNode, Operand, producer_of, transposition

MOST_MASKS = 3
"""Masks and biases that may be added one after another: padding, causal, relative position."""

LOWEST = float(np.finfo(np.float32).min) / 4
"""Masks are cut off here: two may be added, and a row of the smallest float32 is not taken for one
without any key."""

HIDDEN = -1e30
"""Added to a score, it leaves nothing of it, as putting a number in its place does."""

_HIDES = -1e4
_RANKS = (3, 4)
"""Where batch and heads are one axis, and where they are two."""


@dataclass(frozen=True, slots=True)
class Parts:
    """softmax(query · keyᵀ · scale + mask) · value.

    Attributes:
        query: float32[batch, heads, queries, size], or with batch and heads as one axis.
        key: float32[batch, heads, keys, size] likewise, with the new nodes it takes.
        value: float32[batch, heads, keys, width] likewise.
        scale: a positive number.
        mask: float32, with a row for every query and a column for every key; None for none.
        nodes: the new ones, producers first.
        moved: nodes above the pattern whose work the operator does.
    """

    query: ir.Value
    key: Operand
    value: ir.Value
    scale: float
    mask: Operand | None
    nodes: tuple[NewNode, ...]
    moved: tuple[ir.Node, ...]


def _scaled(term: Term, name: str) -> Term:
    """A term, or it times or over a number."""
    factor, divisor = (Number(None, name=f"{name} {kind}", sample=2) for kind in ("times", "over"))
    return either(term * factor, term / divisor, term)


def _masked(scores: Term) -> Term:
    """Scores with up to `MOST_MASKS` masks: added, or numbers put in their place."""
    for number in range(MOST_MASKS):
        mask = Value(f"mask {number}", (), (2, 1, 5, 6), (0.5, -2.0))
        shown, hidden = (
            Value(f"{kind} {number}", (), (2, 1, 5, 6), weight)
            for kind, weight in (("shown", (True, False, True)), ("hidden", (False, True, False)))
        )
        low = Number(None, name=f"low {number}", sample=-1e9)
        scores = either(
            scores + mask,
            node("Where", shown, scores, low),
            node("Where", hidden, low, scores),
            scores,
        )
    return scores


def _windowed(scores: Term) -> Term:
    """Scores with a mask for each window of a picture: the batch is apart for as long."""
    apart = Value("apart", sample=(5,), weight=(-1, 2, 3, 5, 6))
    joined = Value("joined", sample=(4,), weight=(-1, 3, 5, 6))
    added = node("Reshape", scores, apart, name="apart") + Value(
        "windows", (), (1, 2, 1, 5, 6), (0.5, -2.0)
    )
    return either(node("Reshape", added, joined, name="joined"), scores)


def _over_last_axis(found: Found, context: Context) -> str | None:
    softmax = found.named["softmax"]
    axis, rank = context.attribute(softmax, "axis"), context.rank(softmax.inputs[0])
    last = axis == -1 or (rank is not None and axis == rank - 1)
    return None if last else f"it runs over axis {axis} of {rank}"


def _shapes(found: Found, context: Context) -> list[tuple[Dimension, ...]] | None:
    """Shapes of query, transposed key and value, all of four axes or all of three."""
    known = [context.symbolic.shape(found.values[name]) for name in ("query", "keys", "value")]
    shapes = [shape for shape in known if shape is not None and len(shape) in _RANKS]
    return shapes if len(shapes) == 3 and len({*map(len, shapes)}) == 1 else None


def _all_axes(found: Found, context: Context) -> str | None:
    if _shapes(found, context) is not None:
        return None
    known = [context.symbolic.shape(found.values[name]) for name in ("query", "keys", "value")]
    return f"they have {', '.join(map(plain, known))}"


def _same_heads(found: Found, context: Context) -> str | None:
    query, keys, value = (shape[:-2] for shape in _shapes(found, context) or ())
    if query == keys == value:
        return None
    return f"they have {plain(query)}, {plain(keys)} and {plain(value)}"


def _scale(found: Found) -> float:
    scale = 1.0
    for name, number in found.numbers.items():
        if name.endswith(" times"):
            scale *= number
        elif name.endswith(" over"):
            scale = scale / number if number else math.nan
    return scale


def _positive(found: Found, context: Context) -> str | None:
    scale = _scale(found)
    return None if 0 < scale < math.inf else f"it is {scale:.4g}"


def _hidden(found: Found, context: Context) -> str | None:
    numbers = [number for name, number in found.numbers.items() if name.startswith("low ")]
    wrong = [number for number in numbers if not number <= _HIDES]
    return f"one is {wrong[0]:.4g}" if wrong else None


def _zero(found: Found, context: Context) -> str | None:
    number = found.numbers.get("instead", 0.0)
    return None if number == 0 else f"it is {number:.4g}"


def _chosen(found: Found, context: Context) -> str | None:
    """Beside a guard against NaN, −∞ must stay what it is, and the smallest number must not."""
    if "instead" not in found.numbers:
        return None
    for name, mask in found.values.items():
        known = context.array(mask)
        if not name.startswith(("mask ", "windows")) or known is not None:
            continue
        if _choice(mask, context) is None:
            return f"it is {spoken(mask)}"
    return None


def _choice(mask: ir.Value, context: Context) -> list[float] | None:
    """The two numbers that a mask is a choice of."""
    maker = producer_of(mask, "Where")
    numbers = [context.scalar(each) for each in maker.inputs[1:]] if maker else [None]
    return None if None in numbers else [float(each) for each in numbers if each is not None]


def _masks(found: Found) -> Iterable[ir.Value]:
    kinds = ("mask ", "shown ", "hidden ")
    return [value for name, value in found.values.items() if name.startswith(kinds)]


def _mask_fits(found: Found, context: Context) -> str | None:
    query = (_shapes(found, context) or [()])[0]
    for mask in _masks(found):
        shape = context.symbolic.shape(mask)
        if shape is None:
            return "it has a shape that is not known"
        outer, rank = (1,) * (len(query) - len(shape)) + shape, len(query)
        wanted = (*query[:-2], *(outer[-2:-1] if query[-2] != 1 else (1,)))  # it adds no queries
        if len(shape) > rank or any(
            dim not in (1, of) for dim, of in zip(outer[:-1], wanted, strict=True)
        ):
            return f"it has {plain(shape)} for {plain(query[:-1])}"
    return None


def _dims(value: ir.Value | None, context: Context) -> list[Dimension]:
    """The shape of a value; nothing where its rank is not known."""
    return [*(context.symbolic.shape(value) or ())]


def _window_fits(found: Found, context: Context) -> str | None:
    if "windows" not in found.values:
        return None
    scores = _dims(found.named["apart"].inputs[0], context)
    apart = _dims(found.named["apart"].outputs[0], context)
    joined = _dims(found.named["joined"].outputs[0], context)
    mask = _dims(found.values["windows"], context)
    windows = apart[1] if len(scores) == 4 and len(apart) == 5 else 0
    if not isinstance(windows, int) or not windows or apart[0] * windows != scores[0]:
        return f"{plain(scores)} becomes {plain(apart)}"
    if joined != scores or apart[2:] != scores[1:]:
        return f"{plain(scores)} becomes {plain(joined)}"
    heads = mask[2] if len(mask) == 5 else 0
    fits = heads in (1, scores[1]) and mask == [1, windows, heads, *scores[2:]]
    return None if fits else f"the mask has {plain(mask)} for {plain(apart)}"


QUERY = Value("query", sample=(2, 3, 5, 4))
KEYS = Value("keys", sample=(2, 3, 4, 6))
VALUE = Value("value", sample=(2, 3, 6, 7))
PRODUCT = node("MatMul", _scaled(QUERY, "query"), _scaled(KEYS, "keys"), name="product", core=True)
SOFTMAX = node(
    "Softmax",
    _windowed(_masked(_scaled(PRODUCT, "scores"))),
    name="softmax",
    where=(Condition("Softmax runs over the last axis", _over_last_axis),),
    core=True,
)
GUARDED = node("Where", node("IsNaN", SOFTMAX), Number(None, name="instead", sample=0), SOFTMAX)
"""PyTorch's own function gives 0 where every key is masked."""

ATTENTION = Pattern(
    "Attention",
    node("MatMul", either(SOFTMAX, GUARDED), VALUE),
    (
        of_float_type(ir.DataType.FLOAT),
        Condition("Queries, keys and values have four axes, or three", _all_axes),
        Condition("Queries, keys and values have the same batch and heads", _same_heads),
        Condition("The scale is a positive number", _positive),
        Condition(f"Numbers put in the place of scores are at most {_HIDES:g}", _hidden),
        Condition("The guard against NaN gives 0", _zero),
        Condition("Beside a guard against NaN, a mask is a choice of two numbers", _chosen),
        Condition("There is a mask for each window", _window_fits),
        Condition("Masks have 1 or the number of batches and heads", _mask_fits),
    ),
)


def parts_of(found: Found, context: Context) -> Parts:
    """What a place of the pattern computes with."""
    made: list[NewNode] = []
    key, factor, moved = _key(found.values["keys"], context, made)
    mask = _mask(found, context, made)
    scale = _scale(found) * factor
    query, value = found.values["query"], found.values["value"]
    return Parts(query, key, value, scale, mask, (*made,), moved)


def _key(
    keys: ir.Value, context: Context, made: list[NewNode]
) -> tuple[Operand, float, tuple[ir.Node, ...]]:
    """The key with its size last, by what it is to be multiplied still, and what made it so."""
    rank = len(context.symbolic.shape(keys) or ())
    source, perm, moved = keys, [*range(rank - 2), rank - 1, rank - 2], list[ir.Node]()
    above = producer_of(keys, "Transpose")
    order = None if above is None else transposition(above, context)
    if above is not None and order is not None and above.inputs[0] is not None:
        source, perm = above.inputs[0], [*order[:-2], order[-1], order[-2]]
        moved = [above]
    factor, unscaled = _unscaled(source, context)
    scaling = source.producer()
    if unscaled is not source and scaling is not None:
        source, moved = unscaled, [scaling, *moved]
    if perm == [*range(rank)]:
        return source, factor, (*moved,)
    made.append(NewNode("Transpose", [source], {"perm": perm}))
    return made[-1].output(), factor, (*moved,)


def _unscaled(value: ir.Value, context: Context) -> tuple[float, ir.Value]:
    """A value without the number that it is multiplied by, and that number; 1 where it has none."""
    above = producer_of(value, "Mul", "Div")
    if above is None or not context.single_use(value):
        return 1.0, value
    source, number = above.inputs
    if above.op_type == "Mul" and context.scalar(number) is None:
        source, number = number, source
    known = context.scalar(number)
    if known is None or source is None or not context.same_shape(source, value) or known <= 0:
        return 1.0, value
    return (float(known) if above.op_type == "Mul" else 1 / float(known)), source


def _mask(found: Found, context: Context, made: list[NewNode]) -> Operand | None:
    """All masks as one that is added, with the shape that the operator wants."""
    query, keys, _ = _shapes(found, context) or [(), (), ()]
    summed: Operand | None = None
    rows: set[Dimension] = {1}
    columns: set[Dimension] = {1}
    parts = [_summand(found, index, context, made) for index in range(MOST_MASKS)]
    for part in [*parts, _windows(found, context, made)]:
        if part is None:
            continue
        shape = (1, 1, *(context.symbolic.shape(part[1]) or ()))
        rows.add(shape[-2])
        columns.add(shape[-1])
        added = part[0]
        if len(query) == 3 and len(shape) == 5 and shape[2] != 1:  # heads stand beside the batch
            made.append(NewNode("Unsqueeze", [added, NewInitializer.ints([1], "axis")]))
            added = made[-1].output()
        if summed is None:
            summed = added
        else:
            made.append(NewNode("Add", [summed, added]))
            summed = made[-1].output()
    if summed is None:
        return None
    if rows <= {1, query[-2]} and columns <= {1, keys[-1]} and len(rows) == len(columns) == 2:
        return summed
    sizes = _sizes(found, context, made)
    made.append(NewNode("Expand", [summed, sizes]))
    return made[-1].output()


def _summand(
    found: Found, index: int, context: Context, made: list[NewNode]
) -> tuple[Operand, ir.Value] | None:
    """One mask as it is added, and the value that has its shape."""
    mask = found.values.get(f"mask {index}")
    if mask is not None:
        if not _is_cut(mask, found, context):
            return mask, mask
        made.append(NewNode("Max", [mask, _number(LOWEST, "lowest")]))
        return made[-1].output(), mask
    low = found.numbers.get(f"low {index}")
    if low is None:
        return None
    shown, hidden = found.values.get(f"shown {index}"), found.values.get(f"hidden {index}")
    never = "instead" in found.numbers and low == -math.inf
    number = _number(low if never else max(min(low, HIDDEN), LOWEST), "hidden")
    if shown is not None:
        made.append(NewNode("Where", [shown, _number(0, "shown"), number]))
        return made[-1].output(), shown
    assert hidden is not None
    made.append(NewNode("Where", [hidden, number, _number(0, "shown")]))
    return made[-1].output(), hidden


def _is_cut(mask: ir.Value, found: Found, context: Context) -> bool:
    """Whether a mask may hold numbers that the operator takes for no key at all."""
    array = context.array(mask)
    numbers = _choice(mask, context) if array is None else [float(array.min(initial=0))]
    lowest = min(numbers) if numbers else -math.inf
    return lowest < LOWEST and not ("instead" in found.numbers and lowest == -math.inf)


def _windows(
    found: Found, context: Context, made: list[NewNode]
) -> tuple[Operand, ir.Value] | None:
    """A mask for each window, as often as there are pictures, and the value that has its shape."""
    mask, query = found.values.get("windows"), found.values["query"]
    if mask is None:
        return None
    windows, batch = _dims(mask, context)[1], _dims(query, context)[0]
    assert isinstance(windows, int)
    array = context.array(mask)
    if array is not None and not _is_cut(mask, found, context):
        one: Operand = NewInitializer.of(array[0], "windows")
    else:
        made.append(NewNode("Max", [mask, _number(LOWEST, "lowest")]))
        made.append(NewNode("Squeeze", [made[-1].output(), NewInitializer.ints([0], "axis")]))
        one = made[-1].output()
    if batch == windows:
        return one, mask
    whole = NewInitializer.ints([windows], "windows")
    made.append(NewNode("Div", [_size(query, 0, made), whole]))
    ones = NewInitializer.ints([1, 1, 1], "ones")
    made.append(NewNode("Tile", [one, _joined([made[-1].output(), ones], made)]))
    return made[-1].output(), mask


def _number(number: float, hint: str) -> NewInitializer:
    return NewInitializer.of(number, hint, np.float32)


def _sizes(found: Found, context: Context, made: list[NewNode]) -> Operand:
    """A mask's shape for `Expand`: a row for every query, a column for every key."""
    query, keys = found.values["query"], found.values["keys"]
    shapes = _shapes(found, context) or []
    queries, columns = shapes[0][-2], shapes[1][-1]
    if isinstance(queries, int) and isinstance(columns, int):
        return NewInitializer.ints([1, 1, queries, columns], "mask_shape")
    masks = [*_masks(found)]
    shape = context.symbolic.shape(masks[0]) or ()
    if len(masks) == 1 and len(shape) == 4 and shape[3] == columns == queries:
        # The mask's own size: the same in every layer
        size = _size(masks[0], 3, made)
        return _joined([NewInitializer.ints([1, 1], "ones"), size, size], made)
    rank = len(shapes[0])
    sizes = [_size(query, rank - 2, made), _size(keys, rank - 1, made)]
    return _joined([NewInitializer.ints([1, 1], "ones"), *sizes], made)


def _size(value: ir.Value, axis: int, made: list[NewNode]) -> Operand:
    made.append(NewNode("Shape", [value]))
    made.append(NewNode("Gather", [made[-1].output(), NewInitializer.ints([axis], "axis")]))
    return made[-1].output()


def _joined(sizes: list[Operand], made: list[NewNode]) -> Operand:
    made.append(NewNode("Concat", sizes, {"axis": 0}))
    return made[-1].output()
