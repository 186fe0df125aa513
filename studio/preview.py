"""What if: what each pass would do to the graph at a step of a run, made by a worker when asked."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.codec import Format
from optimizer.isolation import Progress
from optimizer.pipeline import Pipeline
from optimizer.registry import Pass, passes
from optimizer.rewrite.graph_at import TraceFiles, trace_cursor
from optimizer.rewrite.what_if import Preview, what_if
from studio.artifacts.artifact import Artifact, Value

PASS_SECONDS = 0.1
"""CPU time of one pass; what it has found by then is told as "at least"."""
PLANNING = frozenset({"kernels", "memory"})
"""Families that plan the whole graph, seconds long: they are not asked by the way."""


@dataclass(frozen=True, slots=True)
class StepPreview:
    """What the registered passes would do at a step.

    Attributes:
        step: of the run.
        passes: those that would act or come near, in running order.
    """

    step: int
    passes: tuple[Preview, ...]


def asked_passes(pipeline: Pipeline) -> list[Pass]:
    """Every registered pass that needs no plan, those of the pipeline with its options."""
    configured = {one.id: one for one in pipeline.passes}
    asked = (declared for declared in passes() if declared.family not in PLANNING)
    return [configured.get(declared.id) or declared() for declared in asked]


def make_preview(files: TraceFiles, step: int, *, progress: Progress) -> StepPreview:
    """Ask the passes about the graph at a step; for a worker process.

    Raises:
        StudioError: as `graph_at`.
    """
    progress("asking every pass", 0.0)
    with trace_cursor(files) as cursor:
        pipeline = Pipeline.from_json(cursor.trace.pipeline)
        found = what_if(cursor.seek(step), asked_passes(pipeline), pipeline, seconds=PASS_SECONDS)
    return StepPreview(step, tuple(one for one in found if one.matches or one.declined))


PREVIEW_FORM = Format(StepPreview, "passlens.what-if/1", "preview of the passes")
PREVIEW: Artifact[int, StepPreview] = Artifact("what-if", make_preview, Value(PREVIEW_FORM))
"""Of a step of a run."""
