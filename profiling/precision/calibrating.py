"""Ranges, means and maxima of a model's values, as it is and with outliers moved elsewhere.

Passes that equalize channels or smooth activations make other values of the same network, so that
ranges have to be observed anew. They are tried where the kind of a region suggests it: channels of
convolutions, outliers before matrix products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.isolation import Following, Isolate, JobOptions, part_of, within_worker
from optimizer.limits import JobLimits
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.passes.precision.equalize_channels import EqualizeChannels
from optimizer.passes.precision.smooth_activations import SmoothActivations
from optimizer.pipeline import Pipeline
from optimizer.precision.observation import Observation, Wanted, observe
from optimizer.precision.ranges import Row, rows_of
from optimizer.precision.samples import Samples
from optimizer.precision.threshold import Integers, methods
from optimizer.registry import Pass
from optimizer.rewrite.driver import optimize
from optimizer.source import complete
from profiling.precision.plans import Variant
from profiling.precision.regions import Kind, Region

Channels = tuple[tuple[str, tuple[float, ...]], ...]
"""Numbers of a value's channels, by its name: what passes take as an option."""

_SUGGESTED: Mapping[Variant, frozenset[Kind]] = {
    "equalized": frozenset({"convolutions", "both"}),
    "smoothed": frozenset({"matrix products", "both"}),
}
_LIMITS = JobLimits(seconds=1800.0)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was observed of one network.

    Attributes:
        ranges: of values by the method that chose them.
        means: of the channels of what products read.
        maxima: of |x| in the same channels, before activations were smoothed; only where they are.
    """

    ranges: Mapping[str, tuple[Row, ...]]
    means: Channels = ()
    maxima: Channels = ()


Tables = Mapping[Variant, Calibration]
"""Of the network as it is, and of those balanced ones that differ from it."""


def balancing(variant: Variant, maxima: Channels) -> Pass | None:
    """The pass that moves outliers before anything is quantized; None where nothing does."""
    match variant:
        case "equalized":
            return EqualizeChannels()
        case "smoothed":
            return SmoothActivations(maxima=maxima)
        case _:
            return None


def calibrate(
    file: Path,
    regions: tuple[Region, ...],
    samples: Samples,
    isolate: Isolate,
    **following: Unpack[Following],
) -> tuple[Tables, int]:
    """What static int8 needs to know, and on how many samples it rests.

    Args:
        file: the model after the passes that every plan begins with; files are put beside it.
        regions: of it.
        samples: to observe.
        isolate: where everything runs.
        following: told of the progress.

    Raises:
        StudioError: a sample is wrong, or the model does not run on them.
    """
    kinds = {region.kind for region in regions}
    asked: list[Variant] = [variant for variant, suited in _SUGGESTED.items() if kinds & suited]
    quiet: JobOptions = {"limits": _LIMITS, "cancelled": following.get("cancelled")}
    channels, parts = isolate(channels_read, file, **quiet), 1 + len(asked)

    def observed(model: Path, found: Mapping[str, int], before: str, number: int) -> Observation:
        told = part_of(following, before, number, of=parts)
        wanted = Wanted(channels=found)
        return observe(model, samples, wanted, isolate=isolate, limits=_LIMITS, **told)

    seen = observed(file, channels, "", 0)
    tables: dict[Variant, Calibration] = {"": isolate(calibration_of, seen, (), **quiet)}
    maxima = tuple(
        (name, tuple(found.largest.tolist()))
        for name, found in seen.channels.items()
        if found.axis < 0  # of matrix products
    )
    for number, variant in enumerate(asked):
        target = file.with_stem(f"{file.stem}-{variant}")
        others = isolate(balance, file, variant, maxima, target, **quiet)
        if others is not None:
            other = observed(target, others, f"{variant}: ", 1 + number)
            divided = maxima if variant == "smoothed" else ()
            tables[variant] = isolate(calibration_of, other, divided, **quiet)
    return tables, seen.samples


def channels_read(file: Path) -> dict[str, int]:
    """The axis of the channels of what a file's products read; in a worker."""
    return channels_of(complete(load_path(file), isolate=within_worker).ir.graph)


def balance(file: Path, variant: Variant, maxima: Channels, target: Path) -> dict[str, int] | None:
    """The model with outliers moved, and the channels of it; None if none are. In a worker."""
    model = complete(load_path(file), isolate=within_worker)
    planned = balancing(variant, maxima)
    if planned is None or not optimize(model, Pipeline((planned,))).rewrites:
        return None
    write(model.ir, target, inline_bytes=0)
    return channels_of(model.ir.graph)


def channels_of(graph: ir.Graph) -> dict[str, int]:
    """The axis of the channels of what products with constant weights read, by the value's name."""
    computed: set[ir.Value | None] = {*graph.inputs}
    found: dict[str, int] = {}
    for node in graph:
        if computed.isdisjoint(node.inputs):
            continue
        computed.update(node.outputs)
        if node.domain or node.op_type not in ("Conv", "Gemm", "MatMul"):
            continue
        read, turned = node.inputs[0], node.attributes.get_int("transA", 0)
        if read is None or read not in computed or turned or constant_of(node.inputs[1]) is None:
            continue
        if read.dtype == ir.DataType.FLOAT and read.shape is not None and len(read.shape) > 1:
            found[read.name or ""] = 1 if node.op_type == "Conv" else -1
    return found


def calibration_of(seen: Observation, maxima: Channels) -> Calibration:
    """Ranges by every method; in a worker, since entropy takes seconds."""
    ranges = {method.id: rows_of(seen.ranges(method.id, Integers())) for method in methods()}
    means = tuple((name, tuple(found.means.tolist())) for name, found in seen.channels.items())
    return Calibration(ranges, means, maxima)
