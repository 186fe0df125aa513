"""Predictions of an open run, made by a worker: every step's total, and every node of one step."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from optimizer.codec import Format
from optimizer.cost.device import DEVICE_FORM, DeviceProfile
from optimizer.cost.predict import NodePrediction, predict_graph
from optimizer.cost.sizes import Sizes
from optimizer.isolation import Progress
from optimizer.model.graph import node_id, walk_nodes
from optimizer.rewrite.graph_at import TraceFiles, graph_at, trace_cursor
from studio.artifacts.artifact import Artifact, Value
from studio.cost.prediction.steps import PricedSteps
from studio.graphview.text import TIMES, brief, cut


@dataclass(frozen=True, slots=True)
class PredictedSteps:
    """A whole trace on one device.

    Attributes:
        before_ns: of the source.
        after_ns: of the last step; where launches depend on how cold the caches are, not quite
            what all changes lead to.
        changes_ns: what each step added, step 1 first; negative where it saved.
        unknown: nodes without a prediction, before and after.
    """

    before_ns: int
    after_ns: int
    changes_ns: tuple[int, ...]
    unknown: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class PredictedGraph:
    """One step on one device.

    Attributes:
        step: of the trace.
        nodes: with a prediction, in list order.
        details: of each, what tells it from others of its operator: `3×3 /2 → 1×64×56×56`.
        unknown: how many others there are.
        assumed: the sizes taken for free dimensions.
    """

    step: int
    nodes: tuple[NodePrediction, ...]
    details: tuple[str, ...]
    unknown: int = 0
    assumed: tuple[tuple[str, int], ...] = ()

    @property
    def total_us(self) -> float:
        """All nodes, one after the other."""
        return sum(node.parts.total_us for node in self.nodes)


STEPS_FORM = Format(PredictedSteps, "passlens.predicted-steps/3", "prediction of a trace")
GRAPH_FORM = Format(PredictedGraph, "passlens.predicted-nodes/2", "prediction of a step")

_MOST_BRIEF = 40
_REPORT_EVERY = 50
Device = str
"""A device as `device_text` writes it, so that requests can be compared and sent."""


def device_text(device: DeviceProfile) -> Device:
    """Equal profiles give equal texts: a device calibrated anew gives another one."""
    return DEVICE_FORM.dumps(device).decode()


def device_of(text: Device) -> DeviceProfile:
    """The profile that `device_text` wrote."""
    return DEVICE_FORM.loads(text.encode())


def detail_of(node: ir.Node, sizes: Sizes) -> str:
    """What the viewer writes beside an operator, and the size of what it makes."""
    made = f"→ {shape_of(node.outputs[0], sizes)}" if node.outputs else ""
    return " ".join(filter(None, (cut(brief(node), _MOST_BRIEF), made)))


def shape_of(value: ir.Value, sizes: Sizes) -> str:
    """Its sizes: `1×64×56×56`."""
    shape = sizes.shape(value)
    return "?" if shape is None else TIMES.join(map(str, shape)) or "scalar"


def predict_steps(files: TraceFiles, device: Device, *, progress: Progress) -> PredictedSteps:
    """Predicted time at every step of a run."""
    with trace_cursor(files) as cursor:
        cursor.seek(0)
        profile = device_of(device)
        priced = PricedSteps(cursor.state, profile)
        before, unknown, changes = priced.total_ns, priced.unknown, list[int]()
        for rewrite in cursor.trace.rewrites:
            cursor.seek(rewrite.step)
            changes.append(priced.after(rewrite))
            if rewrite.step % _REPORT_EVERY == 0:
                progress(f"step {rewrite.step}", rewrite.step / cursor.trace.steps)
        last = predict_graph(cursor.model.graph, Sizes.of(cursor.model.graph), profile)
    after = sum(round(1000 * node.parts.total_us) for node in last.nodes)
    return PredictedSteps(before, after, tuple(changes), (unknown, priced.unknown))


def predict_step(
    files: TraceFiles, request: tuple[int, Device], *, progress: Progress
) -> PredictedGraph:
    """Predicted times of all nodes of a step."""
    progress("reading the graph", 0.0)
    step, device = request
    graph = graph_at(files, step).graph
    sizes = Sizes.of(graph)
    found = predict_graph(graph, sizes, device_of(device))
    details = {node_id(node): detail_of(node, sizes) for node in walk_nodes(graph)}
    return PredictedGraph(
        step,
        tuple(found.nodes),
        tuple(details.get(node.node, "") for node in found.nodes),
        len(found.unknown),
        tuple(sorted(found.assumed.items())),
    )


PREDICTED_STEPS: Artifact[Device, PredictedSteps] = Artifact(
    "predicted-steps", predict_steps, Value(STEPS_FORM)
)
"""A whole trace on a device."""

PREDICTED_GRAPH: Artifact[tuple[int, Device], PredictedGraph] = Artifact(
    "predicted-graph", predict_step, Value(GRAPH_FORM)
)
"""One step on a device."""
