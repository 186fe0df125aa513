"""Where a lossy model loses what: the error of every value that both models have, on samples.

A step of a trace keeps the names of values that survive it, so equal names are the same value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from optimizer.isolation import Isolate, JobOptions, Progress, silent
from optimizer.numbers import counted, three_digits
from optimizer.precision.intermediate import Intermediates, in_chunks, run_sample
from optimizer.precision.observation import MEMORY_BYTES
from optimizer.precision.samples import Samples, absolute
from optimizer.verify.budget import ErrorBudget, decibels
from optimizer.verify.comparison import Comparison, Tolerance, compare_output
from optimizer.verify.feeds import Array


@dataclass(frozen=True, slots=True)
class LayerErrors:
    """Errors of values against the source's.

    Attributes:
        values: each over all samples, in the order in which the source computes them.
        unmatched: values of the source that the other model does not have, or in another shape.
        budget: that values are held to; None for rounding of floats.
        samples: how many both ran on.
        generated: nobody gave the samples: errors then rank methods and say nothing about a task.
    """

    values: tuple[Comparison, ...]
    unmatched: tuple[str, ...]
    budget: ErrorBudget | None
    samples: int
    generated: bool

    @property
    def first(self) -> Comparison | None:
        """Where the error starts: the first value that is beyond the budget."""
        return next((value for value in self.values if not value.ok), None)

    def __str__(self) -> str:
        """What was found, in one line."""
        compared = f"{counted(len(self.values), 'value')} on {self._samples}"
        limit = "rounding" if self.budget is None else f"{self.budget}"
        if (first := self.first) is None:
            return f"No value is beyond {limit}, of {compared}."
        error = decibels(first.sqnr_db) if math.isfinite(first.sqnr_db) else "no ratio"
        share = f"{three_digits(100 * first.scaled)} % of the scale"
        return f"The first value beyond {limit} is '{first.name}': {error}, {share}; {compared}."

    @property
    def _samples(self) -> str:
        return counted(self.samples, "generated input" if self.generated else "sample")


def layer_errors(
    source: bytes | Path,
    other: bytes | Path,
    samples: Samples,
    *,
    isolate: Isolate,
    budget: ErrorBudget | None = None,
    matches: Mapping[str, str] | None = None,
    memory_bytes: int = MEMORY_BYTES,
    **options: Unpack[JobOptions],
) -> LayerErrors:
    """Run both models on the same samples and compare the values inside.

    Args:
        source: the reference.
        other: what was made of it.
        samples: what to run on; not those that anything was calibrated on.
        isolate: where to run them.
        budget: that values are held to.
        matches: the other model's names of values that it calls otherwise, by the source's.
        memory_bytes: of values held at a time.
        options: limits, and who follows the work.

    Raises:
        SampleError: a sample cannot be read or does not fit.
        RunError: a model does not run, or the work was cancelled.
    """
    models = (model.absolute() if isinstance(model, Path) else model for model in (source, other))
    request = _Request(absolute(samples), budget, dict(matches or {}), memory_bytes)
    return isolate(compare_values, *models, request, **options)


@dataclass(frozen=True, slots=True)
class _Request:
    samples: Samples
    budget: ErrorBudget | None
    matches: Mapping[str, str]
    memory_bytes: int


def compare_values(
    source: bytes | Path,
    other: bytes | Path,
    request: _Request,
    *,
    progress: Progress | None = None,
) -> LayerErrors:
    """The job in the worker."""
    report = progress or silent
    report("reading the models", 0.0)
    left, right = Intermediates(source), Intermediates(other)
    computed = {
        name: request.matches.get(name, name) for name in left.floats if left.computes(name)
    }
    both = {name: there for name, there in computed.items() if there in right.floats}
    report("looking at the sizes of values", 0.05)
    supply, sized = left.sized(request.samples, list(both))
    tolerance = Tolerance(budget=request.budget)
    found: dict[str, Comparison] = {}
    reshaped: set[str] = set()
    for chunk, following in in_chunks(sized, request.memory_bytes // 2, report):
        sessions = left.session(chunk), right.session([both[name] for name in chunk])
        for number, sample in enumerate(supply.names):
            following(sample, number / len(supply.names))
            expected = run_sample(sessions[0], supply, number, chunk)
            actual = run_sample(sessions[1], supply, number, [both[name] for name in chunk])
            for name in chunk:
                compared = _compared(name, expected[name], actual[both[name]], tolerance)
                if compared is None:
                    reshaped.add(name)
                else:
                    before = found.get(name)
                    found[name] = before.pooled(compared, request.budget) if before else compared
        del sessions
    values = tuple(found[name] for name in both if name in found and name not in reshaped)
    compared = {value.name for value in values}
    unmatched = tuple(name for name in computed if name not in compared)
    return LayerErrors(
        values, unmatched, request.budget, len(supply.names), request.samples.generated
    )


def _compared(name: str, expected: Array, actual: Array, tolerance: Tolerance) -> Comparison | None:
    """One value on one sample, in the source's type; None where shapes differ."""
    if expected.shape != actual.shape:
        return None
    return compare_output(name, expected, actual.astype(expected.dtype), tolerance=tolerance)
