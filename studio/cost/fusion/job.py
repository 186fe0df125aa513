"""A chain taken out of its model, optimized alone, and predicted before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from optimizer.isolation import Progress, within_worker
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.pipeline import Pipeline
from optimizer.registry import find
from optimizer.rewrite.driver import Stop, optimize
from optimizer.rewrite.graph_at import TraceFiles
from optimizer.source import complete
from profiling.kernels.extract import extract
from studio.artifacts.artifact import Artifact, File
from studio.artifacts.opened import Subject
from studio.artifacts.store import Store
from studio.cost.fusion.chain import block_at, known_sizes
from studio.cost.fusion.examples import EXAMPLES
from studio.cost.fusion.fusion import FUSION_FORM, Fusion
from studio.cost.fusion.versions import one_kernel, version_of
from studio.cost.prediction.job import Device, device_of

PRESET = "cpu"
BEFORE, AFTER, FOUND = "before.onnx", "after.onnx", "fusion.json"
Cancelled = Callable[[], bool]


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


Request = tuple[ChainRequest, Device]


def explained(
    store: Store,
    subject: Subject,
    request: Request,
    *,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> Explained:
    """A chain before and after on a device, kept on disk.

    Raises:
        StudioError: the nodes are no chain, or a size is unknown.
    """
    file = store.get(FUSION, subject, request, progress=progress, cancelled=cancelled)
    return Explained(FUSION_FORM.loads(file.read_bytes()), file.parent)


def write_fusion(files: TraceFiles, request: Request, target: Path, *, progress: Progress) -> None:
    """Write the chain alone, before and after our passes, and what is predicted of it."""
    chain, device = request
    progress("taking the chain out", 0.1)
    write(_alone(files, chain), target / BEFORE)
    progress("predicting", 0.5)
    model = complete(load_path(target / BEFORE), isolate=within_worker)
    profile = device_of(device)
    before = version_of(model.ir.graph, profile, "as it is")
    made = optimize(model, Pipeline.of(PRESET), stop=Stop())
    after = version_of(model.ir.graph, profile, "our passes")
    write(model.ir, target / AFTER)
    fired = dict.fromkeys(rewrite.pass_id for rewrite in made.rewrites)
    titles = tuple(declared.title() for name in fired if (declared := find(name)) is not None)
    ideal = None if len(after.kernels) == 1 else one_kernel(before)
    found = Fusion(chain.title, before, after, ideal, titles)
    (target / FOUND).write_bytes(FUSION_FORM.dumps(found))


def _alone(files: TraceFiles, request: ChainRequest) -> ir.Model:
    example = EXAMPLES.get(request.example)
    if example is not None:
        return example.build(example.sizes(dict(request.dims)))
    block, model = block_at(files, request.nodes, request.steps)
    return extract(block, known_sizes(model.graph), model)


FUSION: Artifact[Request, Path] = Artifact("fusion", write_fusion, File(lambda _: FOUND))
"""What fusing a chain comes to, and the chain's files beside it."""
