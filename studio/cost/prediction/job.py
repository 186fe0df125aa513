"""Predictions of an open run, computed in a worker and kept beside the run.

models/<model key>/<run key>/predicted-<device key>/steps.json
models/<model key>/<run key>/predicted-<device key>-<step>/nodes.json
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

from optimizer.cost.device import DeviceProfile, device_from_json, device_json
from optimizer.cost.predict import predict_graph
from optimizer.cost.sizes import Sizes
from optimizer.isolation import Isolate, Progress
from optimizer.model.graph import node_id, walk_nodes
from optimizer.model.loader import load_path
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace_file import open_trace_over
from studio.artifacts import opened
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.cost.prediction.report import (
    PredictedGraph,
    PredictedSteps,
    graph_from_json,
    graph_json,
    steps_from_json,
    steps_json,
)
from studio.cost.prediction.steps import PricedSteps
from studio.cost.prediction.wording import detail_of
from studio.whole import made_whole

FORMAT = 3
"""Part of every key: raised when the files' meaning changes."""

_REPORT_EVERY = 50
Cancelled = Callable[[], bool]
Subject = tuple[OpenedModel, OpenedRun]


def device_key(device: DeviceProfile) -> str:
    """Equal profiles have equal keys: a device calibrated anew has another one."""
    text = json.dumps([FORMAT, device_json(device)], sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def steps_key(subject: Subject, device: DeviceProfile) -> Hashable:
    """The key of the task of `predicted_steps`."""
    model, run = subject
    return ("predicted-steps", model.key, run.key, device_key(device))


def predicted_steps(
    isolate: Isolate,
    subject: Subject,
    device: DeviceProfile,
    *,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> PredictedSteps:
    """Predicted time at every step of a run.

    Raises:
        StudioError: the trace is damaged, or the work was cancelled.
    """
    model, run = subject
    target = run.folder / f"predicted-{device_key(device)}" / "steps.json"
    if not target.is_file():
        with made_whole(target.parent) as folder:
            isolate(
                write_steps, model.folder, run.folder / opened.TRACE, device_json(device),
                folder / target.name, progress=progress, cancelled=cancelled,
            )  # fmt: skip
    return steps_from_json(json.loads(target.read_text()))


def graph_key(subject: Subject, step: int, device: DeviceProfile) -> Hashable:
    """The key of the task of `predicted_graph`."""
    model, run = subject
    return ("predicted-graph", model.key, run.key, step, device_key(device))


def predicted_graph(
    isolate: Isolate,
    subject: Subject,
    step: int,
    device: DeviceProfile,
    *,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
) -> PredictedGraph:
    """Predicted times of all nodes of a step.

    Raises:
        StudioError: there is no such step, or the work was cancelled.
    """
    model, run = subject
    target = run.folder / f"predicted-{device_key(device)}-{step}" / "nodes.json"
    if not target.is_file():
        with made_whole(target.parent) as folder:
            isolate(
                write_graph, model.folder, run.folder / opened.TRACE, step, device_json(device),
                folder / target.name, progress=progress, cancelled=cancelled,
            )  # fmt: skip
    return graph_from_json(json.loads(target.read_text()))


def write_steps(
    folder: Path, trace: Path, device: dict[str, Any], target: Path, *, progress: Progress
) -> None:
    """The worker's part of `predicted_steps`."""
    cursor = _opened(folder, trace)
    cursor.seek(0)
    profile = device_from_json(device)
    priced = PricedSteps(cursor.state, profile)
    before, unknown, changes = priced.total_ns, priced.unknown, list[int]()
    for rewrite in cursor.trace.rewrites:
        cursor.seek(rewrite.step)
        changes.append(priced.after(rewrite))
        if rewrite.step % _REPORT_EVERY == 0:
            progress(f"step {rewrite.step}", rewrite.step / cursor.trace.steps)
    last = predict_graph(cursor.model.graph, Sizes.of(cursor.model.graph), profile)
    after = sum(round(1000 * node.parts.total_us) for node in last.nodes)
    found = PredictedSteps(before, after, tuple(changes), (unknown, priced.unknown))
    target.write_text(json.dumps(steps_json(found)))


def write_graph(folder: Path, trace: Path, step: int, device: dict[str, Any], target: Path) -> None:
    """The worker's part of `predicted_graph`."""
    model = _opened(folder, trace).seek(step)
    sizes = Sizes.of(model.graph)
    found = predict_graph(model.graph, sizes, device_from_json(device))
    details = {node_id(node): detail_of(node, sizes) for node in walk_nodes(model.graph)}
    target.write_text(json.dumps(graph_json(found, step, details)))


def _opened(folder: Path, trace: Path) -> Cursor:
    return open_trace_over(trace, load_path(folder / opened.SOURCE).ir)
