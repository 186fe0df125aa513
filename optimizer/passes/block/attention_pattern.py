"""Scaled dot-product attention spelled out: the pattern."""

from __future__ import annotations

import math
from collections.abc import Iterable

import onnx_ir as ir

from optimizer.dimension import Dimension
from optimizer.passes.block.conditions import of_float_type, plain
from optimizer.patterns import Condition, Found, Number, Pattern, Term, Value, either, node
from optimizer.patterns.found import spoken
from optimizer.rules import Context, producer_of

MOST_MASKS = 3
"""Masks and biases that may be added one after another: padding, causal, relative position."""

_HIDES = -1e4
_RANKS = (3, 4)
"""Where batch and heads are one axis, and where they are two."""


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


def shapes_of(found: Found, context: Context) -> list[tuple[Dimension, ...]] | None:
    """Shapes of query, transposed key and value, all of four axes or all of three."""
    known = [context.symbolic.shape(found.values[name]) for name in ("query", "keys", "value")]
    shapes = [shape for shape in known if shape is not None and len(shape) in _RANKS]
    return shapes if len(shapes) == 3 and len({*map(len, shapes)}) == 1 else None


def _all_axes(found: Found, context: Context) -> str | None:
    if shapes_of(found, context) is not None:
        return None
    known = [context.symbolic.shape(found.values[name]) for name in ("query", "keys", "value")]
    return f"they have {', '.join(map(plain, known))}"


def _same_heads(found: Found, context: Context) -> str | None:
    query, keys, value = (shape[:-2] for shape in shapes_of(found, context) or ())
    if query == keys == value:
        return None
    return f"they have {plain(query)}, {plain(keys)} and {plain(value)}"


def scale_of(found: Found) -> float:
    """All factors of the scores before the masks as one; NaN where one divides by 0."""
    scale = 1.0
    for name, number in found.numbers.items():
        if name.endswith(" times"):
            scale *= number
        elif name.endswith(" over"):
            scale = scale / number if number else math.nan
    return scale


def _positive(found: Found, context: Context) -> str | None:
    scale = scale_of(found)
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
        if choice_of(mask, context) is None:
            return f"it is {spoken(mask)}"
    return None


def choice_of(mask: ir.Value, context: Context) -> list[float] | None:
    """The two numbers that a mask is a choice of."""
    maker = producer_of(mask, "Where")
    numbers = [context.scalar(each) for each in maker.inputs[1:]] if maker else [None]
    return None if None in numbers else [float(each) for each in numbers if each is not None]


def masks_of(found: Found) -> Iterable[ir.Value]:
    """Masks that are added, or by which numbers are put in, less those for windows."""
    kinds = ("mask ", "shown ", "hidden ")
    return [value for name, value in found.values.items() if name.startswith(kinds)]


def _mask_fits(found: Found, context: Context) -> str | None:
    query = (shapes_of(found, context) or [()])[0]
    for mask in masks_of(found):
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


def dims_of(value: ir.Value | None, context: Context) -> list[Dimension]:
    """The shape of a value; nothing where its rank is not known."""
    return [*(context.symbolic.shape(value) or ())]


def _window_fits(found: Found, context: Context) -> str | None:
    if "windows" not in found.values:
        return None
    scores = dims_of(found.named["apart"].inputs[0], context)
    apart = dims_of(found.named["apart"].outputs[0], context)
    joined = dims_of(found.named["joined"].outputs[0], context)
    mask = dims_of(found.values["windows"], context)
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
