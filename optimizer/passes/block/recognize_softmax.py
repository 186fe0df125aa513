"""Softmax spelled out."""

from __future__ import annotations

from optimizer.passes.block.conditions import of_float_type, plain
from optimizer.patterns import (
    Condition,
    Found,
    Parameter,
    Pattern,
    Term,
    Value,
    either,
    matches,
    node,
)
from optimizer.registry import Pass, register
from optimizer.rules import Context, Declined, NewNode, Outcome

OPSET = 13
"""The first operator set in which Softmax runs over one axis, and no other."""


def _axis(found: Found, name: str, context: Context) -> int | None:
    """The only axis that a reduction runs over; None where there are several."""
    reduction = found.named[name]
    axes = context.parameter(reduction, "axes", 1)
    rank = context.rank(reduction.inputs[0])
    return axes[0] % rank if axes is not None and len(axes) == 1 and rank else None


def _over_one_axis(found: Found, context: Context) -> str | None:
    if _axis(found, "sum", context) is not None:
        return None
    return f"its axes are {plain(context.parameter(found.named['sum'], 'axes', 1))}"


def _same_axis(found: Found, context: Context) -> str | None:
    if "maximum" not in found.named:
        return None
    axes = [_axis(found, name, context) for name in ("maximum", "sum")]
    return None if axes[0] == axes[1] else f"they run over {axes[0]} and {axes[1]}"


def _reduced(operator: str, of: Term, name: str) -> Term:
    axes = Parameter("axes", 1, (-1,))
    return node(operator, of, name=name, settings={"keepdims": 1}, parameters=[axes], core=True)


X = Value("x")
EXPONENTIALS = node("Exp", either(X - _reduced("ReduceMax", X, "maximum"), X))
SOFTMAX = Pattern(
    "Softmax",
    EXPONENTIALS / _reduced("ReduceSum", EXPONENTIALS, "sum"),
    (
        of_float_type(),
        Condition("The sum runs over one axis", _over_one_axis),
        Condition("Maximum and sum run over the same axis", _same_axis),
    ),
)


@register
class RecognizeSoftmax(Pass):
    """Recognize Softmax.

    What it does:
        Exponentials over their sum, with or without the maximum taken off before, become ONNX's
        Softmax.
    Before:
        Exp(x − max(x)) / sum(Exp(x − max(x)))
    After:
        Softmax(x)
    When it is safe:
        The model uses opset 13 or later, in which Softmax runs over a single axis. Maximum and
        sum run over the same one and keep it. Nothing else reads the values in between.
    Numerics:
        The same mathematics, rounded differently. Softmax takes the maximum off first: where the
        exponentials would have overflowed without it, numbers take the place of NaN.
    Source:
        ONNX operator specification, Softmax.
    """

    id = "recognize-softmax"
    exactness = "reassociates"
    order = 83

    @matches(SOFTMAX, name="Softmax")
    def match(self, found: Found, context: Context) -> Outcome:
        """Exponentials over their sum."""
        if context.opset() < OPSET:
            reason = f"Softmax runs over one axis from opset {OPSET}"
            return Declined(f"{reason}, the model has opset {context.opset()}", (*found.nodes,))
        axis = _axis(found, "sum", context)
        return found.replaced_by(NewNode("Softmax", [found.values["x"]], {"axis": axis}))
