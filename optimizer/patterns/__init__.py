"""Patterns as data: what to look for, where it nearly is, and how it is written."""

from optimizer.patterns.found import Found
from optimizer.patterns.pattern import Pattern
from optimizer.patterns.rule import matches, patterns_of
from optimizer.patterns.terms import (
    Condition,
    Formula,
    Number,
    Parameter,
    Term,
    Value,
    either,
    maybe,
    node,
    repeated,
)

__all__ = [
    "Condition",
    "Formula",
    "Found",
    "Number",
    "Parameter",
    "Pattern",
    "Term",
    "Value",
    "either",
    "matches",
    "maybe",
    "node",
    "patterns_of",
    "repeated",
]
