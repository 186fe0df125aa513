"""Whether a model can be captured as a CUDA graph, found out without a GPU.

A capture records kernel launches with their arguments; a replay repeats exactly those. What cannot
be repeated so (branches of the host, other sizes, copies from pageable memory, waiting for the
GPU) stands in the way. Each rule below is one line of the checklist; `check_capture` says for each
where it is broken and what to do about it. On a machine with a GPU the runtime's own refusal, and
`placement.assigned_nodes`, confirm it.

Source: ONNX Runtime, "Using CUDA Graphs" of the CUDA execution provider, and its pull requests
9978, 16358, 16491 and 19636; CUDA programming guide, "Prohibited and unhandled operations".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import onnx_ir as ir

from optimizer.isolation import within_worker
from optimizer.model.graph import Model
from optimizer.model.loader import load_path
from optimizer.source import complete
from profiling.cuda import graph_rules, placement_rules
from profiling.cuda.findings import RULES, CaptureCheck, CaptureFinding
from profiling.cuda.kernel_table import kernel_table
from profiling.cuda.placement import NodePlacement, place

__all__ = ["RULES", "CaptureCheck", "CaptureFinding", "check_capture", "check_file", "check_model"]


def check_file(
    path: Path, bindings: Mapping[str, int] | None = None, *, folding: bool = True
) -> CaptureCheck:
    """`check_capture` of a file; types and shapes are inferred first. Only in a worker.

    Raises:
        StudioError: it cannot be opened.
    """
    model = complete(load_path(path), isolate=within_worker, bind=bindings)
    return check_model(model, folding=folding)


def check_model(model: Model, *, folding: bool = True) -> CaptureCheck:
    """The whole checklist of an opened model; for the arguments see `check_capture`."""
    placement = place(model.ir, folding=folding)
    counts = {side: len(placement.on(side)) for side in ("cuda", "cpu", "folded")}
    findings = _findings(model.ir, placement, model.bindings)
    return CaptureCheck(findings, counts, kernel_table().runtime)


def check_capture(
    model: Model, bindings: Mapping[str, int] | None = None, *, folding: bool = True
) -> tuple[CaptureFinding, ...]:
    """Everything that stands in the way of capturing the model, or limits it.

    Args:
        model: with types and shapes as far as they are known, and its functions inlined, as
            `optimizer.source` opens it.
        bindings: dimensions that will have one size.
        folding: whether the runtime's optimizations are on, which fold constants first.
    """
    bound = {**model.bindings, **(bindings or {})}
    return _findings(model.ir, place(model.ir, folding=folding), bound)


def _findings(
    model: ir.Model, placement: NodePlacement, bound: Mapping[str, int]
) -> tuple[CaptureFinding, ...]:
    rules: tuple[Callable[[], Iterator[CaptureFinding]], ...] = (
        lambda: graph_rules.control_flow(model.graph),
        lambda: graph_rules.open_sizes(model.graph, bound),
        lambda: graph_rules.sized_by_data(model.graph),
        lambda: graph_rules.not_tensors(model.graph),
        lambda: placement_rules.without_kernel(model.graph, placement),
        lambda: placement_rules.copies(placement),
        lambda: graph_rules.waits(model.graph),
        lambda: placement_rules.host_values(placement),
    )
    return tuple(finding for rule in rules for finding in rule())
