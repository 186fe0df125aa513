"""Operators that stand for subgraphs which occur several times: each is a function of its model."""

from __future__ import annotations

OUTLINED = "passlens.outlined"
"""Their domain."""

_HASH_DIGITS = 16


def outlined_title(name: str) -> str:
    """Such an operator for people: without the hash that its name ends with."""
    told, _, digits = name.rpartition("_")
    return told if told and len(digits) == _HASH_DIGITS else name
