"""Comparing models: what they compute, and how fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from optimizer.verify import Verification, budget_of, jobs
from optimizer.verify import verify as verify_files
from optimizer.verify.comparison import ATOL, RTOL
from passlens.models import Source, as_file
from passlens.notebook import race_html
from profiling.config.option import Value
from profiling.config.question import Question, config_for
from profiling.fleet.ray_cluster import executor
from profiling.racing.plan import RacePlan
from profiling.racing.questions import run_races
from profiling.racing.race import Race as Measured
from profiling.racing.race import Variant
from profiling.workers import default_pool


class Race(Measured):
    """Variants measured side by side; a notebook shows it as a picture."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return race_html(self)


def verify(
    a: Source,
    b: Source,
    *,
    rtol: float = RTOL,
    atol: float = ATOL,
    exact: bool = False,
    budget: str | None = None,
    bind: Mapping[str, int] | None = None,
) -> Verification:
    """Run two models on the same random inputs, in a worker process, and compare all outputs.

    >>> verify("tour", "tour").same_bits
    True
    >>> verify("tour", "tour", budget="25dB").verdict
    'within'

    Args:
        a: the reference.
        b: what should compute the same.
        rtol: allowed difference as a share of the largest magnitude in the output.
        atol: allowed difference in any case.
        exact: demand the same bits.
        budget: of error for a lossy model, in place of `rtol`: `5%` or `25dB`.
        bind: sizes of free dimensions; guessed from their names where missing.

    Raises:
        StudioError: a model cannot be found, or the budget is none.
    """
    allowed = None if budget is None else budget_of(budget)
    return verify_files(
        as_file(a), as_file(b), isolate=default_pool(),
        rtol=rtol, atol=atol, exact=exact, budget=allowed, bindings=bind,
    )  # fmt: skip


def race(
    variants: Mapping[str, Source] | Sequence[str],
    *,
    asked: Question = "deployed",
    options: Mapping[str, Value] | None = None,
    runs: int = 200,
    seconds: float = 20.0,
    bind: Mapping[str, int] | None = None,
) -> Race:
    """Race models against the first of them, in processes of their own and in turns.

    >>> found = race({"source": "tour", "again": "tour"}, runs=10, seconds=1)
    >>> found.baseline.label
    'source'

    Args:
        variants: models by label, or paths that are their own labels.
        asked: `deployed`, with the runtime's own rewrites on all cores, or `bare`, without them
            on one thread.
        options: run-time options that differ from these, by name (docs/options.md).
        runs: steady runs of each variant at least, if they fit into the time.
        seconds: for the steady state of all.
        bind: sizes of free dimensions.

    Raises:
        StudioError: a model cannot be found, an option does not exist, or nothing runs at all.
    """
    named = variants if isinstance(variants, Mapping) else {path: path for path in variants}
    config = config_for(asked, options or {})
    entered = [Variant(label, as_file(source), config) for label, source in named.items()]
    plan = RacePlan(runs=runs, seconds=seconds, request=jobs.Request(seeds=1, bindings=bind or {}))
    (found,) = run_races([entered], plan, executor(default_pool()))
    return Race(**{field.name: getattr(found, field.name) for field in fields(found)})
