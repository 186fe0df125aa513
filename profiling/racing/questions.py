"""Variants raced once for each question, one question after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from optimizer.isolation import Progress, part_of
from profiling.config.question import question_of
from profiling.racing.executor import Executor, RaceJob, race_of
from profiling.racing.plan import RacePlan
from profiling.racing.race import Race, Variant

Found = TypeVar("Found")
Partial = Callable[[tuple[Found, ...]], None]
"""Gets what is known so far: of each question that was begun."""

One = Callable[[Sequence[Variant], Progress, Callable[[Found], None]], Found]
"""Measures the variants of one question; it gets its progress, and tells what it knows so far."""


def run_races(
    asked: Sequence[Sequence[Variant]],
    plan: RacePlan,
    executor: Executor,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    partial: Partial[Race] | None = None,
) -> tuple[Race, ...]:
    """Race the variants for each question.

    Args:
        asked: the variants with their options, for each question.
        plan: of each race.
        executor: where they run.
        progress: told about all together; its words begin with the question.
        cancelled: asked often.
        partial: gets the races as far as they are known.

    Raises:
        Cancelled: if `cancelled` said so.
        StudioError: nothing runs.
    """

    def one(variants: Sequence[Variant], told: Progress, seen: Callable[[Race], None]) -> Race:
        (outcome,) = executor.run(
            [RaceJob(tuple(variants), plan)],
            progress=told,
            cancelled=cancelled,
            observe=lambda _, race: seen(race),
        )
        return race_of(outcome)

    return in_turn(asked, one, progress=progress, partial=partial)


def in_turn(
    asked: Sequence[Sequence[Variant]],
    one: One[Found],
    *,
    progress: Progress | None = None,
    partial: Partial[Found] | None = None,
) -> tuple[Found, ...]:
    """What `one` finds for each question.

    Never at the same time: what is deployed takes all cores.

    Args:
        asked: the variants with their options, for each question.
        one: measures them for one question.
        progress: told about all together; its words begin with the question.
        partial: gets what is known so far.
    """
    found: list[Found] = []
    for variants in asked:
        question = question_of(variant.config for variant in variants)
        before = f"{question}, " if question and len(asked) > 1 else ""
        told = part_of(progress, before, len(found), of=len(asked))
        done = tuple(found)

        def seen(race: Found, done: tuple[Found, ...] = done) -> None:
            if partial is not None:
                partial((*done, race))

        found.append(one(variants, told, seen))
    return tuple(found)
