"""Tuning results: the kernel choices that a session made by itself, to take elsewhere.

CUDA's tunable operators try implementations of matrix products at run time and remember the best.
The runtime gives them out as plain data, takes them back before the first run, and finds them in a
model's metadata under `tuning_results`. The CPU provider keeps none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optimizer.errors import StudioError
from optimizer.isolation import Isolate
from optimizer.limits import JobLimits
from optimizer.verify import jobs
from optimizer.verify.runtime import as_file
from profiling.config import RunConfig
from profiling.execution.session import open_session, refusal
from profiling.racing.race import Variant

RUNS = 3
_LIMITS = JobLimits(seconds=600.0)


@dataclass(frozen=True, slots=True)
class TuningResults:
    """What a session remembers.

    Attributes:
        text: JSON, a list with an entry a provider, as the runtime takes it back.
        choices: kernel choices in it.
        remark: why there are none; empty if there are.
    """

    text: str
    choices: int
    remark: str = ""


def export_tuning(
    variant: Variant,
    *,
    isolate: Isolate,
    cancelled: Callable[[], bool] | None = None,
) -> TuningResults:
    """Run the variant a few times and ask what it tuned. For CUDA use `WorkerPool.run_fresh`.

    Raises:
        RunError: the model does not run so.
    """
    text = isolate(tuned, variant.located, variant.config, limits=_LIMITS, cancelled=cancelled)
    return read_tuning(text, device=variant.config.device)


def read_tuning(text: str, *, device: str = "") -> TuningResults:
    """What the JSON holds.

    Raises:
        StudioError: it is no such JSON.
    """
    try:
        entries: list[dict[str, Any]] = json.loads(text)
        choices = sum(len(kernels) for entry in entries for kernels in entry["results"].values())
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StudioError("This is no list of tuning results as the runtime writes it.") from error
    if choices:
        return TuningResults(text, choices)
    remark = (
        "The CPU provider tunes nothing at run time, so there are no tuning results."
        if device == "cpu"
        else "The session tuned nothing; tuning results need tune_kernels on a GPU."
    )
    return TuningResults(text, 0, remark)


def tuned(model: bytes | Path, config: RunConfig) -> str:
    """The worker's part of `export_tuning`."""
    path = as_file(model)
    inputs = dict(jobs.run_reference(path, jobs.Request(seeds=1)).runs[0].inputs)
    session: Any = open_session(path, config)
    for _ in range(RUNS):
        try:
            session.run(None, inputs)
        except Exception as error:  # the runtime has a dozen classes for this
            raise refusal(error, device=config.device) from error
    return json.dumps(session.get_tuning_results(), sort_keys=True)
