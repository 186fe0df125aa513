"""What no-op passes share: how a node gives way to its first input, and whether two shapes agree.

Shapes come from `Context.symbolic`, which never guesses: two dimensions that are the same
expression over the sizes of the inputs are equal at every run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import onnx_ir as ir

from optimizer.dimension import Dimension, TooComplex, at_least
from optimizer.errors import quoted
from optimizer.registry import Pass, rule
from optimizer.rules import Context, Declined, Outcome, Replacement, given, producer_of

Verdict = str | Declined | None
"""Why a node gives back its first input, in a sentence; or a near miss, or nothing."""

Of = TypeVar("Of", bound=Pass)
Judge = Callable[[Of, ir.Node, ir.Value, Context], Verdict]


def bypass(
    *roots: str, name: str, reach: int = 1
) -> Callable[[Judge[Of]], Callable[[Of, ir.Node, Context], Outcome]]:
    """Mark a method that judges a node and its first input as a rule, as `rule` does."""

    def mark(judge: Judge[Of]) -> Callable[[Of, ir.Node, Context], Outcome]:
        @rule(*roots, name=name, reach=reach)
        @functools.wraps(judge)
        def match(self: Of, node: ir.Node, context: Context) -> Outcome:
            source = node.inputs[0] if node.inputs else None
            verdict = None if source is None else judge(self, node, source, context)
            if source is None or not isinstance(verdict, str):
                return verdict if isinstance(verdict, Declined) else None
            return Replacement([node], {node.outputs[0]: source}, verdict)

        return match

    return mark


_EQUAL = "The output shape equals the input shape."


def doubtful_axes(a: ir.Value | None, b: ir.Value | None, context: Context) -> list[int] | None:
    """The axes in which two shapes may or may not agree; [] when they certainly agree.

    Returns:
        None where they certainly differ, or one of the ranks is unknown.
    """
    left, right = context.symbolic.shape(a), context.symbolic.shape(b)
    if left is None or right is None or len(left) != len(right):
        return None
    verdicts = [same_size(x, y) for x, y in zip(left, right, strict=True)]
    if False in verdicts:
        return None
    return [axis for axis, verdict in enumerate(verdicts) if verdict is None]


def same_size(a: Dimension, b: Dimension) -> bool | None:
    """Whether two dimensions are equal at every run (True), at none (False), or undecided.

    Sizes that are equal only where both are 0, as `n` and `2*n`, count as different.
    """
    try:
        difference = a - b
    except TooComplex:
        return None
    if isinstance(difference, int):
        return difference == 0
    return False if at_least(difference, 0) or at_least(0, difference) else None


def doubt(node: ir.Node, axes: Iterable[int], context: Context) -> str:
    """What a person is told about `doubtful_axes`: "dim 1 is 'seq' before and 128 after"."""
    values = (node.inputs[0], node.outputs[0])
    left, right = (context.symbolic.shape(value) or () for value in values)
    return ", ".join(
        f"dim {axis} is {shown(left[axis])} before and {shown(right[axis])} after" for axis in axes
    )


def shown(size: Dimension) -> str:
    """A dimension as text: 128, 'seq' or "unknown"."""
    if isinstance(size, int):
        return str(size)
    anonymous = any(name.startswith("?") for name in size.symbols())
    return "unknown" if anonymous else quoted(str(size))


def numbers(value: ir.Value | None, context: Context) -> list[int] | None:
    """The elements of a small integer tensor, constant or computed, when all are known."""
    constant = context.ints(value)
    if constant is not None:
        return constant
    content = context.symbolic.of(value)
    elements = content if isinstance(content, tuple) else (content,)
    known = [element for element in elements if isinstance(element, int)]
    return known if len(known) == len(elements) else None


def parameter(node: ir.Node, name: str, index: int, context: Context) -> list[int] | None:
    """As `Context.parameter`, the input computed or constant."""
    attribute = node.attributes.get(name)
    return numbers(given(node, index), context) if attribute is None else list(attribute.as_ints())


def unless_doubtful(
    node: ir.Node, doubtful: list[int] | None, context: Context, *, most: int = 1
) -> Verdict:
    """Why a node keeps the shape, where no axis is in doubt; a near miss for a few that are."""
    if doubtful is None or len(doubtful) > most:
        return None
    return unlike(node, doubtful, context) if doubtful else _EQUAL


def unlike(node: ir.Node, axes: Iterable[int], context: Context) -> Declined:
    """That a node may change the size of these axes."""
    chosen = list(axes)
    reason = (
        f"the output shape is not known to equal the input shape: {doubt(node, chosen, context)}"
    )
    return Declined(reason, unlock=binding(node, chosen, context))


def binding(node: ir.Node, axes: Iterable[int], context: Context) -> str:
    """What a user can do about `doubtful_axes`: bind those that have a name; "" where none has."""
    shapes = [context.symbolic.shape(value) or () for value in (node.inputs[0], node.outputs[0])]
    sizes = [shape[axis] for shape in shapes for axis in axes]
    names = {name for size in sizes if not isinstance(size, int) for name in size.symbols()}
    listed = " ".join(f"--bind {name}=SIZE" for name in sorted(names) if not name.startswith("?"))
    return f"Bind what is free to a size: {listed}." if listed else ""


def is_own_shape(target: ir.Value | None, source: ir.Value) -> bool:
    """Whether `target` is Shape of `source`, whole."""
    producer = producer_of(target, "Shape")
    if producer is None:
        return False
    start, end = producer.attributes.get("start"), producer.attributes.get("end")
    return producer.inputs[0] is source and end is None and (start is None or start.value == 0)


def normalized(axes: Sequence[int], rank: int) -> list[int]:
    """Axes counted from the front."""
    return [axis + rank if axis < 0 else axis for axis in axes]
