"""What a pass's patterns look for, in words: every spelling, node by node, and every condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from optimizer.patterns.pattern import Pattern, parts
from optimizer.patterns.rule import patterns_of
from optimizer.patterns.spelling import spellings
from optimizer.patterns.terms import Formula, Node, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from optimizer.registry import Pass


@dataclass(frozen=True, slots=True)
class Described:
    """One pattern.

    Attributes:
        name: of its rule.
        spellings: each a text, a node a line; looked for from the last line.
        any_order: whether its arithmetic is found in any association and order.
        needs: a place where one of these does not hold is declined with that reason.
    """

    name: str
    spellings: tuple[str, ...]
    any_order: bool
    needs: tuple[str, ...]


def described(declared: type[Pass]) -> list[Described]:
    """The patterns of a pass; nothing for one whose rules are functions."""
    return [_described(name, pattern) for name, pattern in patterns_of(declared)]


def _described(name: str, pattern: Pattern) -> Described:
    return Described(
        name,
        tuple(str(spelling) for spelling in spellings(pattern)),
        any(isinstance(part, Formula) for part in parts(pattern.root)),
        tuple(dict.fromkeys(_needs(pattern))),
    )


def _needs(pattern: Pattern) -> Iterator[str]:
    held = [c for p in parts(pattern.root) if isinstance(p, Node | Value) for c in p.where]
    return (condition.needs for condition in (*held, *pattern.where))
