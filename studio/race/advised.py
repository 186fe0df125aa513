"""What races advise, taken: one more variant with the options that would make one faster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from profiling.racing.race import Race
from studio.variants.link import MOST_VARIANTS, RunChoice, VariantChoice
from studio.variants.variant import TraceVariant


def with_advice(
    choice: RunChoice, variants: Sequence[TraceVariant], races: Sequence[Race]
) -> RunChoice | None:
    """The choice with one more variant; None where nothing is advised, or it is there already.

    Args:
        choice: what the page is set to.
        variants: of it, in the same order.
        races: of the variants.
    """
    if len(choice.variants) >= MOST_VARIANTS:
        return None
    bases = {one.label: base for one, base in zip(variants, choice.variants, strict=False)}
    for timing in (timing for race in races for timing in race.timings):
        base, advised = bases.get(timing.label), timing.advice
        if base is None or advised is None:
            continue
        options = tuple(sorted({**dict(base.options), **advised.changes}.items()))
        added = VariantChoice(base.graph, options)
        if added not in choice.variants:
            return replace(choice, variants=(*choice.variants, added), asked="deployed")
    return None
