"""What the pages of passes say of their patterns: every spelling that is found, node by node."""

from __future__ import annotations

from optimizer.patterns import patterns_of
from optimizer.patterns.pattern import Pattern, parts
from optimizer.patterns.spelling import spellings
from optimizer.patterns.terms import Formula, Node, Value
from optimizer.registry import Pass


def spellings_of(declared: type[Pass]) -> list[str]:
    """A section for a pass whose rules are patterns; nothing for any other."""
    found = patterns_of(declared)
    if not found:
        return []
    lines = ["## Spellings", "Operands of Add and Mul may be swapped everywhere."]
    for name, pattern in found:
        lines += _of(name, pattern)
    return lines


def _of(name: str, pattern: Pattern) -> list[str]:
    written = [str(spelling) for spelling in spellings(pattern)]
    any_order = any(isinstance(part, Formula) for part in parts(pattern.root))
    arithmetic = ", its arithmetic in any association and order" if any_order else ""
    lines = [f"### {name}", f"Looked for from the last line{arithmetic}:"]
    lines += [f"```\n{text}\n```" for text in written]
    needs = list(dict.fromkeys(_conditions(pattern)))
    if needs:
        listed = "\n".join(f"* {text}" for text in needs)
        lines += ["A place where one of these does not hold is declined with that reason:", listed]
    return lines


def _conditions(pattern: Pattern) -> list[str]:
    held = [c for p in parts(pattern.root) if isinstance(p, Node | Value) for c in p.where]
    return [condition.needs for condition in (*held, *pattern.where)]
