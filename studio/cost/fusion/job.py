"""A chain taken out of its model, optimized alone, and predicted before and after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx_ir as ir

from optimizer.cost.device import DeviceProfile, device_from_json, device_json
from optimizer.isolation import Isolate, Progress, within_worker
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.pipeline import Pipeline
from optimizer.registry import find
from optimizer.rewrite.driver import Stop, optimize
from optimizer.source import complete
from profiling.kernels.extract import extract
from studio.artifacts import opened
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.cost.fusion.chain import block_at, known_sizes
from studio.cost.fusion.examples import EXAMPLES
from studio.cost.fusion.fusion import Fusion, fusion_from_json, fusion_json
from studio.cost.fusion.versions import one_kernel, version_of
from studio.cost.prediction.job import device_key
from studio.whole import made_whole

FORMAT = 2
PRESET = "runtime"
BEFORE, AFTER, FOUND = "before.onnx", "after.onnx", "fusion.json"
Cancelled = Callable[[], bool]
Subject = tuple[OpenedModel, OpenedRun]


@dataclass(frozen=True, slots=True)
class ChainRequest:
    """A chain to explain.

    Attributes:
        title: for people.
        nodes: ids in the open model; empty for an example.
        steps: whose graph may have them, the first that has is taken.
        example: id of a built-in one; empty for one of the model.
        dims: its sizes.
    """

    title: str
    nodes: tuple[str, ...] = ()
    steps: tuple[int, ...] = (0,)
    example: str = ""
    dims: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """What is known of a chain, and its files.

    Attributes:
        folder: holds the chain alone, before and after our passes.
    """

    fusion: Fusion
    folder: Path


def fusion_key(subject: Subject, request: ChainRequest, device: DeviceProfile) -> Hashable:
    """The key of the task of `explained`."""
    model, run = subject
    return ("fusion", model.key, run.key, request, device_key(device))


def explained(
    isolate: Isolate,
    subject: Subject,
    request: ChainRequest,
    device: DeviceProfile,
    *,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Explained:
    """A chain before and after, kept on disk.

    Raises:
        StudioError: the nodes are no chain, or a size is unknown.
    """
    model, run = subject
    text = json.dumps([FORMAT, asdict(request), device_key(device)], sort_keys=True)
    mark = hashlib.sha256(text.encode()).hexdigest()[:16]
    folder = run.folder / f"fusion-{mark}"
    if not folder.is_dir():
        with made_whole(folder) as target:
            isolate(
                write_fusion, model.folder, run.folder / opened.TRACE, request, device_json(device),
                target, progress=progress, cancelled=cancelled,
            )  # fmt: skip
    return Explained(fusion_from_json(json.loads((folder / FOUND).read_text())), folder)


def write_fusion(
    folder: Path, trace: Path, request: ChainRequest, device: dict[str, Any], target: Path
) -> None:
    """The worker's part of `explained`."""
    write(_alone(folder, trace, request), target / BEFORE)
    model = complete(load_path(target / BEFORE), isolate=within_worker)
    profile = device_from_json(device)
    before = version_of(model.ir.graph, profile, "as it is")
    made = optimize(model, Pipeline.of(PRESET), stop=Stop())
    after = version_of(model.ir.graph, profile, "our passes")
    write(model.ir, target / AFTER)
    fired = dict.fromkeys(rewrite.pass_id for rewrite in made.rewrites)
    titles = tuple(declared.title() for name in fired if (declared := find(name)) is not None)
    ideal = None if len(after.kernels) == 1 else one_kernel(before)
    found = Fusion(request.title, before, after, ideal, titles)
    (target / FOUND).write_text(json.dumps(fusion_json(found)))


def _alone(folder: Path, trace: Path, request: ChainRequest) -> ir.Model:
    example = EXAMPLES.get(request.example)
    if example is not None:
        return example.build(example.sizes(dict(request.dims)))
    block, model = block_at(folder, trace, request.nodes, request.steps)
    return extract(block, known_sizes(model.graph), model)
