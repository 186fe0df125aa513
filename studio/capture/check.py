"""Whether the variants can be captured as CUDA graphs; no GPU is needed to find out."""

from __future__ import annotations

from dataclasses import dataclass

from optimizer.isolation import within_worker
from optimizer.rewrite.graph_at import TraceFiles, own_graph_at
from optimizer.source import complete
from profiling.cuda.eligibility import check_model
from profiling.cuda.findings import CaptureCheck
from studio.experiment import Bench
from studio.variants.variant import TraceVariant, run_of, step_of


@dataclass(frozen=True, slots=True)
class CheckedVariant:
    """One variant's checklist.

    Attributes:
        label: of the variant.
        step: of its trace.
        preset: whose trace; empty for the one that is open.
        check: the checklist; its node ids are those of the trace.
    """

    label: str
    step: int
    preset: str
    check: CaptureCheck


def check_variants(bench: Bench, variants: tuple[TraceVariant, ...]) -> tuple[CheckedVariant, ...]:
    """The checklist of each.

    Raises:
        StudioError: a preset's passes fail, or a step cannot be opened.
    """
    found: list[CheckedVariant] = []
    for index, variant in enumerate(variants):
        bench.progress(f"checking {variant.label}", index / len(variants))
        run = run_of(variant, bench.store, bench.subject)
        step = step_of(variant, run)
        check = bench.pool(
            check_step, run.files, step,
            variant.config.graph_optimization != "disabled", cancelled=bench.cancelled,
        )  # fmt: skip
        found.append(CheckedVariant(variant.label, step, variant.preset, check))
    return tuple(found)


def check_step(files: TraceFiles, step: int, folding: bool) -> CaptureCheck:
    """The checklist of a step of a trace. Only in a worker.

    Raises:
        StudioError: there is no such step.
    """
    model = complete(own_graph_at(files, step), isolate=within_worker)
    return check_model(model, folding=folding)
