"""What every section of the Run page gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from studio.artifacts.opened import OpenedModel, OpenedRun, Subject
from studio.variants.contradictions import Problem
from studio.variants.entrant import Entrant
from studio.variants.problem import show_problem


@dataclass(frozen=True, slots=True)
class Chosen:
    """Variants, and what is asked of them.

    Attributes:
        asked: the variants for each question, deployed first; in each the baseline first.
        left_out: why a question is not asked although it was wanted; else empty.
    """

    asked: tuple[tuple[Entrant, ...], ...]
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """What was chosen in the sidebar.

    Attributes:
        chosen: the variants.
        seconds: of steady running for all of them together.
        problem: why what is chosen now cannot be run; the variants are those of before.
    """

    model: OpenedModel
    run: OpenedRun
    chosen: Chosen
    seconds: float
    problem: Problem | None = None

    @property
    def subject(self) -> Subject:
        """What is measured: the open model and its run."""
        return self.model, self.run

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """Variants of a section that asks one question: bare where that is asked."""
        return self.chosen.asked[-1]

    @property
    def held(self) -> Callable[[], None] | None:
        """Draws why nothing can be started; None where it can."""
        return None if self.problem is None else partial(show_problem, self.problem)
