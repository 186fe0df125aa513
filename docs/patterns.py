"""What the pages of passes say of their patterns: every spelling that is found, node by node."""

from __future__ import annotations

from optimizer.patterns.description import Described, described
from optimizer.registry import Pass


def spellings_of(declared: type[Pass]) -> list[str]:
    """A section for a pass whose rules are patterns; nothing for any other."""
    found = described(declared)
    if not found:
        return []
    lines = ["## Spellings", "Operands of Add and Mul may be swapped everywhere."]
    for pattern in found:
        lines += _of(pattern)
    return lines


def _of(pattern: Described) -> list[str]:
    arithmetic = ", its arithmetic in any association and order" if pattern.any_order else ""
    lines = [f"### {pattern.name}", f"Looked for from the last line{arithmetic}:"]
    lines += [f"```\n{text}\n```" for text in pattern.spellings]
    if pattern.needs:
        listed = "\n".join(f"* {text}" for text in pattern.needs)
        lines += ["A place where one of these does not hold is declined with that reason:", listed]
    return lines
