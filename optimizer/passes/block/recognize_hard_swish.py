"""HardSwish spelled out: a value times a ramp of itself."""

from __future__ import annotations

from optimizer.passes.block.conditions import of_float_type, older, same_shape
from optimizer.patterns import Formula, Found, Number, Pattern, Value, either, matches, node
from optimizer.registry import Pass, register
from optimizer.rules import Context, NewNode, Outcome

OPSET = 14
"""The first operator set with HardSwish."""

X = Value("x")
SIXTH = Number(1 / 6, "1/6")
SIX_HIGH = node("Clip", Formula(X + 3), 0, 6, core=True)
ONE_HIGH = node("Clip", Formula(X * SIXTH + 0.5), 0, 1, core=True)
RAMP = node("HardSigmoid", X, settings={"alpha": 1 / 6, "beta": 0.5}, core=True)
HARD_SWISH = Pattern(
    "HardSwish",
    either(Formula(X * SIX_HIGH / 6), Formula(X * ONE_HIGH), X * RAMP),
    (of_float_type(), same_shape("x")),
    ends=("Div", "Mul"),
)


@register
class RecognizeHardSwish(Pass):
    """Recognize HardSwish.

    What it does:
        A value times a ramp of itself, spelled out with Clip or with HardSigmoid, becomes
        ONNX's HardSwish.
    Before:
        x · Clip(x + 3, 0, 6) / 6
    After:
        HardSwish(x)
    When it is safe:
        The model uses opset 14 or later, which has HardSwish. The constants are HardSwish's, to
        the precision of the element type. Nothing else reads the values in between.
    Numerics:
        The same function; the runtime's kernel rounds differently.
    Source:
        Howard et al. 2019, Searching for MobileNetV3.
    """

    id = "recognize-hard-swish"
    exactness = "reassociates"
    order = 83

    @matches(HARD_SWISH, name="HardSwish")
    def match(self, found: Found, context: Context) -> Outcome:
        """Find x · Clip(x + 3, 0, 6) / 6."""
        made = NewNode("HardSwish", [found.values["x"]])
        return older(found, "HardSwish", OPSET, context) or found.replaced_by(made)
