"""Control flow, sequences and optionals."""

from __future__ import annotations

from optimizer.operators.operator import Operator, OperatorClass

_CONTROL = Operator(category="control", kind=OperatorClass.CONTROL)

OPERATORS = (
    *_CONTROL.each("If Scan"),
    _CONTROL.named("Loop", shape_inputs=(0,)),
    *Operator(category="control").each(
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt"
        " SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap"
        " SplitToSequence"
    ),
)
