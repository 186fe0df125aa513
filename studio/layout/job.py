"""Layouts assigned to a device, and a model written with what a device has; in a worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from optimizer.codec import Format
from optimizer.hardware import MissingOperator, missing, profile_of
from optimizer.isolation import Progress
from optimizer.layout.formats import Waste
from optimizer.layout.targets import target_of
from optimizer.layout_assignment import Converted, assign_layouts
from optimizer.legalisation import legalise
from optimizer.model.graph import count_nodes
from optimizer.registry import find
from optimizer.rewrite.graph_at import TraceFiles, own_graph_at
from studio.artifacts.artifact import Artifact, Value
from studio.graphview.text import cut


@dataclass(frozen=True, slots=True)
class Assigned:
    """What came of an assignment.

    Attributes:
        layout: of the target.
        device: whose data sheet costs rest on.
        opset: of the model.
        certificate: how near to the least it is.
        written_us: predicted as it is written; None where the target has no kernel for that.
        first_us: with channels first (NCHW) wherever that can be; None likewise.
        assigned_us: predicted as assigned.
        moved: nodes that work in another layout, by operator.
        unmoved: why nodes stay, and how many do.
        transposes: in the file, after the default passes, in the end.
        findings: contradictions.
    """

    layout: str
    device: str
    opset: int
    certificate: str
    written_us: float | None
    first_us: float | None
    assigned_us: float
    moved: Mapping[str, int]
    conversions: tuple[Converted, ...]
    wastes: tuple[Waste, ...]
    unmoved: Mapping[str, int]
    transposes: tuple[int, int, int]
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Legal:
    """What came of lowering.

    Attributes:
        title: of the device.
        source: where what it has is known from.
        lacking: what it lacks of the model as it came.
        remaining: what it still lacks, and why.
        lowered: rewrites by the pass that lowers.
        titles: of these passes.
        first_steps: of these passes in the trace.
        nodes: before, after.
    """

    title: str
    source: str
    lacking: tuple[MissingOperator, ...]
    remaining: tuple[MissingOperator, ...]
    lowered: Mapping[str, int]
    titles: Mapping[str, str]
    first_steps: Mapping[str, int]
    nodes: tuple[int, int]


def assign_target(files: TraceFiles, target: str, *, progress: Progress) -> Assigned:
    """Layouts of the source for one target.

    Raises:
        StudioError: there is no such target, or the model may not be optimized.
    """
    progress("assigning layouts", 0.2)
    model = own_graph_at(files, 0)
    opset = model.ir.graph.opset_imports.get("", 0)
    found = assign_layouts(model, target_of(target))
    conversions = tuple(
        replace(one, value=cut(one.value), reader=cut(one.reader)) for one in found.conversions
    )
    return Assigned(
        found.target.layout, found.target.device.name, opset, found.certificate,
        found.written_us, found.first_us, found.assigned_us, dict(found.moved.most_common()),
        conversions, tuple(found.wastes), dict(found.unmoved.most_common()), found.transposes,
        tuple(str(one) for one in found.findings),
    )  # fmt: skip


def legalise_for(files: TraceFiles, profile: str, *, progress: Progress) -> Legal:
    """The source, written with what a device has.

    Raises:
        StudioError: there is no such profile, or the model may not be optimized.
    """
    model = own_graph_at(files, 0)
    device = profile_of(profile)
    lacking = missing(model.ir.graph, device)
    before = count_nodes(model.ir.graph)
    found = legalise(model, profile, progress=progress)
    own = [r for r in found.trace.rewrites if _is_lowering(r.pass_id)]
    counts = Counter(rewrite.pass_id for rewrite in own)
    first = {rewrite.pass_id: rewrite.step for rewrite in reversed(own)}
    titles = {one: declared.title() for one in counts if (declared := find(one)) is not None}
    nodes = (before, count_nodes(model.ir.graph))
    return Legal(
        device.title, device.source, lacking, found.missing, dict(counts.most_common()), titles,
        first, nodes,
    )  # fmt: skip


def _is_lowering(pass_id: str) -> bool:
    declared = find(pass_id)
    return declared is not None and declared.family == "lowering"


ASSIGNED: Artifact[str, Assigned] = Artifact(
    "layout-assigned",
    assign_target,
    Value(Format(Assigned, "passlens.layout-assigned/2", "assignment of layouts")),
)
"""Of the source, by the target's id."""

LEGAL: Artifact[str, Legal] = Artifact(
    "layout-legal",
    legalise_for,
    Value(Format(Legal, "passlens.layout-legal/1", "model in a device's operators")),
)
"""Of the source, by the profile's name."""
