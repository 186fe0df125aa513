"""Options of the Run page that contradict each other, and the choice that does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from profiling.config.contradiction import Changes
from profiling.config.option import Value
from profiling.config.question import STARTS, As, ContradictoryQuestion, ask
from profiling.config.settings import find_option, mended
from studio.variants.link import Options, RunChoice


def common_problem(choice: RunChoice) -> ContradictoryQuestion | None:
    """What is wrong with the options of all, if anything."""
    found = _refusal(choice.asked, [dict(choice.options)])
    if found is not None:
        found.place = None
    return found


def problem_of(choice: RunChoice) -> ContradictoryQuestion | None:
    """What is wrong with the first variant that cannot be run.

    The options of all may contradict each other as long as every variant changes that for itself.
    """
    common = common_problem(choice)
    found = _refusal(
        choice.asked, [dict(choice.options) | dict(e.options) for e in choice.variants]
    )
    same = common is not None and found is not None and found.contradiction == common.contradiction
    return common if same else found


def _refusal(asked: As, variants: Sequence[Mapping[str, Value]]) -> ContradictoryQuestion | None:
    try:
        ask(asked, variants)
    except ContradictoryQuestion as error:
        return error
    return None


def with_mend(choice: RunChoice, problem: ContradictoryQuestion, mend: Changes) -> RunChoice:
    """The choice with a mend of its problem taken, and with the likeliest ones of all others."""
    found = _with_one(choice, problem, mend)
    while (other := problem_of(found)) is not None:
        found = _with_one(found, other, other.contradiction.mends[0])
    return found


def _with_one(choice: RunChoice, problem: ContradictoryQuestion, mend: Changes) -> RunChoice:
    start, common = dict(STARTS[problem.question]), dict(choice.options)
    if problem.place is None:
        found = mended(start | common, mend)
        return replace(choice, options=_differing(found, start, common))
    variants = list(choice.variants)
    variant = variants[problem.place]
    own = dict(variant.options)
    found = mended(start | common | own, mend)
    variants[problem.place] = replace(variant, options=_differing(found, start | common, own))
    return replace(choice, variants=tuple(variants))


def _differing(
    values: Mapping[str, Value], others: Mapping[str, Value], own: Mapping[str, Value]
) -> Options:
    """Those that are not as they would be unset, and those that were set and stay as they were."""
    unset = {name: others.get(name, find_option(name).default) for name in values}
    kept = {name for name, value in values.items() if own.get(name) == value}
    return tuple(sorted((n, v) for n, v in values.items() if v != unset[n] or n in kept))
