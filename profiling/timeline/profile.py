"""Make a timeline: run a variant a few times with the runtime's profiler on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import onnx_ir as ir

from optimizer.isolation import Isolate, Progress
from optimizer.model.graph import walk_nodes
from optimizer.model.limits import JobLimits
from optimizer.verify import jobs
from optimizer.verify.runtime import as_file
from profiling.config import RunConfig
from profiling.execution.session import open_session, refusal
from profiling.racing.race import Variant
from profiling.timeline.events import Run, Timeline, parse_profile
from profiling.timeline.matching import Operator, match_operators
from profiling.timeline.memory import MemoryCurve, memory
from profiling.timeline.naming import name_uniquely

Phase = Literal["first", "steady"]
_LIMITS = JobLimits(seconds=300.0)


@dataclass(frozen=True, slots=True)
class Profile:
    """A timeline and, for each of its runs, the memory.

    Attributes:
        memory: one curve a run; each says where its numbers are from.
        kernels: for each operator as it ran the names of the file's nodes that it computes.
    """

    timeline: Timeline
    memory: tuple[MemoryCurve, ...]
    kernels: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def run_index(self, phase: Phase) -> int | None:
        """Which run stands for a phase: the first, or of the later ones the one in the middle."""
        runs = self.timeline.runs
        if phase == "first" or len(runs) < 2:
            return 0 if runs else None
        later = sorted(range(1, len(runs)), key=lambda index: runs[index].duration_us)
        return later[(len(later) - 1) // 2]

    def run(self, phase: Phase) -> Run | None:
        """The run that stands for a phase; None if there is none."""
        index = self.run_index(phase)
        return None if index is None else self.timeline.runs[index]


def profile(
    variant: Variant,
    *,
    isolate: Isolate,
    runs: int = 5,
    request: jobs.Request | None = None,
    limits: JobLimits = _LIMITS,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Profile:
    """Profile `runs` runs of a variant in a worker. For CUDA `isolate` is `WorkerPool.run_fresh`.

    Raises:
        RunError: the model does not run so.
    """
    model = variant.model.absolute() if isinstance(variant.model, Path) else variant.model
    return isolate(
        profile_runs, model, variant.config, runs, request or jobs.Request(seeds=1),
        limits=limits, progress=progress, cancelled=cancelled,
    )  # fmt: skip


def profile_runs(
    model: bytes | Path,
    config: RunConfig,
    runs: int,
    request: jobs.Request,
    *,
    progress: Progress | None = None,
) -> Profile:
    """The worker's part of `profile`."""
    path = as_file(model)
    graph = ir.load(path)
    if name_uniquely(graph):
        path = Path("named.onnx").absolute()
        ir.save(graph, path, external_data="named.data")
    reference = jobs.run_reference(path, request, progress=progress)
    copy = Path("ran.onnx") if _rewrites(config) else None
    session: Any = open_session(path, config, profile_prefix="profile", copy=copy)
    inputs = dict(reference.runs[0].inputs)
    for number in range(runs):
        if progress is not None:
            progress(f"profiled run {number + 1} of {runs}", 0.5 + 0.5 * number / runs)
        try:
            session.run(None, inputs)
        except Exception as error:  # the runtime has a dozen classes for this
            raise refusal(error) from error
    written = Path(str(session.end_profiling()))
    timeline = parse_profile(written.read_text(encoding="utf-8", errors="replace"))
    readers = consumers_of(graph)
    curves = tuple(memory(run, consumers=readers) for run in timeline.runs)
    return Profile(timeline, curves, _kernels(timeline, graph, copy))


def _rewrites(config: RunConfig) -> bool:
    """Whether the runtime runs other nodes than those of the file, and can say which."""
    return config.device == "cuda" or (
        config.device == "cpu" and config.graph_optimization != "disabled"
    )


def _kernels(timeline: Timeline, graph: ir.Model, copy: Path | None) -> dict[str, tuple[str, ...]]:
    """For each operator that ran the nodes of the file."""
    named = {event.node: event.op_type for run in timeline.runs for event in run.events}
    ran = _operators(ir.load(copy)) if copy is not None and copy.is_file() else []
    known = {operator.name for operator in ran}
    bare = [Operator(name, op, (), ()) for name, op in named.items() if name not in known]
    found = match_operators(_operators(graph), [*ran, *bare])
    return {name: found[name] for name in named}


def _operators(model: ir.Model) -> list[Operator]:
    return [
        Operator(
            node.name or "",
            node.op_type,
            tuple(value.name or "" for value in node.inputs if value is not None),
            tuple(value.name or "" for value in node.outputs),
        )
        for node in walk_nodes(model.graph)
    ]


def consumers_of(model: ir.Model) -> dict[str, tuple[str, ...]]:
    """For each node of the main graph the names of the nodes that read its outputs.

    Nodes whose output is a graph output are left out: those live until the end.
    """
    readers: dict[str, tuple[str, ...]] = {}
    for node in model.graph:
        if node.name and not any(output.is_graph_output() for output in node.outputs):
            uses = [reader for output in node.outputs for reader, _ in output.uses()]
            readers[node.name] = tuple(reader.name or "" for reader in uses)
    return readers
