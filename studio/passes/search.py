"""Which passes of the catalogue are meant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from optimizer.patterns.description import described
from optimizer.registry import Pass, passes


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for; whatever is empty leaves all.

    Attributes:
        words: each is somewhere in name, operators, level, numerics, presets or text of a pass.
        families: levels.
        exactness: kinds of numerics.
        preset: one it belongs to.
        ids: passes to choose from; None for all.
    """

    words: str = ""
    families: Collection[str] = field(default_factory=frozenset[str])
    exactness: Collection[str] = field(default_factory=frozenset[str])
    preset: str = ""
    ids: Collection[str] | None = None


def found(wanted: Wanted) -> list[type[Pass]]:
    """The passes, those first whose own name has the words; else in running order."""
    parts = wanted.words.lower().split()
    listed = [one for one in passes() if _fits(one, wanted, parts)]
    return sorted(listed, key=lambda one: not all(part in _name(one) for part in parts))


def operators_of(declared: type[Pass]) -> list[str]:
    """Operators that its rules are asked about; empty for any."""
    roots = {root for rule in declared().rules() for root in rule.roots}
    return [] if "*" in roots else sorted(roots)


def _fits(one: type[Pass], wanted: Wanted, parts: Sequence[str]) -> bool:
    return (
        (not wanted.families or one.family in wanted.families)
        and (not wanted.exactness or one.exactness in wanted.exactness)
        and (not wanted.preset or wanted.preset in one.presets)
        and (wanted.ids is None or one.id in wanted.ids)
        and all(part in _name(one) or part in _text(one) for part in parts)
    )


def _name(one: type[Pass]) -> str:
    return f"{one.id} {one.title()}".lower()


@lru_cache(maxsize=512)
def _text(one: type[Pass]) -> str:
    """Everything that is said of a pass."""
    about = [one.family, one.exactness, *one.presets, *operators_of(one)]
    spelled = [text for pattern in described(one) for text in (pattern.name, *pattern.spellings)]
    return "\n".join([*about, *spelled, *one.documentation().values()]).lower()
