"""Options of the Run page that contradict each other, and the choice that does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from profiling.config.contradiction import Changes, Contradiction
from profiling.config.mending import contradiction_of, mended
from profiling.config.option import Value
from profiling.config.settings import find_option
from studio.run_choice import Options, RunChoice


@dataclass(frozen=True, slots=True)
class Problem:
    """What cannot be run.

    Attributes:
        contradiction: between options.
        entrant: place of the variant whose own options take part; None where those of all do it.
    """

    contradiction: Contradiction
    entrant: int | None = None


def common_problem(choice: RunChoice) -> Problem | None:
    """What is wrong with the options of all, if anything."""
    found = contradiction_of(dict(choice.options))
    return None if found is None else Problem(found)


def problem_of(choice: RunChoice) -> Problem | None:
    """What is wrong with the first variant that cannot be run.

    The options of all may contradict each other as long as every variant changes that for itself.
    """
    common = common_problem(choice)
    for place, entrant in enumerate(choice.entrants):
        found = contradiction_of(dict(choice.options) | dict(entrant.options))
        if found is not None:
            same = common is not None and found == common.contradiction
            return common if same else Problem(found, place)
    return None


def with_mend(choice: RunChoice, problem: Problem, mend: Changes) -> RunChoice:
    """The choice with a mend of its problem taken, and with the likeliest ones of all others."""
    found = _with_one(choice, problem, mend)
    while (other := problem_of(found)) is not None:
        found = _with_one(found, other, other.contradiction.mends[0])
    return found


def _with_one(choice: RunChoice, problem: Problem, mend: Changes) -> RunChoice:
    common = dict(choice.options)
    if problem.entrant is None:
        return replace(choice, options=_differing(mended(common, mend), {}))
    entrants = list(choice.entrants)
    entrant = entrants[problem.entrant]
    found = mended(common | dict(entrant.options), mend)
    entrants[problem.entrant] = replace(entrant, options=_differing(found, common))
    return replace(choice, entrants=tuple(entrants))


def _differing(values: Mapping[str, Value], common: Mapping[str, Value]) -> Options:
    """Those that are not as all others have them."""
    usual = {name: common.get(name, find_option(name).default) for name in values}
    return tuple(sorted((name, v) for name, v in values.items() if v != usual[name]))
