"""Runs on the samples that are held out: what outputs should be, and what a plan makes of them.

The jobs run in workers. A plan is run as it is deployed, with all of the runtime's own rewrites:
integers that saturate do so there, and in no emulation. With numbers of 16 bits it has to run, too,
but a CPU leaves out their rounding and their overflows: errors are then those of the emulation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from optimizer.errors import RunError
from optimizer.isolation import within_worker
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.precision.emulation import emulated, has_16_bits
from optimizer.precision.intermediate import run_sample
from optimizer.precision.samples import Samples, supply_of
from optimizer.source import complete
from optimizer.verify import Comparison, Tolerance
from optimizer.verify.comparison import compare, pooled
from optimizer.verify.feeds import Array
from optimizer.verify.jobs import random_outputs, structure_of
from optimizer.verify.runtime import Session
from profiling.config import RunConfig
from profiling.execution.session import open_session, refusal
from profiling.precision.metric import Metric, joined, labels_of, measured

ANY = Tolerance(rtol=math.inf)
"""Errors are measured here and judged elsewhere; infinities and other whole numbers are wrong."""


@dataclass(frozen=True, slots=True)
class Held:
    """Samples that nothing was calibrated on, with what the model as it came gives for them.

    Attributes:
        folder: of a file a sample.
        inputs: their names.
        outputs: their names.
        random: outputs that are drawn at random.
        count: of samples.
        first: number of the first one among the user's, for labels.
        sizes: of free dimensions, as the first sample has them.
    """

    folder: Path
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    random: frozenset[str]
    count: int
    first: int
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RunMeasurement:
    """What a plan's model gives.

    Attributes:
        outputs: each over all samples.
        metric: what the user's function gives.
        run_s: of the fastest run.
        failure: why it does not run; else empty.
    """

    outputs: tuple[Comparison, ...] = ()
    metric: float | None = None
    run_s: float = 0.0
    failure: str = ""


def hold_out(source: Path, samples: Samples, folder: Path) -> Held:
    """Run the model as it came, and keep what it reads and gives.

    Raises:
        SampleError: a sample cannot be read or does not fit.
        NotRunnable: the model does not run on them.
    """
    session, structure = Session(source), structure_of(source)
    supply = supply_of(samples, session, structure)
    inputs = tuple(item.name for item in session.interface.inputs)
    outputs = tuple(item.name for item in session.interface.outputs)
    sizes: dict[str, int] = {}
    for number in range(len(supply.names)):
        read, given = supply.read(number), run_sample(session, supply, number)
        for item in session.interface.inputs:
            for dim, size in zip(item.shape, read[item.name].shape, strict=True):
                if isinstance(dim, str):
                    sizes.setdefault(dim, size)
        _keep(folder / f"{number}.npz", [*(read[n] for n in inputs), *(given[n] for n in outputs)])
    return Held(
        folder, inputs, outputs, random_outputs(structure), len(supply.names), samples.skip, sizes
    )


def run_held(model: Path, config: RunConfig, held: Held, metric: Metric | None) -> RunMeasurement:
    """Run a plan's model on what is held out, and compare; what does not run says why.

    Errors of numbers of 16 bits are those of a device that has them.

    Raises:
        StudioError: the user's own metric fails.
    """
    found = _run_all(model, config, held, metric)
    rounded = None if found.failure else _rounded(model)
    if rounded is None:
        return found
    return replace(_run_all(rounded, config, held, metric), run_s=found.run_s)


def _rounded(model: Path) -> Path | None:
    """A file that rounds as a device with 16 bits does; None for one without such numbers."""
    read = load_path(model)
    if not has_16_bits(read.ir):
        return None
    target = Path(f"{model.stem}-rounded.onnx").absolute()
    write(emulated(complete(read, isolate=within_worker).ir), target, inline_bytes=0)
    return target


def _run_all(model: Path, config: RunConfig, held: Held, metric: Metric | None) -> RunMeasurement:
    outputs: tuple[Comparison, ...] = ()
    given: list[dict[str, Array]] = []
    expected: list[dict[str, Array]] = []
    taken_s: list[float] = []
    try:
        session = open_session(model, config)
        for number in range(held.count):
            inputs, right = _kept(held, number)
            began = time.perf_counter()
            found = _run(session, held, inputs, config)
            taken_s.append(time.perf_counter() - began)
            compared = compare(right, found, tolerance=ANY, random=held.random)
            outputs = pooled(outputs, compared)
            if metric is not None:
                given.append(found)
                expected.append(right)
    except RunError as error:
        return RunMeasurement(failure=error.message)
    return RunMeasurement(outputs, _metric(metric, held, given, expected), min(taken_s))


def _run(
    session: Any, held: Held, inputs: Mapping[str, Array], config: RunConfig
) -> dict[str, Array]:
    known = {item.name for item in session.get_inputs()}
    feeds = {name: array for name, array in inputs.items() if name in known}
    try:
        return dict(zip(held.outputs, session.run(list(held.outputs), feeds), strict=True))
    except Exception as error:  # the runtime has a dozen classes for this
        raise refusal(error, device=config.device) from error


def _metric(
    metric: Metric | None,
    held: Held,
    given: list[dict[str, Array]],
    expected: list[dict[str, Array]],
) -> float | None:
    if metric is None:
        return None
    labels = labels_of(metric, held.first, held.count)
    return measured(metric, joined(given), joined(expected) if labels is None else labels)


def _keep(file: Path, arrays: list[Array]) -> None:
    plain = [array.astype(np.str_) if array.dtype == np.object_ else array for array in arrays]
    np.savez(file, *plain)


def _kept(held: Held, number: int) -> tuple[dict[str, Array], dict[str, Array]]:
    """Inputs and outputs of one sample."""
    with np.load(held.folder / f"{number}.npz", allow_pickle=False) as archive:
        arrays = [archive[f"arr_{index}"] for index in range(len(archive.files))]
    arrays = [array.astype(np.object_) if array.dtype.kind == "U" else array for array in arrays]
    return (
        dict(zip(held.inputs, arrays, strict=False)),
        dict(zip(held.outputs, arrays[len(held.inputs) :], strict=True)),
    )
