"""Apache TVM as a candidate: the same loops, in its own order, as a custom operator like ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from optimizer.fusion.algorithm import algorithm_of
from optimizer.isolation import Isolate
from optimizer.limits import JobLimits
from optimizer.loops.building import NotGenerated
from optimizer.model.generated_functions import KernelBody
from profiling.codegen.compiler import compiler_missing
from profiling.config import RunConfig, Value
from profiling.config.session import Device
from profiling.config.settings import from_values
from profiling.kernels.generated.checking import Checked, first_fault
from profiling.kernels.generated.edge_cases import EdgeCase
from profiling.tvm.objects import tvm_missing
from profiling.tvm.store import build_by_tvm

_BUILDING = JobLimits(seconds=120.0, memory_bytes=None)
_CHECKING = JobLimits(seconds=120.0, memory_bytes=4 << 30)


@dataclass(frozen=True, slots=True)
class TvmCode:
    """Code that TVM generates from the loops of the function body."""

    label: str = "TVM"

    @property
    def target(self) -> Device:
        """See `Implementation`."""
        return "cpu"

    @property
    def own_process(self) -> bool:
        """See `Implementation`: TVM is large, and crashes rather than raises."""
        return True

    @property
    def changes(self) -> Mapping[str, Value]:
        """See `Implementation`."""
        return {"generated_kernels": "tvm", "graph_optimization": "all"}

    def supports(self, body: KernelBody) -> str:
        """Whether the body has loops, and the machine TVM and what links its code."""
        missing = tvm_missing() or compiler_missing()
        if missing:
            return missing
        try:
            algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
        except NotGenerated as error:
            return str(error)
        return ""

    def build(self, model: bytes, isolate: Isolate) -> None:
        """See `Implementation`."""
        isolate(build_by_tvm, model, limits=_BUILDING)

    def check(self, model: bytes, cases: Sequence[EdgeCase], isolate: Isolate) -> Checked:
        """See `Implementation`."""
        config = from_values(dict(self.changes), base=RunConfig())
        return isolate(first_fault, model, config, list(cases), limits=_CHECKING)
