"""The differential check: two models, the same inputs, the same outputs?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from optimizer.errors import Cancelled, RunError, WorkerCrashed, plain, quoted
from optimizer.isolation import Isolate, Progress
from optimizer.limits import JobLimits
from optimizer.verify import jobs
from optimizer.verify.budget import ErrorBudget
from optimizer.verify.comparison import ATOL, RTOL, Comparison, Tolerance
from optimizer.verify.feeds import Feed
from optimizer.verify.jobs import CANDIDATE, REFERENCE, Check, Request

DEFAULT_LIMITS = JobLimits()
DEFAULT_TOLERANCE = Tolerance()

Verdict = Literal["equal", "differs", "within", "exceeds", "not_run"]
"""`within` or `exceeds` a budget of error: what is lossy is measured, not called equal."""


_HEADS: Mapping[Verdict, str] = {
    "differs": "Outputs differ",
    "exceeds": "Beyond the budget of {}",
    "not_run": "Not verified",
}


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check found.

    Attributes:
        verdict: `not_run` when the first model could not be run, so that nothing is known.
        reason: one sentence; empty for `equal` and `within`.
        outputs: each output, over all runs.
        interface: differences of inputs and outputs.
        seeds: runs of each model.
        feeds: the inputs of the first run.
        tolerance: what the outputs were held to.
    """

    verdict: Verdict
    reason: str = ""
    outputs: tuple[Comparison, ...] = ()
    interface: tuple[str, ...] = ()
    seeds: int = 0
    feeds: tuple[Feed, ...] = ()
    tolerance: Tolerance = DEFAULT_TOLERANCE

    @property
    def failed(self) -> bool:
        """Whether the second model was found wanting."""
        return self.verdict in ("differs", "exceeds")

    @property
    def max_abs(self) -> float:
        """Largest absolute difference of any output."""
        return max((output.max_abs for output in self.outputs), default=0.0)

    @property
    def scaled(self) -> float:
        """Largest difference of any output relative to that output's scale."""
        return max((output.scaled for output in self.outputs), default=0.0)

    @property
    def sqnr_db(self) -> float:
        """Least signal over error of any output, over all runs."""
        return min((output.sqnr_db for output in self.outputs), default=math.inf)

    @property
    def worst_db(self) -> float:
        """The same of the worst run alone."""
        return min((output.worst_db for output in self.outputs), default=math.inf)

    @property
    def same_bits(self) -> bool:
        """Whether every output has the same bits in every run."""
        return bool(self.outputs) and all(output.same_bits for output in self.outputs)

    @property
    def informative(self) -> bool:
        """Whether some output has more than one value, so that agreement says something."""
        return any(not output.constant for output in self.outputs)

    def __str__(self) -> str:
        """What was found, in one line."""
        budget = self.tolerance.budget
        if self.verdict in _HEADS:
            return plain(f"{_HEADS[self.verdict].format(budget)}: {self.reason}")
        if budget is not None:
            error = budget.over_all(
                scaled=self.scaled, sqnr_db=self.sqnr_db, worst_db=self.worst_db
            )
            return f"Within {budget}: {error}, on {self.seeds} random inputs."
        scaled = f"within {self.scaled:.1e} of the outputs' scale"
        how = "bit for bit" if self.same_bits else scaled
        weak = "" if self.informative else "; but the outputs are constant, so that says little"
        return f"Verified on {self.seeds} random inputs: equal {how}{weak}."


