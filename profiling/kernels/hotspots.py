"""Where a model's time goes, by workload: equal work counts together, wherever it stands."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import onnx_ir as ir

from optimizer.codec import renamed
from optimizer.constants import constant_of
from optimizer.cost.node import VIEWS, node_cost
from optimizer.cost.sizes import Sizes
from optimizer.errors import RunError, StudioError
from optimizer.isolation import Isolate, Progress, silent, within_worker
from optimizer.limits import JobLimits
from optimizer.model.loader import load_path
from optimizer.model.writer import INLINE_BYTES, to_bytes, weight_bytes, write
from optimizer.passes.kernels.block import Block, blocks_of
from optimizer.source import complete
from optimizer.verify import jobs
from optimizer.verify.runtime import as_file
from profiling.config import RunConfig
from profiling.config.settings import from_values
from profiling.kernels.extract import NotExtractable, extract
from profiling.kernels.node_times import NodeTimes, read_times, sizes_of
from profiling.kernels.workload import TensorSize, Workload, describe, size_of
from profiling.racing.race import Variant
from profiling.timeline.profiler_cost import ProfilerCost
from profiling.timeline.recorder import Recorder

Source = Literal["runtime profile", "static cost"]

RUNS = 9
_LEAST_RUNS = 3
_PROFILE_S = 5.0
TOP = 6
_REWRITING = frozenset(
    {"graph_optimization", "optimizers_off", "optimizer_loops", "folding_limit_mib",
     "gelu_approximation", "cast_chain_elimination", "qdq_fusion", "qdq_folding",
     "qdq_pair_removal", "qdq_cleanup", "nbits_fusion", "nbits_accuracy", "cuda_graph"}
)  # fmt: skip
"""Options that are about the runtime's rewrites, which are off here, or hide single kernels."""

_SMALLEST = 256
"""Results of fewer elements are ready before a kernel could matter."""

_LIMITS = JobLimits(seconds=300.0)
_FLOPS_PER_US = 50_000.0
_BYTES_PER_US = 10_000.0
"""A core of a server today: 50 GFLOP/s, 10 GB/s. Only the order matters, not the scale."""


@dataclass(frozen=True, slots=True)
class Hotspot:
    """One workload of a model.

    Attributes:
        nodes: names of the nodes of each place where it occurs.
        time_us: of all places together in one steady run; an estimate for `static cost`.
        share: of the time of all operators.
        model: the workload alone as an ONNX file; empty below the top, or where `reason` says why.
        reason: why it was not extracted.
    """

    workload: Workload
    nodes: tuple[tuple[str, ...], ...]
    time_us: float
    share: float
    model: bytes = b""
    reason: str = ""


renamed(Hotspot, model=None)


@dataclass(frozen=True, slots=True)
class Hotspots:
    """A model's workloads, the heaviest first.

    Attributes:
        source: `runtime profile`, or `static cost` where the model could not be run.
        total_us: of all operators in one steady run.
        remark: why there is no profile; empty if there is one.
        profiler: what its profiler cost, taken off all times; None where nothing was.
        left_out: why generated kernels are not in their library, a sentence for each; their
            operators ran.
    """

    source: Source
    total_us: float
    operators: tuple[Hotspot, ...]
    remark: str = ""
    profiler: ProfilerCost | None = None
    left_out: tuple[str, ...] = ()


