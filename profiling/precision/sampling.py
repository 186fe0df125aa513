"""Optuna's part of the search: it asks for plans, and is told what they lose and take."""

from __future__ import annotations

import math
from collections.abc import Collection
from importlib import import_module
from typing import Any, cast

from profiling.precision.plans import Choice, PrecisionPlan
from profiling.precision.trials import Trials

_MOST_REPEATED = 60
"""Plans in a row that were known already: the search has settled."""

_WORTH_A_RACE = 0.98
_LARGEST_EXCESS = 1e6


def sample(trials: Trials, useful: Collection[Choice], *, seed: int = 0) -> None:
    """Try plans of the useful choices until they repeat themselves.

    Nothing is kept by Optuna: what was tried so far is told to it first.

    Raises:
        Over: no time is left, or there were trials enough.
    """
    optuna: Any = import_module("optuna")  # a search is rare, and this takes a while
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True)
    study = optuna.create_study(sampler=sampler)
    regions = range(len(trials.question.regions))
    wanted = {*useful, "float32"}
    allowed = [[c for c in trials.question.choices(region) if c in wanted] for region in regions]
    for plan in list(trials.found):
        if all(choice in allowed[region] for region, choice in enumerate(plan.choices)):
            study.enqueue_trial({str(r): choice for r, choice in enumerate(plan.choices)})
    asked: set[PrecisionPlan] = set()
    repeated = 0
    while repeated < _MOST_REPEATED and len(asked) < math.prod(map(len, allowed)):
        trial = study.ask()
        picked = [trial.suggest_categorical(str(r), allowed[r]) for r in regions]
        plan = trials.plan(cast("list[Choice]", picked))
        repeated = repeated + 1 if plan in asked else 0
        asked.add(plan)
        excess = trials.excess(plan)
        if excess <= 0:
            _race_if_promising(trials, plan)
        trial.set_constraint("budget", min(excess, _LARGEST_EXCESS))
        study.tell(trial, trials.cost(plan))


def _race_if_promising(trials: Trials, plan: PrecisionPlan) -> None:
    bound = 1.0 if trials.best is None else trials.cost(trials.best)
    if trials.question.goal == "speed" and trials.cost(plan) < _WORTH_A_RACE * bound:
        trials.race([plan])
