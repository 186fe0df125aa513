"""The keep-list: which nodes stay float32 beside 16 bits, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optimizer.codec import Format
from optimizer.isolation import Progress, within_worker
from optimizer.limits import JobLimits
from optimizer.model.graph import node_id
from optimizer.model.loader import load_path
from optimizer.model.writer import write
from optimizer.rewrite.graph_at import TraceFiles, own_graph_at
from optimizer.source import complete
from profiling.precision.keep_list import Kept
from profiling.precision.keep_list_search import find_keep_list
from studio.artifacts.artifact import Artifact, Value
from studio.graphview.text import cut
from studio.precision.samples import ObserveRequest


@dataclass(frozen=True, slots=True)
class KeepListFound:
    """What was found.

    Attributes:
        nodes: that stay float32.
        told: in one line how many, and what the outputs lose.
    """

    nodes: tuple[Kept, ...]
    told: str

    @property
    def keep(self) -> tuple[str, ...]:
        """The pass's option. A later round may derive other nodes from the same: all are kept."""
        return tuple(dict.fromkeys(node.id.partition("~")[0] for node in self.nodes))


def find_kept(files: TraceFiles, request: ObserveRequest, *, progress: Progress) -> KeepListFound:
    """Look for the nodes of a step, in this worker.

    Raises:
        SampleError: a sample does not fit.
        RunError: the model does not run.
    """
    progress("writing the model", 0.0)
    graph, file = own_graph_at(files, request.step).ir, Path("float.onnx")
    write(graph, file)
    model = complete(load_path(file), isolate=within_worker)  # the search has steps of its own
    ids = {node_id(new): node_id(old) for new, old in zip(model.ir.graph, graph.graph, strict=True)}
    found = find_keep_list(model, isolate=within_worker, samples=request.samples, progress=progress)
    nodes = (
        replace(one, id=ids[one.id], name=cut(one.name or one.id, 200), reason=cut(one.reason, 300))
        for one in found.nodes
    )
    return KeepListFound(tuple(nodes), str(found))


KEPT: Artifact[ObserveRequest, KeepListFound] = Artifact(
    "precision-kept",
    find_kept,
    Value(Format(KeepListFound, "passlens.precision-kept/1", "keep-list")),
    limits=JobLimits(seconds=900.0),
)
"""Of a step of the float model, on samples."""


def kept_table(found: KeepListFound) -> dict[str, list[Any]]:
    """A row a node."""
    return {
        "node": [one.name for one in found.nodes],
        "operator": [one.operator for one in found.nodes],
        "why it stays float32": [one.reason for one in found.nodes],
    }
