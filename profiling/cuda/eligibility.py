"""Whether a model can be captured as a CUDA graph, found out without a GPU.

A capture records kernel launches with their arguments; a replay repeats exactly those. What cannot
be repeated so (branches of the host, other sizes, copies from pageable memory, waiting for the
GPU) stands in the way. Each rule below is one line of the checklist; `check_model` says for each
where it is broken and what to do about it. On a machine with a GPU the runtime's own refusal, and
`execution.session.assigned_nodes`, confirm it.

Source: ONNX Runtime, "Using CUDA Graphs" of the CUDA execution provider, and its pull requests
9978, 16358, 16491 and 19636; CUDA programming guide, "Prohibited and unhandled operations".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import onnx_ir as ir

from optimizer.model.graph import Model
from profiling.cuda import graph_rules, placement_rules
from profiling.cuda.findings import CaptureCheck, CaptureFinding
from profiling.cuda.kernel_table import kernel_table
from profiling.cuda.placement import NodePlacement, place


def check_model(
    model: Model, bindings: Mapping[str, int] | None = None, *, folding: bool = True
) -> CaptureCheck:
    """Everything that stands in the way of capturing the model, or limits it.

    Args:
        model: with types and shapes as far as they are known, and its functions inlined, as
            `optimizer.source` opens it.
        bindings: dimensions that will have one size.
        folding: whether the runtime's optimizations are on, which fold constants first.
    """
    placement = place(model.ir, folding=folding)
    counts = {side: len(placement.on(side)) for side in ("cuda", "cpu", "folded")}
    findings = _findings(model.ir, placement, {**model.bindings, **(bindings or {})})
    return CaptureCheck(findings, counts, kernel_table().runtime)


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
