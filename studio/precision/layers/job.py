"""A model in fewer bits against its float source, value by value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import onnx_ir as ir

from optimizer.codec import Format
from optimizer.isolation import Following, Progress, part_of
from optimizer.model.graph import node_id
from optimizer.model.writer import write
from optimizer.pipeline import Pipeline
from optimizer.precision.emulation import emulated
from optimizer.precision.layers import layer_errors
from optimizer.registry import Pass, find
from optimizer.rewrite.graph_at import TraceFiles, graph_at
from profiling.precision.building import passes_of, prelude
from profiling.precision.plans import Choice
from studio.artifacts.artifact import Artifact, Value
from studio.artifacts.opened import Subject
from studio.artifacts.store import Store
from studio.graphview.text import cut
from studio.precision.errors import NodeErrors, keep_errors, node_errors
from studio.precision.layers.kept import KEPT, KeepListFound
from studio.precision.ranges.job import RANGES
from studio.precision.samples import ObserveRequest


@dataclass(frozen=True, slots=True)
class LayersRequest:
    """What is compared with the source.

    Attributes:
        observed: the step, and on which samples both are run.
        skip: samples that are left out, since ranges rest on them.
        emulated: whether 16 bits are computed as a device with 16 bits does.
    """

    observed: ObserveRequest
    skip: int
    emulated: bool


@dataclass(frozen=True, slots=True)
class Layer:
    """A value that both models have.

    Attributes:
        op_type: of what makes it in the source.
        node: id of what makes it at the step.
        sqnr_db: signal over error; infinite where nothing differs.
        relative_max: the largest difference over the largest magnitude.
        is_output: whether it is an output of the model.
    """

    name: str
    op_type: str
    node: str
    sqnr_db: float
    relative_max: float
    cosine: float
    is_output: bool


@dataclass(frozen=True, slots=True)
class LayersFound:
    """What came out.

    Attributes:
        layers: in the order in which the source computes them.
        first: name of the value where the error starts; empty where there is none.
        unmatched: values of the source that the other model does not have.
        errors: the same by node, for the viewer.
    """

    layers: tuple[Layer, ...]
    first: str
    unmatched: int
    samples: int
    generated: bool
    errors: NodeErrors

    @property
    def start(self) -> Layer | None:
        """Where the error starts."""
        return next((layer for layer in self.layers if layer.name == self.first), None)

    @property
    def worst_output(self) -> Layer | None:
        """The output that loses most."""
        outputs = [layer for layer in self.layers if layer.is_output]
        return min(outputs, key=lambda layer: layer.sqnr_db, default=None)


@dataclass(frozen=True, slots=True)
class PlanErrors:
    """Errors of a plan, and the plan.

    Attributes:
        pipeline: all passes of the plan.
        changed: steps of the passes that lose something.
        kept: what stays float32 beside float16, where that was looked for.
    """

    found: LayersFound
    pipeline: Pipeline
    changed: int
    kept: KeepListFound | None = None


def compare_layers(files: TraceFiles, request: LayersRequest, *, progress: Progress) -> LayersFound:
    """Run the source and a step on the same samples, in this worker.

    Raises:
        SampleError: a sample does not fit.
        RunError: a model does not run.
    """

    def here(function: Callable[..., Any], *args: object, **options: object) -> Any:
        del options
        return function(*args, progress=progress)

    progress("writing the model", 0.0)
    step = request.observed.step
    operators = {name: node.op_type for name, node in _makers(graph_at(files, 0).graph)}
    model = graph_at(files, step)
    write(emulated(model) if request.emulated else model, Path("other.onnx"), inline_bytes=0)
    nodes = {name: node_id(node) for name, node in _makers(model.graph)}
    outputs = {value.name for value in model.graph.outputs}
    samples = replace(request.observed.samples, skip=request.skip)
    found = layer_errors(files.source, Path("other.onnx"), samples, isolate=here)
    layers: list[Layer] = []
    for value in found.values:
        layers.append(
            Layer(
                cut(value.name, 200),
                cut(operators.get(value.name, ""), 60),
                nodes.get(value.name, ""),
                value.sqnr_db, value.scaled, value.cosine,
                value.name in outputs,
            )
        )  # fmt: skip
    first = "" if found.first is None else cut(found.first.name, 200)
    return LayersFound(
        tuple(layers), first, len(found.unmatched), found.samples, found.generated,
        node_errors(files, step, found),
    )  # fmt: skip


def _makers(graph: ir.Graph) -> Iterator[tuple[str, ir.Node]]:
    """The node behind each named value."""
    for node in graph:
        yield from ((value.name, node) for value in node.outputs if value.name)


LAYERS: Artifact[LayersRequest, LayersFound] = Artifact(
    "precision-layers",
    compare_layers,
    Value(Format(LayersFound, "passlens.precision-layers/1", "errors of layers")),
)
"""Of a step of a plan's run."""


def plan_of(choice: Choice, options: Mapping[str, Any]) -> Pipeline:
    """A precision wherever it makes sense.

    Args:
        choice: which.
        options: of its passes, each of those that have it.
    """
    first = prelude()
    found = [find(pass_id) for pass_id in passes_of(choice)]
    passes = [_configured(one, options) for one in found if one is not None]
    return replace(first, passes=(*first.passes, *passes))


def measure(
    store: Store,
    subject: Subject,
    choice: Choice,
    method: str,
    request: LayersRequest,
    **following: Unpack[Following],
) -> PlanErrors:
    """Find ranges or a keep-list where one is needed, rewrite, compare; each is made once.

    Raises:
        StudioError: a sample does not fit, or a model does not run.
    """
    options: dict[str, Any] = {}
    kept: KeepListFound | None = None
    if choice == "static int8":
        told = part_of(following, "calibrating: ", 0, of=2)
        options["ranges"] = store.get(RANGES, subject, request.observed, **told).rows(method)
        following = part_of(following, "", 1, of=2)
    elif choice == "float16":
        told = part_of(following, "what stays float32: ", 0, of=2)
        kept = store.get(KEPT, subject, request.observed, **told)
        options["keep"] = kept.keep
        following = part_of(following, "", 1, of=2)
    found = measure_plan(store, subject, plan_of(choice, options), request, **following)
    return replace(found, kept=kept)


def measure_plan(
    store: Store,
    subject: Subject,
    pipeline: Pipeline,
    request: LayersRequest,
    **following: Unpack[Following],
) -> PlanErrors:
    """Rewrite as a plan says, and compare its last step with the source.

    Args:
        store: of artifacts.
        subject: the model, and the run of what every plan begins with.
        pipeline: of the plan.
        request: its step is not read: the last one is compared.
        following: told what is done.

    Raises:
        StudioError: a sample does not fit, or a model does not run.
    """
    model, plain = subject
    run = store.run(model, pipeline, **part_of(following, "rewriting: ", 0, of=2))
    last = run.result.steps
    asked = replace(request, observed=replace(request.observed, step=last))
    told = part_of(following, "comparing: ", 1, of=2)
    found = store.get(LAYERS, (model, run), asked, **told)
    keep_errors(run, found.errors)
    return PlanErrors(found, pipeline, last - plain.result.steps)


def _configured(declared: type[Pass], options: Mapping[str, Any]) -> Pass:
    return declared(**{name: one for name, one in options.items() if hasattr(declared, name)})
