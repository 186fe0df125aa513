"""Who can compute a generated kernel, and how each is built, checked and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from optimizer.fusion.algorithm import algorithm_of
from optimizer.isolation import Isolate
from optimizer.limits import JobLimits
from optimizer.loops.building import NotGenerated
from optimizer.loops.schedule import Schedule
from optimizer.loops.scheduling import NoSchedule, default_schedule
from optimizer.model.generated_functions import KernelBody
from profiling.codegen.compiler import compiler_missing
from profiling.codegen.kernel import GeneratorId, LibraryError
from profiling.codegen.store import build_missing
from profiling.config import RunConfig, Value
from profiling.config.advice import SLOW_FUSIONS
from profiling.config.session import Device
from profiling.config.settings import from_values
from profiling.kernels.generated.checking import Checked, first_fault
from profiling.kernels.generated.edge_cases import EdgeCase
from profiling.kernels.generated.triton import TritonCode
from profiling.kernels.generated.tvm import TvmCode

BUILDING = JobLimits(seconds=300.0, memory_bytes=6 << 30)
"""All kernels of one model."""
_CHECKING = JobLimits(seconds=120.0, memory_bytes=4 << 30)


class Implementation(Protocol):
    """One way to compute a kernel."""

    @property
    def label(self) -> str:
        """For people, and in files."""
        ...

    @property
    def target(self) -> Device:
        """Where it runs."""
        ...

    @property
    def own_process(self) -> bool:
        """Whether it is built and checked in a fresh process each time."""
        ...

    @property
    def changes(self) -> Mapping[str, Value]:
        """Options with which the kernel's model is run so."""
        ...

    def supports(self, body: KernelBody) -> str:
        """Why it cannot compute this kernel, or not here; empty if it can."""
        ...

    def build(self, model: bytes, isolate: Isolate) -> None:
        """Make what a run of this model needs, so that no race waits for it.

        Raises:
            RunError: it cannot be built; one sentence.
        """
        ...

    def check(self, model: bytes, cases: Sequence[EdgeCase], isolate: Isolate) -> Checked:
        """Hold it against the function body.

        Raises:
            RunError: it does not run.
        """
        ...


@dataclass(frozen=True, slots=True)
class RuntimeChain:
    """ONNX Runtime's own kernels for the function body, after its own fusions.

    Attributes:
        without: fusions that it leaves out.
    """

    label: str
    without: tuple[str, ...] = ()

    @property
    def target(self) -> Device:
        """See `Implementation`."""
        return "cpu"

    @property
    def own_process(self) -> bool:
        """See `Implementation`."""
        return False

    @property
    def changes(self) -> Mapping[str, Value]:
        """See `Implementation`."""
        found: dict[str, Value] = {"generated_kernels": "off", "graph_optimization": "all"}
        return {**found, "optimizers_off": "+".join(self.without)} if self.without else found

    def supports(self, body: KernelBody) -> str:
        """Always."""
        del body
        return ""

    def build(self, model: bytes, isolate: Isolate) -> None:
        """Nothing to build."""

    def check(self, model: bytes, cases: Sequence[EdgeCase], isolate: Isolate) -> Checked:
        """It says what is right; its fusions are the runtime's own affair."""
        del model, cases, isolate
        return Checked(0, 0)


@dataclass(frozen=True, slots=True)
class GeneratedCode:
    """Code generated from the loops of the function body.

    Attributes:
        generator: what writes it.
        own: a schedule that somebody made, in place of the default one; goes into the kernel.
    """

    label: str
    generator: GeneratorId
    own: Schedule | None = None

    @property
    def target(self) -> Device:
        """See `Implementation`."""
        return "cpu"

    @property
    def own_process(self) -> bool:
        """See `Implementation`."""
        return False

    @property
    def changes(self) -> Mapping[str, Value]:
        """See `Implementation`."""
        return {"generated_kernels": self.generator, "graph_optimization": "all"}

    def supports(self, body: KernelBody) -> str:
        """Whether the body has loops, they a schedule, and the machine what builds them."""
        if self.generator == "halide" and find_spec("halide") is None:
            return "Halide is not installed"
        missing = compiler_missing()
        if missing:
            return missing
        try:
            loops = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
            if self.generator == "halide":
                default_schedule(loops)
        except (NotGenerated, NoSchedule) as error:
            return str(error)
        return ""

    def build(self, model: bytes, isolate: Isolate) -> None:
        """See `Implementation`."""
        refused = isolate(build_missing, model, self.generator, limits=BUILDING)
        if refused:
            raise LibraryError(refused[0])

    def check(self, model: bytes, cases: Sequence[EdgeCase], isolate: Isolate) -> Checked:
        """See `Implementation`."""
        config = from_values(dict(self.changes), base=RunConfig())
        return isolate(first_fault, model, config, list(cases), limits=_CHECKING)


AS_RUN, UNFUSED = "ONNX Runtime", "ONNX Runtime without its slow fusions"
IMPLEMENTATIONS: tuple[Implementation, ...] = (
    RuntimeChain(AS_RUN),
    RuntimeChain(UNFUSED, SLOW_FUSIONS),
    GeneratedCode("Halide", "halide"),
    GeneratedCode("C", "c"),
    TvmCode(),
    TritonCode(),
)
"""The runtime's own first."""
