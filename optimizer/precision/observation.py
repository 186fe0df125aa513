"""What numbers the values of a model have, from running it on samples: a job for a worker."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from optimizer.errors import LimitError, StudioError, quoted
from optimizer.isolation import Isolate, JobOptions, Progress, silent
from optimizer.limits import MIB
from optimizer.precision.histogram import Histogram
from optimizer.precision.intermediate import Intermediates, in_chunks, run_sample
from optimizer.precision.ranges import Range
from optimizer.precision.samples import Samples, absolute
from optimizer.precision.threshold import Integers, ranges_of
from optimizer.verify.feeds import Array

MEMORY_BYTES = 128 * MIB
"""Of values held at a time. What the runtime needs for the model comes on top."""
MOST_VALUES = 20_000
"""Observed at a time: a histogram takes 34 KiB."""

Floats = NDArray[np.float64]


def _no_numbers() -> Floats:
    return np.zeros(0)


@dataclass(slots=True)
class Channels:
    """Numbers of a value by channel, as equalization and bias correction need them.

    Attributes:
        axis: of the channels.
        largest: float64[channels] of |x|.
        sums: float64[channels].
        count: of numbers in each channel.
    """

    axis: int
    largest: Floats = field(default_factory=_no_numbers)
    sums: Floats = field(default_factory=_no_numbers)
    count: int = 0

    @property
    def means(self) -> Floats:
        """float64[channels]."""
        return self.sums / max(1, self.count)

    def add(self, values: Array) -> None:
        """Count an array; what is not finite counts as zero.

        Raises:
            StudioError: it has no such axis.
        """
        if not -values.ndim <= self.axis < values.ndim:
            raise StudioError(f"A value of {values.ndim} dimensions has no axis {self.axis}.")
        turned: Floats = np.moveaxis(values.astype(np.float64), self.axis, -1)
        flat = turned.reshape(-1, turned.shape[-1])
        rows: Floats = np.where(np.isfinite(flat), flat, 0.0)
        largest: Floats = np.abs(rows).max(axis=0, initial=0.0)
        sums: Floats = rows.sum(axis=0)
        self.largest = np.maximum(self.largest, largest) if self.count else largest
        self.sums = self.sums + sums if self.count else sums
        self.count += len(rows)


@dataclass(frozen=True, slots=True)
class Observation:
    """The numbers of a model's values.

    Attributes:
        histograms: by name of the value, in the order in which they are computed.
        channels: of the values that were asked for, by name.
        samples: how many the model ran on.
        generated: nobody gave the samples: to be said wherever this is shown.
    """

    histograms: Mapping[str, Histogram]
    channels: Mapping[str, Channels]
    samples: int
    generated: bool

    def ranges(self, method_id: str, integers: Integers) -> dict[str, Range]:
        """A table of ranges, by one of the methods.

        Raises:
            StudioError: there is no such method.
        """
        return ranges_of(self.histograms, method_id, integers)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be observed.

    Attributes:
        values: names of float values; None for all of the main graph.
        channels: axis of the channels, for values that are counted by channel too.
        memory_bytes: of values held at a time.
    """

    values: Collection[str] | None = None
    channels: Mapping[str, int] = field(default_factory=dict[str, int])
    memory_bytes: int = MEMORY_BYTES


ALL = Wanted()


def observe(
    model: bytes | Path,
    samples: Samples,
    wanted: Wanted = ALL,
    *,
    isolate: Isolate,
    **options: Unpack[JobOptions],
) -> Observation:
    """Run a model on samples and count the numbers of its values.

    Raises:
        SampleError: a sample cannot be read or does not fit.
        RunError: the model does not run, or the work was cancelled.
        StudioError: a value that was asked for is none that can be observed.
    """
    model = model.absolute() if isinstance(model, Path) else model
    return isolate(observe_values, model, absolute(samples), wanted, **options)


def observe_values(
    model: bytes | Path, samples: Samples, wanted: Wanted, *, progress: Progress | None = None
) -> Observation:
    """The job in the worker."""
    report = progress or silent
    report("reading the model", 0.0)
    source = Intermediates(model)
    names = _chosen(source, wanted)
    report("looking at the sizes of values", 0.05)
    supply, sized = source.sized(samples, names)
    found = Observation(
        {name: Histogram() for name in names},
        {name: Channels(axis) for name, axis in wanted.channels.items()},
        len(supply.names),
        samples.generated,
    )
    for chunk, following in in_chunks(sized, wanted.memory_bytes, _after(0.1, report)):
        session = source.session(chunk)
        for number, name in enumerate(supply.names):
            following(name, number / len(supply.names))
            for value, array in run_sample(session, supply, number, chunk).items():
                found.histograms[value].add(array)
                if value in found.channels:
                    found.channels[value].add(array)
        del session
    return found


def _after(begin: float, progress: Progress) -> Progress:
    """Progress of what begins when part of the work is done."""
    return lambda text, fraction: progress(text, begin + (1 - begin) * fraction)


def _chosen(source: Intermediates, wanted: Wanted) -> list[str]:
    """Names of the values to observe, in the order in which they are computed."""
    floats, asked = source.floats, wanted.values
    for name in (*(asked or ()), *wanted.channels):
        if name not in floats:
            where = "computed from inputs in the main graph"
            raise StudioError(f"Value {quoted(name)} is no tensor of floats that is {where}.")
    chosen = [name for name in floats if asked is None or name in asked or name in wanted.channels]
    if len(chosen) > MOST_VALUES:
        raise LimitError(
            f"The model has {len(chosen):,} values of floats (limit {MOST_VALUES:,}); ask for some."
        )
    return chosen
