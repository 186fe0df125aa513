"""Rules made of patterns."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

import onnx_ir as ir

from optimizer.patterns.found import Found
from optimizer.patterns.pattern import Pattern
from optimizer.patterns.search import find
from optimizer.registry import Pass, rule
from optimizer.rules import Context, Outcome

Of = TypeVar("Of", bound=Pass)
Rewrite = Callable[[Of, Found, Context], Outcome]


def matches(
    pattern: Pattern, *, name: str
) -> Callable[[Rewrite[Of]], Callable[[Of, ir.Node, Context], Outcome]]:
    """Mark a method that says what takes the place of a pattern as a rule.

    Roots and reach of the rule are the pattern's, and so are its near misses. The method may still
    answer `Declined`.

    Args:
        pattern: what to look for.
        name: of the rule.
    """

    def mark(rewrite: Rewrite[Of]) -> Callable[[Of, ir.Node, Context], Outcome]:
        @rule(*pattern.roots, name=name, reach=pattern.reach)
        @functools.wraps(rewrite)
        def match(self: Of, node: ir.Node, context: Context) -> Outcome:
            found = find(pattern, node, context)
            return rewrite(self, found, context) if isinstance(found, Found) else found

        match.pattern = pattern  # pyright: ignore[reportAttributeAccessIssue, reportFunctionMemberAccess] - a mark for `patterns_of`
        return match

    return mark


def patterns_of(declared: type[Pass]) -> list[tuple[str, Pattern]]:
    """The patterns of a pass, by the names of their rules."""
    found = [(each.name, getattr(each.match, "pattern", None)) for each in declared().rules()]
    return [(name, pattern) for name, pattern in found if isinstance(pattern, Pattern)]
