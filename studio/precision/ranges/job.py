"""What is in a model in how many bits, its weights, and the ranges of its values on samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import onnx_ir as ir

from optimizer.codec import Format
from optimizer.constants import constant_of
from optimizer.cost.devices import CORTEX_X4
from optimizer.cost.predict import predict_graph
from optimizer.cost.sizes import Sizes
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
from studio.graphview.text import cut, dtype_name
from studio.precision.samples import ObserveRequest

DRAWN_BINS = 128
"""Of a histogram that is drawn: more than a column has room for."""

ACTIVATIONS = Integers()
_QUANTILES = 256
"""Channels' ranges that are kept of one weight."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The constants of one element type."""

    dtype: str
    numbers: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class WeightedProduct:
    """An operator with constant float32 weights.

    Attributes:
        node: its id.
        name: for people.
        reads: name of the value that is multiplied by the weights.
        axis: of the weights' channels.
    """

    node: str
    name: str
    op_type: str
    reads: str
    shape: tuple[int, ...]
    axis: int

    @property
    def numbers(self) -> int:
        """How many weights."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a model is made of, without running it.

    Attributes:
        stored: constants by element type, the largest first.
        products: the one with most weights first.
        predicted_us: of one run on a small CPU core; tells quick models from slow ones.
    """

    stored: tuple[Stored, ...]
    products: tuple[WeightedProduct, ...]
    predicted_us: float

    @property
    def size_bytes(self) -> int:
        """Of all constants."""
        return sum(one.size_bytes for one in self.stored)


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


def take_stock(files: TraceFiles, step: int, *, progress: Progress) -> Inventory:
    """What constants there are, and which of them are weights of products."""
    progress("reading the graph", 0.2)
    graph = graph_at(files, step).graph
    stored: dict[str, list[int]] = {}
    for tensor in _constants(graph):
        about = stored.setdefault(dtype_name(tensor.dtype), [0, 0])
        about[0] += tensor.size
        about[1] += tensor.nbytes
    products = [found for node in walk_nodes(graph) if (found := _product(node)) is not None]
    predicted = predict_graph(graph, Sizes.of(graph), CORTEX_X4)
    return Inventory(
        tuple(
            Stored(name, *about)
            for name, about in sorted(stored.items(), key=lambda item: -item[1][1])
        ),
        tuple(sorted(products, key=lambda product: -product.numbers)),
        predicted.total_us,
    )


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
    tensor, product = (None, None) if node is None else (weight_of(node), _product(node))
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


def _constants(graph: ir.Graph) -> Iterator[ir.TensorProtocol]:
    """Every constant that some node reads, once."""
    known: set[int] = set()
    for node in walk_nodes(graph):
        for value in node.inputs:
            tensor = constant_of(value)
            if tensor is not None and id(tensor) not in known:
                known.add(id(tensor))
                yield tensor


def _product(node: ir.Node) -> WeightedProduct | None:
    weight = weight_of(node)
    if weight is None or (data := node.inputs[0]) is None:
        return None
    axis = {"Conv": 0, "ConvTranspose": 1}.get(node.op_type, len(weight.shape) - 1)
    if node.op_type == "Gemm":
        axis = 0 if node.attributes.get_int("transB", 0) else 1
    shape = tuple(weight.shape.numpy())
    name = cut(node.name or node_id(node))
    return WeightedProduct(node_id(node), name, node.op_type, data.name or "", shape, axis)


INVENTORY: Artifact[int, Inventory] = Artifact(
    "precision-inventory",
    take_stock,
    Value(Format(Inventory, "passlens.precision-inventory/1", "inventory of a model")),
)
"""Of a step."""

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
