"""What isl, our own rules and Halide say of the same questions, counted.

`python -m tests.profiling.schedules.polyhedral_agreement 800` prints what docs/schedules.md tells.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from optimizer.limits import JobLimits
from optimizer.loops.algorithm import Algorithm
from optimizer.loops.schedule import Primitive, Schedule, ScheduleError
from optimizer.polyhedral.legality import illegal
from optimizer.schedules.examples import EXAMPLES
from optimizer.schedules.steps import checked_nest
from profiling.workers import WorkerPool, default_pool
from tests.optimizer.polyhedral.random_nests import (
    QUESTIONS,
    Question,
    random_algorithm,
    random_question,
)
from tests.profiling.schedules.halide_nests import printed

KNOWN = {
    (True, False, "another order"): "loops of a sum, one of them with a single round",
    (True, False, "combine into the same"): "rounds of a sum, of which there is one",
    (True, False, "is kept outside"): "memory of all rounds, of which none needs another's",
    (False, False, "another order"): "loops of a sum that a reorder does not name",
}
"""Differences: what isl and we call legal, a part of our reason, and what it is about."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the three say.

    Attributes:
        isl: whether it is legal.
        own: the same.
        halide: the same.
        reason: why we refuse it.
        about: the algorithm's Funcs and the primitives, for whoever has to look.
    """

    question: Question
    isl: bool
    own: bool
    halide: bool
    reason: str
    about: str

    @property
    def difference(self) -> str:
        """What they differ in; empty where they agree."""
        if self.isl == self.own == self.halide:
            return ""
        return next(
            (
                words
                for (isl, own, part), words in KNOWN.items()
                if (isl, own) == (self.isl, self.own) and part in self.reason
            ),
            "unknown",
        )


def answers(pool: WorkerPool, count: int, seed: int) -> list[Answer]:
    """To so many questions, of each kind the same number; one in four is about an example."""
    random = Random(seed)
    examples = list(EXAMPLES.values())
    found: list[Answer] = []
    for number in range(-(-count // len(QUESTIONS))):
        example = examples[number // 4 % len(examples)]
        drawn = number % 4 != 0
        algorithm = random_algorithm(random) if drawn else example.make(**example.small)
        orders = [random_question(algorithm, question, random) for question in QUESTIONS]
        found += _answers(pool, algorithm, orders)
    return found


def _answers(
    pool: WorkerPool, algorithm: Algorithm, orders: Sequence[Sequence[Primitive]]
) -> list[Answer]:
    schedules = [Schedule(tuple(order)) for order in orders]
    told = pool(printed, algorithm, schedules, limits=JobLimits(seconds=600))
    found: list[Answer] = []
    for question, order, (_, index) in zip(QUESTIONS, orders, told, strict=True):
        reason = _refusal(algorithm, order)
        about = f"{[(one.name, one.shape, one.reduction) for one in algorithm.funcs]} {order}"
        isl = _is_legal(algorithm, order)
        found.append(Answer(question, isl, not reason, index is None, reason, about))
    return found


def _is_legal(algorithm: Algorithm, order: Sequence[Primitive]) -> bool:
    try:
        return not illegal(algorithm, order)
    except ScheduleError:
        return False


def _refusal(algorithm: Algorithm, order: Sequence[Primitive]) -> str:
    try:
        checked_nest(algorithm, Schedule(tuple(order)))
    except ScheduleError as error:
        return error.reason
    return ""


def main() -> None:
    """Print how many there were of each answer."""
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    every = answers(default_pool(), count, seed)
    for question in QUESTIONS:
        own = [one for one in every if one.question == question]
        agreed = [one.isl for one in own if not one.difference]
        print(f"{question}: {len(own)}, {agreed.count(True)} legal for all, "
              f"{agreed.count(False)} for none")  # fmt: skip
        words = ("isl", "ours", "Halide")
        told = Counter(
            (
                one.difference,
                ", ".join(
                    w
                    for w, legal in zip(words, (one.isl, one.own, one.halide), strict=True)
                    if legal
                ),
            )
            for one in own
            if one.difference
        )
        for (difference, who), number in told.items():
            print(f"  {number} × {difference}: legal for {who or 'none'}")
    for one in every:
        if one.difference == "unknown":
            print(one)


if __name__ == "__main__":
    main()
