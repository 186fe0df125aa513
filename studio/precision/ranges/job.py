"""The weights of a product, and the ranges of a model's values on samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx_ir as ir

from optimizer.codec import Format
from optimizer.errors import StudioError
from optimizer.isolation import Progress
from optimizer.model.graph import node_id, walk_nodes
from optimizer.model.writer import write
from optimizer.precision.histogram import BINS, Histogram
from optimizer.precision.losses import Loss, channel_losses, loss_of
from optimizer.precision.observation import ALL, observe_values
from optimizer.precision.ranges import Range
from optimizer.precision.threshold import Integers, methods
from optimizer.rewrite.graph_at import TraceFiles, graph_at
from profiling.precision.regions import weight_of
from studio.artifacts.artifact import Artifact, Value
from studio.graphview.text import cut
from studio.precision.ranges.inventory import product_of
from studio.precision.samples import ObserveRequest

DRAWN_BINS = 128
"""Of a histogram that is drawn: more than a column has room for."""

ACTIVATIONS = Integers()
_QUANTILES = 256
"""Channels' ranges that are kept of one weight."""


@dataclass(frozen=True, slots=True)
class Bins:
    """A histogram as it is drawn: bins of one width, from `low` up."""

    low: float
    width: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WeightDistribution:
    """The weights of one product.

    Attributes:
        bins: of all of them.
        magnitudes: the largest |w| of a channel, in rising order; of many channels some.
        channels: how many there are.
        per_channel: what int8 loses with a scale for each channel.
        per_tensor: with one scale.
    """

    bins: Bins
    magnitudes: tuple[float, ...]
    channels: int
    per_channel: Loss
    per_tensor: Loss


@dataclass(frozen=True, slots=True)
class Fit:
    """The range that one method chooses, and what it costs in 8 bits."""

    method: str
    kept: Range
    loss: Loss


@dataclass(frozen=True, slots=True)
class Observed:
    """One value on all samples.

    Attributes:
        name: of the value.
        op_type: of what makes it; empty for an input.
        node: id of what makes it; empty for an input.
        bins: finite numbers.
        seen: smallest and largest.
        numbers: how many, finite or not.
        strange: how many are infinite or none at all.
        fits: by method, in the order in which methods are listed.
    """

    name: str
    op_type: str
    node: str
    bins: Bins
    seen: Range
    numbers: int
    strange: int
    fits: tuple[Fit, ...]

    def fit(self, method: str) -> Fit:
        """What a method chose; the first one's where there is no such method."""
        return next((fit for fit in self.fits if fit.method == method), self.fits[0])


@dataclass(frozen=True, slots=True)
class Observations:
    """The float values of a model that have a finite number, in the order they are computed."""

    values: tuple[Observed, ...]
    samples: int
    generated: bool

    def rows(self, method: str) -> tuple[tuple[str, float, float], ...]:
        """The table of ranges that passes take as an option."""
        fits = ((value.name, value.fit(method).kept) for value in self.values)
        return tuple((name, kept.low, kept.high) for name, kept in fits)


def look_at_weights(
    files: TraceFiles, request: tuple[int, str], *, progress: Progress
) -> WeightDistribution:
    """The weights of the product with that id, at a step.

    Raises:
        StudioError: there is no such product.
    """
    progress("reading the weights", 0.2)
    step, identity = request
    nodes = {node_id(node): node for node in walk_nodes(graph_at(files, step).graph)}
    node = nodes.get(identity)
    tensor, product = (None, None) if node is None else (weight_of(node), product_of(node))
    if tensor is None or product is None:
        raise StudioError("This product has no constant float32 weights at this step.")
    weights = tensor.numpy()
    histogram = Histogram()
    histogram.add(weights)
    losses = channel_losses(weights, product.axis)
    rising = np.sort(losses.magnitudes)
    few = rising[np.linspace(0, len(rising) - 1, min(len(rising), _QUANTILES)).round().astype(int)]
    return WeightDistribution(
        bins_of(histogram), tuple(few.tolist()), len(rising), losses.per_channel, losses.per_tensor
    )


def observe_ranges(
    files: TraceFiles, request: ObserveRequest, *, progress: Progress
) -> Observations:
    """Run a step's model on samples, and choose ranges by every method.

    Raises:
        SampleError: a sample does not fit.
        RunError: the model does not run.
    """
    progress("writing the model", 0.0)
    model = graph_at(files, request.step)
    made_by = {value.name: node for node in model.graph for value in node.outputs if value.name}
    write(model, Path("observed.onnx"), inline_bytes=0)
    seen = observe_values(
        Path("observed.onnx"),
        request.samples,
        ALL,
        progress=lambda text, fraction: progress(text, 0.05 + 0.85 * fraction),
    )
    values: list[Observed] = []
    for number, (name, histogram) in enumerate(seen.histograms.items()):
        progress("choosing ranges", 0.9 + 0.1 * number / len(seen.histograms))
        if histogram.range is not None:
            values.append(_observed(name, histogram, histogram.range, made_by))
    return Observations(tuple(values), seen.samples, seen.generated)


def bins_of(histogram: Histogram) -> Bins:
    """At most `DRAWN_BINS` bins around what there is; neighbours are put together exactly."""
    first = BINS + int(np.floor(histogram.low / histogram.width))
    last = BINS + int(np.floor(histogram.high / histogram.width))
    first, last = max(0, first), min(2 * BINS - 1, last)
    together = -(-(last - first + 1) // DRAWN_BINS)
    counts = histogram.signed[first : last + 1]
    padded = np.pad(counts, (0, -len(counts) % together)).reshape(-1, together).sum(axis=1)
    low = (first - BINS) * histogram.width
    return Bins(low, together * histogram.width, tuple(padded.tolist()))


def _observed(
    name: str, histogram: Histogram, seen: Range, made_by: Mapping[str, ir.Node]
) -> Observed:
    node = made_by.get(name)
    fits: list[Fit] = []
    for method in methods():
        kept = method.function(histogram, ACTIVATIONS)
        fits.append(Fit(method.id, kept, loss_of(histogram, kept, ACTIVATIONS)))
    return Observed(
        name,
        "" if node is None else cut(node.op_type, 60),
        "" if node is None else node_id(node),
        bins_of(histogram),
        seen,
        histogram.seen,
        histogram.nans + histogram.infinities,
        tuple(fits),
    )


WEIGHTS: Artifact[tuple[int, str], WeightDistribution] = Artifact(
    "precision-weights",
    look_at_weights,
    Value(Format(WeightDistribution, "passlens.precision-weights/1", "look at weights")),
)
"""Of a step and a node."""

RANGES: Artifact[ObserveRequest, Observations] = Artifact(
    "precision-ranges",
    observe_ranges,
    Value(Format(Observations, "passlens.precision-ranges/1", "calibration")),
)
"""Of a step on samples."""
