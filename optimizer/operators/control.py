"""Control flow, sequences and optionals."""

from __future__ import annotations

from optimizer.operators.operator import Operator, OperatorClass

_CONTROL = Operator(category="control", kind=OperatorClass.CONTROL)

OPERATORS = (
    _CONTROL.named("If", decided_by=(0,)),
    _CONTROL.named("Scan"),
    _CONTROL.named("Loop", shape_inputs=(0,)),
    Operator("SequenceAt", category="control", indexes={1: lambda _: 1}),  # sequences may be short
    *Operator(category="control").each(
        "ConcatFromSequence Optional OptionalGetElement OptionalHasElement"
        " SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength SequenceMap"
        " SplitToSequence"
    ),
)
