"""Which rewrite broke it: the first step whose outputs differ, or exceed a budget of error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from optimizer.errors import Cancelled, RunError
from optimizer.isolation import Isolate, Progress
from optimizer.verify import jobs
from optimizer.verify.comparison import Tolerance
from optimizer.verify.feeds import Feed
from optimizer.verify.jobs import Request
from optimizer.verify.verification import (
    DEFAULT_TOLERANCE,
    StageProgress,
    Verification,
    failed,
    verdict_of,
)


@dataclass(frozen=True, slots=True)
class Bisection:
    """Where the outputs begin to differ.

    Attributes:
        step: the first step that differs; None if the last step is still equal, or unknown.
        good: the check of the step before it, or of the last step if none differs.
        bad: the check of `step`.
        checks: verdicts in the order in which they were reached, by step.
        reason: why no answer was found, empty if there is one.
    """

    step: int | None
    good: Verification | None
    bad: Verification | None
    checks: Mapping[int, Verification]
    reason: str = ""


def bisect(
    materialize: Callable[[int], bytes],
    steps: int,
    *,
    isolate: Isolate,
    tolerance: Tolerance = DEFAULT_TOLERANCE,
    seeds: int = 3,
    progress: Progress | None = None,
) -> Bisection:
    """Binary search over the steps of a trace; the source runs once.

    Like every bisection it finds *a* step where equal turns into different; if outputs come and go
    it need not be the only one. A step that cannot be judged ends the search.

    `materialize(k)` is the model after the first k of `steps` rewrites, 0 the source. For the other
    arguments see `verify`.
    """
    stage = StageProgress(progress)
    parts = steps.bit_length() + 2  # the source, the last step, and a halving each
    stage.enter("source, ", done=0.0, share=1 / parts)
    try:
        source = materialize(0)
        reference = isolate(jobs.run_reference, source, Request(seeds), progress=stage)
    except Cancelled:
        raise
    except RunError as error:
        return Bisection(None, None, None, {}, failed(error, stage, tolerance).reason)

    def check(step: int, number: int) -> Verification:
        stage.enter(f"step {step}, ", done=min(1.0, (number + 1) / parts), share=1 / parts)
        model = materialize(step)

        def run() -> tuple[tuple[Feed, ...], jobs.Check]:
            found = isolate(jobs.check, reference, model, tolerance, progress=stage)
            return reference.feeds, found

        return verdict_of(run, stage, tolerance, seeds=len(reference.runs))

    return _search(check, steps)


def _search(check: Callable[[int, int], Verification], steps: int) -> Bisection:
    checks: dict[int, Verification] = {}
    low, high = 0, steps  # the source is equal to itself; every probe narrows (low, high]
    probe = steps
    while low < high:
        found = checks[probe] = check(probe, len(checks))
        if found.verdict == "not_run":
            reason = f"Step {probe} cannot be judged: {found.reason}"
            return Bisection(None, checks.get(low), None, checks, reason)
        if not found.failed:
            if probe == steps:
                return Bisection(None, found, None, checks)
            low = probe
        else:
            high = probe
        if high - low == 1 and high in checks:
            return Bisection(high, checks.get(low), checks[high], checks)
        probe = (low + high) // 2
    return Bisection(None, None, None, checks)
