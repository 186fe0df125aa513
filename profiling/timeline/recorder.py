"""The worker's side of a profile: a session with the runtime's profiler on, run by run."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import onnx_ir as ir

from optimizer.isolation import Progress
from optimizer.model.graph import walk_nodes
from optimizer.verify import jobs
from optimizer.verify.runtime import as_file
from optimizer.verify.values import needs_values, value_of
from profiling.config import RunConfig
from profiling.execution.session import kernels_left_out, open_session, refusal
from profiling.timeline.bare import BareRuns
from profiling.timeline.device_memory import DeviceMemory
from profiling.timeline.events import Timeline, parse_profile
from profiling.timeline.matching import RunNode, match_operators
from profiling.timeline.memory import memory
from profiling.timeline.profile import Profile
from profiling.timeline.profiler_cost import ProfilerCost, Usual


class Recorder:
    """A session that writes its profile into a folder.

    Args:
        model: the file.
        config: how it is run.
        request: how to fill the inputs.
        folder: stays until `finish`.
        device: samples the memory of the GPU over each run, if there is one.
        bare: whether to run without the profiler in turns, so that its cost is known; not on a
            GPU, where a node's time is not that of its kernels.
        progress: told of, from 0 to 1.

    Attributes:
        left_out: as in `Profile`.

    Raises:
        RunError: the model does not run so.
    """

    def __init__(
        self,
        model: bytes | Path,
        config: RunConfig,
        request: jobs.Request,
        *,
        folder: Path,
        device: DeviceMemory | None = None,
        bare: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._device = device
        path = as_file(model)
        self._graph = ir.load(path)
        if name_uniquely(self._graph):
            path = folder / "named.onnx"
            ir.save(self._graph, path, external_data="named.data")
        reference = jobs.run_reference(path, request, progress=progress)
        self._copy = folder / "ran.onnx" if _rewrites(config) else None
        # A replayed graph has no operators to time.
        single = replace(config, cuda_graph=False, trt_cuda_graph=False)
        self._session: Any = open_session(
            path, single, profile_prefix=str(folder / "profile"), copy=self._copy
        )
        self.left_out = kernels_left_out(path, single)
        self._inputs: dict[str, Any] = dict(reference.runs[0].inputs)
        self._shapes = {name: tuple(array.shape) for name, array in self._inputs.items()}
        items = (*self._session.get_inputs(), *self._session.get_outputs())
        self._by_value = needs_values([item.type for item in items])
        if self._by_value:
            self._inputs = {name: value_of(array) for name, array in self._inputs.items()}
        self._bare: BareRuns | None = None
        if bare and config.device == "cpu":
            session: Any = open_session(path, single)
            self._bare = BareRuns(single, folder, lambda: self._call(session))

    def run(self) -> None:
        """One more run.

        Raises:
            SessionError: the runtime refuses.
        """
        try:
            with contextlib.nullcontext() if self._device is None else self._device.over_a_run():
                self._call(self._session)
            if self._bare is not None:
                self._bare.run()
        except Exception as error:  # the runtime has a dozen classes for this
            raise refusal(error) from error

    def _call(self, session: Any) -> None:
        call = session.run_with_ort_values if self._by_value else session.run
        call(None, self._inputs)

    @property
    def input_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of what the model is run on, by input."""
        return self._shapes

    @property
    def inner_nodes(self) -> frozenset[str]:
        """Names of the nodes in bodies; they run within the node that owns the body."""
        main = {node.name for node in self._graph.graph}
        names = {node.name or "" for node in walk_nodes(self._graph.graph)}
        return frozenset(names - main)

    def end(self, *, usual: Usual = median) -> tuple[str, Timeline, ProfilerCost | None]:
        """The profile as the runtime wrote it, as events, and what it cost; the session is over."""
        written = Path(str(self._session.end_profiling()))
        text = written.read_text(encoding="utf-8", errors="replace")
        timeline = parse_profile(text)
        return text, timeline, self._bare and self._bare.cost(timeline.runs, usual=usual)

    def finish(self, *, usual: Usual = median) -> Profile:
        """The profile of all runs; the session is over.

        Args:
            usual: what stands for several times where the profiler's cost is found.
        """
        _, timeline, cost = self.end(usual=usual)
        readers = consumers_of(self._graph)
        curves = tuple(memory(run, consumers=readers) for run in timeline.runs)
        kernels = _kernels(timeline, self._graph, self._copy)
        device, missing = (), ""
        if self._device is not None:
            device, missing = tuple(self._device.curves), self._device.missing
        return Profile(timeline, curves, kernels, device, missing, cost, self.left_out)


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
    bare = [RunNode(name, op, (), ()) for name, op in named.items() if name not in known]
    found = match_operators(_operators(graph), [*ran, *bare])
    return {name: found[name] for name in named}


def _operators(model: ir.Model) -> list[RunNode]:
    return [
        RunNode(
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


def name_uniquely(model: ir.Model) -> bool:
    """Name the unnamed and the repeated nodes, in document order.

    Returns:
        Whether a name was changed.
    """
    nodes = list(walk_nodes(model.graph))
    taken = {node.name for node in nodes if node.name}
    seen: set[str] = set()
    changed = False
    for index, node in enumerate(nodes):
        if not node.name or node.name in seen:
            node.name = _free(f"{node.name or node.op_type}#{index}", taken)
            changed = True
        seen.add(node.name)
    return changed


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "#"
    taken.add(name)
    return name