def verify(
    a: bytes | Path,
    b: bytes | Path,
    *,
    isolate: Isolate,
    rtol: float = RTOL,
    atol: float = ATOL,
    exact: bool = False,
    budget: ErrorBudget | None = None,
    seeds: int = 3,
    bindings: Mapping[str, int] | None = None,
    feeds: Sequence[Feed] | None = None,
    limits: JobLimits = DEFAULT_LIMITS,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Verification:
    """Run both models on the same random inputs and compare all outputs.

    Args:
        a: the reference.
        b: what should compute the same.
        isolate: where to run them.
        rtol: allowed difference as a share of the largest magnitude in the output.
        atol: allowed difference in any case.
        exact: demand the same bits.
        budget: of error for a lossy model, in place of `rtol`.
        seeds: runs of each model; free dimensions get two sizes where both are accepted.
        bindings: sizes of free dimensions; guessed from their names where missing.
        feeds: how to fill the inputs; from their use in the graph by default.
        limits: of the whole check.
        progress: told what is running.
        cancelled: asked whether to stop.

    Raises:
        Cancelled: if `cancelled` said so.
    """
    tolerance = Tolerance(rtol, atol, exact, budget)
    request = Request(seeds, dict(bindings or {}), None if feeds is None else tuple(feeds))
    stage = StageProgress(progress)

    def run() -> tuple[tuple[Feed, ...], Check]:
        return isolate(
            jobs.verify_models, _absolute(a), _absolute(b), request, tolerance,
            limits=limits, progress=stage, cancelled=cancelled,
        )  # fmt: skip

    return verdict_of(run, stage, tolerance, seeds=seeds)


def verdict_of(
    run: Callable[[], tuple[tuple[Feed, ...], Check]],
    stage: StageProgress,
    tolerance: Tolerance,
    *,
    seeds: int,
) -> Verification:
    """What a check in a worker says: `run` gives the inputs of the first run and what was found.

    Raises:
        Cancelled: if somebody wanted to stop.
    """
    try:
        feeds, found = run()
    except Cancelled:
        raise
    except RunError as error:
        return failed(error, stage, tolerance)
    return _judged(found, feeds, seeds=seeds, tolerance=tolerance)


class StageProgress:
    """Passes progress on and remembers which model is running."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._text = REFERENCE
        self._prefix = ""
        self._done = 0.0
        self._share = 1.0

    def enter(self, prefix: str, *, done: float, share: float) -> None:
        """Progress from here on is that of one part of the work, which begins at `done`."""
        self._prefix, self._done, self._share = prefix, done, share

    def __call__(self, text: str, fraction: float) -> None:
        """Progress of the job."""
        self._text = text
        if self._progress is not None:
            self._progress(f"{self._prefix}{text}", self._done + self._share * fraction)

    @property
    def in_candidate(self) -> bool:
        """Whether the first model has got through."""
        return self._text.startswith(CANDIDATE)


def failed(error: RunError, stage: StageProgress, tolerance: Tolerance) -> Verification:
    """A crash of the second model alone is a difference; anything else leaves it open."""
    if isinstance(error, WorkerCrashed) and stage.in_candidate:
        reason = f"The {CANDIDATE} crashes where the first one runs: {error.message}"
        return Verification("differs", reason, tolerance=tolerance)
    side = CANDIDATE if stage.in_candidate else REFERENCE
    return Verification("not_run", f"The {side} was not run: {error.message}", tolerance=tolerance)


def _judged(
    found: Check, feeds: tuple[Feed, ...], *, seeds: int, tolerance: Tolerance
) -> Verification:
    """The verdict on what was found."""
    reason = ""
    wrong = [output for output in found.outputs if not output.ok]
    if found.interface:
        reason = f"Other inputs or outputs: {'; '.join(found.interface)}."
    elif found.failure:
        reason = f"The {CANDIDATE} does not run: {found.failure}"
    elif wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        reason = f"Output {quoted(wrong[0].name)}{more}: {wrong[0].reason}."
    verdict: Verdict = "differs" if reason else "equal"
    if tolerance.budget is not None and not (found.interface or found.failure):
        verdict = "exceeds" if reason else "within"
    return Verification(
        verdict,
        reason,
        outputs=found.outputs,
        interface=found.interface,
        seeds=seeds,
        feeds=feeds,
        tolerance=tolerance,
    )


def _absolute(model: bytes | Path) -> bytes | Path:
    return model.absolute() if isinstance(model, Path) else model
