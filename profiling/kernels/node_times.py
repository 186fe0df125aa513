"""Times and sizes of a file's own nodes, from the runtime's profile.

On a GPU a node's own record is the time to launch its kernels; what the kernels took follows it in
records of category `Kernel`, in the order of the file. Source: microsoft/onnxruntime pull requests
8406 and 9567.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from optimizer.constants import constant_of
from optimizer.errors import RunError
from profiling.kernels.workload import TensorSize
from profiling.timeline.profiler_cost import ProfilerCost

_SUFFIX = "_kernel_time"
_TYPES = frozenset(
    {"bool", "double", "float", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8",
     "uint16", "uint32", "uint64"}
)  # fmt: skip
"""Element types by the runtime's names, which ONNX writes in capitals."""


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """What a profile says about single nodes.

    Attributes:
        times_us: of a node in one steady run, on average; on a GPU, of its kernels.
        details: what the runtime noted beside a node's time.
        kernels: whether the profile times a GPU's kernels; else a GPU's nodes have the time of
            their launches.
        profiler: what was taken off the times; None where nothing was.
        left_out: as in `Profile`.
    """

    times_us: Mapping[str, float]
    details: Mapping[str, Mapping[str, Any]]
    kernels: bool = False
    profiler: ProfilerCost | None = None
    left_out: tuple[str, ...] = ()


def read_times(text: str, profiler: ProfilerCost | None = None) -> NodeTimes:
    """Nodes of a profile, its first run left out.

    Args:
        text: as the runtime wrote it.
        profiler: what it cost, to be taken off.

    Raises:
        RunError: it is no profile in a form that is known here.
    """
    try:
        records: list[dict[str, Any]] = [r for r in json.loads(text) if r.get("ph") == "X"]
        ends = sorted(r["ts"] + r["dur"] for r in records if r["name"] == "model_run")
        first_end, steady_runs = ends[0], max(1, len(ends) - 1)
        spent: dict[str, list[float]] = {}
        details: dict[str, Mapping[str, Any]] = {}
        for node, record, kernels_us in _nodes(records):
            if record["ts"] < first_end and len(ends) > 1:
                continue
            spent.setdefault(node, []).append(record["dur"] if kernels_us is None else kernels_us)
            details[node] = record["args"]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise RunError("The runtime's profile is in a form that is not known here.") from error
    times_us: dict[str, float] = {}
    for node, times in spent.items():
        noted_us = _middle_mean(times)
        call_us = noted_us if profiler is None else profiler.work_us(noted_us)
        times_us[node] = call_us * len(times) / steady_runs
    on_gpu = any(record["cat"] == "Kernel" for record in records)
    return NodeTimes(times_us, details, on_gpu, profiler)


def sizes_of(model: ir.Model, times: NodeTimes) -> dict[str, TensorSize]:
    """Sizes of values by name, as the runtime saw them."""
    sizes: dict[str, TensorSize] = {}
    for node in model.graph:
        about = times.details.get(node.name or "", {})
        for key, values in (
            ("input_type_shape", [value for value in node.inputs if value is not None]),
            ("output_type_shape", [value for value in node.outputs if value.name]),
        ):
            told = about.get(key, [])
            if len(told) < len(values):  # weights that were repacked are not told
                values = [value for value in values if constant_of(value) is None]
            if len(told) == len(values):
                found = zip(values, map(_size, told), strict=True)
                sizes.update({v.name or "": size for v, size in found if size is not None})
    return sizes


def _nodes(
    records: list[dict[str, Any]],
) -> Iterator[tuple[str, dict[str, Any], float | None]]:
    """Each node's record, with the time of its kernels where any kernel of the profile is known."""
    on_gpu = any(record["cat"] == "Kernel" for record in records)
    followed: list[tuple[dict[str, Any], list[float]]] = []
    for record in records:
        if record["cat"] == "Node" and record["name"].endswith(_SUFFIX):
            followed.append((record, []))
        elif record["cat"] == "Kernel" and followed:
            followed[-1][1].append(record["dur"])
    for node, kernels in followed:
        yield node["name"].removesuffix(_SUFFIX), node, sum(kernels) if on_gpu else None


def _middle_mean(times: list[float]) -> float:
    """Mean of the middle half: no hiccup counts, and whole microseconds are averaged."""
    quarter = len(times) // 4
    middle = sorted(times)[quarter : len(times) - quarter]
    return sum(middle) / len(middle)


def _size(told: Mapping[str, list[int]]) -> TensorSize | None:
    for dtype, shape in told.items():
        if dtype in _TYPES:
            return TensorSize(dtype.upper(), tuple(shape))
    return None
