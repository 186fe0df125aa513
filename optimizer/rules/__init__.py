"""What a rule may ask and what it answers."""

from optimizer.rules.context import Context, given, operator_of, producer_of, transposition
from optimizer.rules.replacement import (
    Declined,
    Inference,
    NewBody,
    NewInitializer,
    NewNode,
    NewOutput,
    Operand,
    Outcome,
    Place,
    Replacement,
)

__all__ = [
    "Context",
    "Declined",
    "Inference",
    "NewBody",
    "NewInitializer",
    "NewNode",
    "NewOutput",
    "Operand",
    "Outcome",
    "Place",
    "Replacement",
    "given",
    "operator_of",
    "producer_of",
    "transposition",
]
