"""A model's layouts assigned to a device, and what there is to say about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import onnx_ir as ir

from optimizer.cost.sizes import Sizes
from optimizer.findings import Finding
from optimizer.layout.formats import Waste, wastes
from optimizer.layout.images import images_of
from optimizer.layout.inference import infer_layouts
from optimizer.layout.planning import Conversion, LayoutPlan, assign
from optimizer.layout.targets import Target
from optimizer.model.graph import Model, node_id
from optimizer.model.own_functions import OLDEST_OPSET
from optimizer.model.symbolic import SymbolicValues
from optimizer.passes.layout.assign_layout import AssignLayout
from optimizer.passes.layout.cancel_conversions import CancelConversions
from optimizer.passes.structure.raise_opset import RaiseOpset
from optimizer.passes.wording import described
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import Stop, optimize
from optimizer.rewrite.replay import Cursor
from optimizer.rewrite.trace import Trace

NOTHING_TO_ASSIGN = "No operator of this model works over images: there is no layout to choose."


@dataclass(frozen=True, slots=True)
class Converted:
    """A conversion that is left.

    Attributes:
        value: the name of the image.
        made: its layout.
        wanted: the one it is converted to.
        size_bytes: read and written.
        us: predicted.
        reader: who asks for it; "the graph" where it is an output.
        step: of the trace, that puts it there; 0 where it stood in the model.
    """

    value: str
    made: str
    wanted: str
    size_bytes: int
    us: float
    reader: str
    step: int


@dataclass(frozen=True, slots=True)
class AssignedLayouts:
    """What came out.

    Attributes:
        target: the device and its layout.
        trace: every step.
        certificate: whether the assignment was proven cheapest.
        written_us: predicted of kernels over images and conversions as they are written; None where
            the target has no kernel for that.
        first_us: with the channels of images first (NCHW) wherever that can be; None likewise.
        assigned_us: and as they were assigned.
        moved: nodes in another layout than written, by operator.
        conversions: what is left to convert, the largest first.
        wastes: images in blocks, the largest waste first.
        unmoved: why operators over images stay, with how many do.
        transposes: in the file as it came, after the default passes, and in the end.
        findings: layouts that contradict each other.
    """

    target: Target
    trace: Trace
    certificate: str
    written_us: float | None
    first_us: float | None
    assigned_us: float
    moved: Counter[str]
    conversions: Sequence[Converted]
    wastes: Sequence[Waste]
    unmoved: Counter[str]
    transposes: tuple[int, int, int]
    findings: Sequence[Finding]


def layout_pipeline(target: Target, opset: int) -> Pipeline:
    """The default passes, the assignment, and what cancels conversions.

    Args:
        target: the device.
        opset: of the model; an older one than functions need is raised.
    """
    block = next(iter(target.blocks.values()), 0) if target.id == "cpu" else 0
    first = [RaiseOpset()] if opset == OLDEST_OPSET - 1 else []
    last = [AssignLayout(target.id, block), CancelConversions()]
    default = Pipeline.of("portable")
    return replace(default, passes=(*first, *default.passes, *last))


def assign_layouts(model: Model, target: Target, *, stop: Stop = Stop()) -> AssignedLayouts:
    """Assign layouts to a device, in place.

    Args:
        model: with shapes.
        target: the device.
        stop: when to end early.

    Raises:
        StudioError: the model may not be optimized.
        Cancelled: asked to stop.
    """
    graph = model.ir.graph
    written = transposes_of(graph)
    trace = optimize(model, layout_pipeline(target, graph.opset_imports.get("", 0)), stop=stop)
    ended = transposes_of(graph)
    cursor = Cursor.at_end(trace)
    first = (r.step for r in trace.rewrites if r.pass_id == AssignLayout.id)
    graph = cursor.seek(next(first, trace.steps + 1) - 1).graph
    found = _told(graph, target, trace, (written, transposes_of(graph), ended))
    cursor.seek(trace.steps)
    return found


def transposes_of(graph: ir.Graph) -> int:
    """How many Transposes a graph has."""
    return sum(node.op_type == "Transpose" and not node.domain for node in graph)


def _told(
    graph: ir.Graph, target: Target, trace: Trace, transposes: tuple[int, int, int]
) -> AssignedLayouts:
    """What the plan says, of the graph as it was before the first node moved."""
    symbolic = SymbolicValues(ir.Model(graph, ir_version=8))
    plan = assign(graph, target, symbolic, graph.opset_imports.get("", 0))
    costs = plan.assignment
    return AssignedLayouts(
        target,
        trace,
        costs.certificate,
        plan.written_us,
        plan.first_us,
        costs.cost,
        Counter(node.op_type for node in plan.moved),
        sorted(_conversions(plan, trace), key=lambda one: -one.us),
        sorted(_filled(graph, plan, target), key=lambda one: -one.bytes),
        Counter(f"{node.op_type}: {why}" for node, why in plan.reasons.items()),
        transposes,
        [one.finding for one in infer_layouts(graph).contradictions],
    )


def _conversions(plan: LayoutPlan, trace: Trace) -> list[Converted]:
    """What is left; the first reader that moves puts it there, or what makes it."""
    steps = {r.root: r.step for r in trace.rewrites if r.pass_id == AssignLayout.id}

    def step(one: Conversion) -> int:
        maker = one.value.producer()
        reading = [at for node in one.readers if (at := steps.get(node_id(node)))]
        made = 0 if maker is None else steps.get(node_id(maker), 0)
        return min(reading, default=made)

    return [
        Converted(
            one.value.name or "",
            one.made,
            one.wanted,
            one.size_bytes,
            one.us,
            ", ".join(map(described, one.readers)) or "the graph",
            step(one),
        )
        for one in plan.conversions
        if one.size_bytes  # where only axes of one element move, nothing does
    ]


def _filled(graph: ir.Graph, plan: LayoutPlan, target: Target) -> list[Waste]:
    """Images that lie in blocks: made so, or converted for somebody."""
    made = [v for n, one in plan.moved.items() if one.place.block for v in n.outputs[:1]]
    wanted = [one.value for one in plan.conversions if one.wanted == target.layout]
    images = images_of(infer_layouts(graph))
    values = {value: images[value] for value in [*made, *(wanted if target.blocks else ())]}
    return wastes(values, target.blocks, Sizes.of(graph))
