"""Variants raced once for each question, one question after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, Unpack

from optimizer.isolation import Following, part_of
from profiling.config.question import question_of
from profiling.racing.executor import Executor, RaceJob, race_of
from profiling.racing.plan import RacePlan
from profiling.racing.race import Race, Variant

Found = TypeVar("Found")
Partial = Callable[[tuple[Found, ...]], None]
"""Gets what is known so far: of each question that was begun."""

One = Callable[[Sequence[Variant], Callable[[Found], None], Following], Found]
"""Measures the variants of one question; it tells what it knows so far, and who follows it."""


def run_races(
    asked: Sequence[Sequence[Variant]],
    plan: RacePlan,
    executor: Executor,
    *,
    partial: Partial[Race] | None = None,
    **following: Unpack[Following],
) -> tuple[Race, ...]:
    """Race the variants for each question.

    Args:
        asked: the variants with their options, for each question.
        plan: of each race.
        executor: where they run.
        partial: gets the races as far as they are known.
        following: told about all together, in words that begin with the question; asked often.

    Raises:
        Cancelled: if `cancelled` said so.
        StudioError: nothing runs.
    """

    def one(variants: Sequence[Variant], seen: Callable[[Race], None], told: Following) -> Race:
        jobs = [RaceJob(tuple(variants), plan)]
        (outcome,) = executor.run(jobs, observe=lambda _, race: seen(race), **told)
        return race_of(outcome)

    return in_turn(asked, one, partial, following)


def in_turn(
    asked: Sequence[Sequence[Variant]],
    one: One[Found],
    partial: Partial[Found] | None,
    following: Following,
) -> tuple[Found, ...]:
    """What `one` finds for each question.

    Never at the same time: what is deployed takes all cores.

    Args:
        asked: the variants with their options, for each question.
        one: measures them for one question.
        partial: gets what is known so far.
        following: told about all together, in words that begin with the question.
    """
    found: list[Found] = []
    for variants in asked:
        question = question_of(variant.config for variant in variants)
        before = f"{question}, " if question and len(asked) > 1 else ""
        told = part_of(following, before, len(found), of=len(asked))
        done = tuple(found)

        def seen(race: Found, done: tuple[Found, ...] = done) -> None:
            if partial is not None:
                partial((*done, race))

        found.append(one(variants, seen, told))
    return tuple(found)
