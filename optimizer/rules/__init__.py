"""What a rule may ask and what it answers."""

from optimizer.rules.context import Context, given, producer_of, transposition
from optimizer.rules.replacement import (
    Declined,
    NewInitializer,
    NewNode,
    NewOutput,
    Operand,
    Outcome,
    Replacement,
)

__all__ = [
    "Context",
    "Declined",
    "NewInitializer",
    "NewNode",
    "NewOutput",
    "Operand",
    "Outcome",
    "Replacement",
    "given",
    "producer_of",
    "transposition",
]
