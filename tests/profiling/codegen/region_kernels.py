"""Random regions as kernels: each as one kernel whole, and as the planner parts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

from optimizer.fusion.algorithm import algorithm_of
from optimizer.loops.building import NotGenerated
from optimizer.loops.evaluation import evaluate
from optimizer.loops.schedule import Schedule
from optimizer.loops.scheduling import NoSchedule, default_schedule
from optimizer.model.generated_functions import KernelBody, is_generated, kernel_body
from optimizer.model.region_functions import NoSignature, region_function
from optimizer.model.symbolic import SymbolicValues
from optimizer.model.writer import to_bytes
from optimizer.passes.kernels.generate_kernels import GenerateKernels
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from profiling.codegen.kernel import GeneratorId, Kernel
from profiling.kernels.generated.checking import first_wrong
from profiling.kernels.generated.edge_cases import EdgeCase
from profiling.kernels.generated.single import call_of
from tests.optimizer.graphs import loaded, proto_of
from tests.optimizer.running import run
from tests.profiling.codegen import library_jobs
from tests.profiling.codegen.random_regions import Feeds, Region, regions
from tests.profiling.codegen.random_steps import STEPS

Results = Sequence[np.ndarray[Any, Any]]


@dataclass(frozen=True, slots=True)
class RegionCase:
    """A region, and what is right on each of its sizes.

    Attributes:
        region: as it was drawn.
        body: all nodes as one function.
        order: which of the region's inputs the function takes.
        runs: sizes, inputs and right outputs; none that ONNX Runtime refuses.
        planned: the same with the kernels that the planner makes of it.
    """

    region: Region
    body: KernelBody
    order: tuple[str, ...]
    runs: tuple[tuple[Mapping[str, int], Feeds, Results], ...]
    planned: bytes

    @property
    def call(self) -> bytes:
        """A file that calls the one function."""
        return to_bytes(call_of(self.body))

    def called(self, feeds: Feeds) -> Feeds:
        """Inputs under the function's own names for them."""
        names = [value.name or "" for value in self.body.inputs]
        return dict(zip(names, self.given(feeds), strict=True))

    def given(self, feeds: Feeds) -> list[np.ndarray[Any, Any]]:
        """Inputs in the order in which the function takes them."""
        given = {**self.region.constants, **feeds}
        return [given[name] for name in self.order]


def case_of(region: Region) -> RegionCase:
    """What everyone is held to.

    Raises:
        NotGenerated: there are no loops for the whole.
        NoSignature: a size depends on what nobody knows before a run.
    """
    model = loaded(region.model)
    graph = model.ir.graph
    nodes = [node for node in graph if node.op_type != "Constant"]
    known = SymbolicValues(model.ir).fact
    made = region_function(nodes, graph.outputs, known, model.ir.opset_imports)
    body = kernel_body(made.proto)
    loops_of(body)
    source = proto_of(model.ir)
    runs: list[tuple[Mapping[str, int], Feeds, Results]] = []
    for sizes in region.sizes:
        feeds = region.feeds(sizes)
        try:
            runs.append((sizes, feeds, run(source, feeds)))
        except Exception:  # noqa: S112 - the runtime refuses some of nothing, with a dozen classes
            continue
    optimize(model, Pipeline((GenerateKernels(),)))
    order = tuple(value.name or "" for value in made.inputs)
    return RegionCase(region, body, order, tuple(runs), to_bytes(model.ir))


def drawn(count: int) -> list[RegionCase]:
    """So many regions, each right when its loops are evaluated."""
    found: list[RegionCase] = []

    @settings(
        max_examples=2 * count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(regions(STEPS))
    def gather(region: Region) -> None:
        if len(found) == count:
            return
        try:
            case = case_of(region)
        except (NotGenerated, NoSignature):
            return
        if not case.runs:
            return
        told = evaluated(case)
        assert not told, told[0]
        found.append(case)

    gather()
    assert len(found) == count
    return found


def loops_of(body: KernelBody) -> Any:
    """The algorithm of a function.

    Raises:
        NotGenerated: there is none.
    """
    return algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)


def kernels_of(cases: Sequence[RegionCase], generator: GeneratorId) -> list[Kernel]:
    """All kernels of some cases that a generator has code for, each once."""
    found: dict[str, Kernel] = {}
    for case in cases:
        planned = [kernel_body(f) for f in _functions(case.planned)]
        for body in (case.body, *planned):
            kernel = None if body.name in found else kernel_of(body, generator)
            if kernel is not None:
                found[body.name] = kernel
    return list(found.values())


def _functions(model: bytes) -> list[Any]:
    import onnx

    return [one for one in onnx.load_model_from_string(model).functions if is_generated(one)]


def kernel_of(body: KernelBody, generator: GeneratorId) -> Kernel | None:
    """Its kernel; None where that generator has no loops for it."""
    try:
        algorithm = loops_of(body)
        if generator == "halide":
            default_schedule(algorithm)
    except (NotGenerated, NoSchedule):
        return None
    schedule = Schedule() if generator == "c" else None
    return Kernel(body.name, algorithm, schedule, generator, body.name)


def evaluated(case: RegionCase) -> list[str]:
    """What is wrong with the loops in NumPy."""
    algorithm = loops_of(case.body)
    return faults(case, [evaluate(algorithm, case.given(feeds)) for _, feeds, _ in case.runs])


def faults(case: RegionCase, found: Sequence[Results]) -> list[str]:
    """The first wrong element of each run, with the region as text."""
    told: list[str] = []
    for (sizes, _, right), outputs in zip(case.runs, found, strict=True):
        names = [f"y{place}" for place in range(len(right))]
        expected = dict(zip(names, right, strict=True))
        scales = {
            name: float(np.abs(array.astype(np.float64)).max(initial=1.0))
            for name, array in expected.items()
        }
        given = dict(zip(names, outputs, strict=True))
        wrong = first_wrong(given, expected, scales=scales, case=EdgeCase(sizes))
        told += [] if wrong is None else [f"{wrong}\n{case.region}"]
    return told


def run_with_library(
    library: Path, models: Sequence[tuple[bytes, Sequence[Feeds]]]
) -> list[list[list[np.ndarray[Any, Any]]]]:
    """What files give with a library of kernels, for each of their inputs; in a worker."""
    import onnx

    found: list[list[list[np.ndarray[Any, Any]]]] = []
    for model, feeds in models:
        session = library_jobs.session_of(library, onnx.load_model_from_string(model))
        names = [one.name for one in session.get_inputs()]
        found.append([session.run(None, {n: one[n] for n in names}) for one in feeds])
    return found
