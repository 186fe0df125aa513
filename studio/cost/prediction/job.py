"""Predictions of an open run, made by a worker and kept beside the run."""

from __future__ import annotations

from optimizer.cost.device import DEVICE_FORM, DeviceProfile
from optimizer.cost.predict import predict_graph
from optimizer.cost.sizes import Sizes
from optimizer.isolation import Progress
from optimizer.model.graph import node_id, walk_nodes
from optimizer.rewrite.graph_at import TraceFiles, graph_at, trace_cursor
from studio.artifacts.artifact import Artifact, Value
from studio.cost.prediction.report import GRAPH_FORM, STEPS_FORM, PredictedGraph, PredictedSteps
from studio.cost.prediction.steps import PricedSteps
from studio.cost.prediction.wording import detail_of

_REPORT_EVERY = 50
Device = str
"""A device as `device_text` writes it, so that requests can be compared and sent."""


def device_text(device: DeviceProfile) -> Device:
    """Equal profiles give equal texts: a device calibrated anew gives another one."""
    return DEVICE_FORM.dumps(device).decode()


def device_of(text: Device) -> DeviceProfile:
    """The profile that `device_text` wrote."""
    return DEVICE_FORM.loads(text.encode())


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