def find_hotspots(
    variant: Variant,
    *,
    isolate: Isolate,
    top: int = TOP,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Hotspots:
    """Profile the variant, its file as it stands, and extract its heaviest workloads.

    The runtime's own rewrites are off here: every operator of the file is seen as itself.

    Raises:
        StudioError: the file cannot be read.
    """
    return isolate(
        hotspots_of, variant.located, variant.config, top,
        limits=_LIMITS, progress=progress, cancelled=cancelled,
    )  # fmt: skip


def hotspots_of(
    model: bytes | Path,
    config: RunConfig,
    top: int,
    *,
    progress: Progress = silent,
) -> Hotspots:
    """The worker's part of `find_hotspots`."""
    opened = load_path(as_file(model))
    loaded = opened.ir
    named = Path("named.onnx").absolute()
    write(loaded, named)
    remark, blocks, left_out = "", blocks_of(loaded.graph), ()
    try:
        progress("profiling the file as it stands", 0.2)
        profiled = _profiled(named, config)
        times, sizes, cost = profiled.times_us, sizes_of(loaded, profiled), profiled.profiler
        left_out, source = profiled.left_out, "runtime profile"
    except RunError as error:
        remark, source, cost = error.message, "static cost", None
        # For want of a real run, sizes are what shape inference finds.
        loaded = complete(opened, isolate=within_worker).ir
        blocks = blocks_of(loaded.graph)
        times, sizes = _estimates(blocks), {}
    progress("extracting the heaviest operators", 0.8)
    found = _grouped(blocks, times, sizes, loaded)
    heaviest = [block for _, block in found if is_worth_a_race(block, sizes)][:top]
    operators = tuple(
        _with_model(operator, block, sizes, loaded) if block in heaviest else operator
        for operator, block in found
    )
    return Hotspots(source, sum(times.values()), operators, remark, cost, left_out)


def is_worth_a_race(block: Block, sizes: Mapping[str, TensorSize]) -> bool:
    """Whether kernels differ here: not where only sizes are computed, or a few numbers."""
    size = size_of(block.output, sizes)
    if size is None or all(constant_of(value) is not None for value in block.inputs):
        return False
    views = not block.nodes[0].domain and block.kind in VIEWS
    return not views and "FLOAT" in size.dtype and math.prod(size.shape) >= _SMALLEST


def _profiled(path: Path, config: RunConfig) -> NodeTimes:
    """What the runtime says about each node; the first run left out."""
    kept = from_values({n: v for n, v in config.changed().items() if n not in _REWRITING})
    request = jobs.Request(seeds=1)
    recorder = Recorder(path, kept, request, folder=Path.cwd(), bare=True)
    began = time.monotonic()
    for number in range(RUNS):
        if number >= _LEAST_RUNS and time.monotonic() - began > _PROFILE_S:
            break
        recorder.run()
    text, _, cost = recorder.end()
    found = read_times(text, cost)
    if config.device != "cpu" and not found.kernels:
        raise RunError(
            "This build of the runtime times launches only on a GPU, not kernels; "
            "operators are ranked by their arithmetic and traffic."
        )
    return replace(found, left_out=recorder.left_out)


def _estimates(blocks: list[Block]) -> dict[str, float]:
    """Microseconds from arithmetic and traffic, where nothing could be run."""
    sizes = Sizes()
    costs = {node.name or "": node_cost(node, sizes) for block in blocks for node in block.nodes}
    return {
        name: max(cost.flops / _FLOPS_PER_US, cost.bytes_moved / _BYTES_PER_US)
        for name, cost in costs.items()
        if cost is not None
    }


def _grouped(
    blocks: list[Block],
    times: Mapping[str, float],
    sizes: Mapping[str, TensorSize],
    model: ir.Model,
) -> list[tuple[Hotspot, Block]]:
    """Blocks of equal work together, the heaviest first, each with its first block."""
    total_us = sum(times.values()) or 1.0
    places: dict[str, tuple[Workload, list[Block]]] = {}
    for block in blocks:
        work = describe(block, sizes, model.opset_imports)
        if work is not None:
            places.setdefault(work.key, (work, []))[1].append(block)
    found: list[tuple[Hotspot, Block]] = []
    for work, same in places.values():
        nodes = tuple(tuple(node.name or "" for node in block.nodes) for block in same)
        time_us = sum(times.get(name, 0.0) for names in nodes for name in names)
        if any(name in times for names in nodes for name in names):
            found.append((Hotspot(work, nodes, time_us, time_us / total_us), same[0]))
    return sorted(found, key=lambda item: -item[0].time_us)


def _with_model(
    operator: Hotspot, block: Block, sizes: Mapping[str, TensorSize], model: ir.Model
) -> Hotspot:
    try:
        alone = extract(block, sizes, model)
    except NotExtractable as error:
        return replace(operator, reason=error.message)
    if weight_bytes(alone) > INLINE_BYTES:
        return replace(operator, reason="Its weights are too large for a file of its own.")
    try:
        return replace(operator, model=to_bytes(alone))
    except StudioError as error:
        return replace(operator, reason=error.message)
