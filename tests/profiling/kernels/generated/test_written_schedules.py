"""Schedules in models: written by the pass or into a file, built from there, taken out again."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import onnx_ir as ir
import pytest

from optimizer.errors import StudioError
from optimizer.fusion.algorithm import algorithm_of
from optimizer.isolation import within_worker
from optimizer.loops.schedule import Schedule, Split, Vectorize
from optimizer.model.generated_functions import KernelBody, kernel_bodies
from optimizer.model.loader import load_bytes, load_path
from optimizer.model.scheduled_functions import KERNEL_SCHEDULES, KernelSchedules
from optimizer.model.writer import write
from optimizer.operators.generated import GENERATED, unscheduled
from optimizer.passes.kernels.generate_kernels import GenerateKernels
from optimizer.pipeline import Pipeline
from optimizer.rewrite.driver import optimize
from optimizer.rewrite.trace import Trace
from optimizer.source import complete
from optimizer.verify import verify
from profiling.codegen.store import kernels_of
from profiling.kernels.generated.decisions import keep
from profiling.kernels.generated.own_schedules import OwnSchedule, keep_own, with_schedules
from profiling.kernels.generated.settling import without_kernels
from profiling.kernels.generated.won_schedules import with_schedules_of, with_won_schedules
from profiling.records import DatabaseRefused, Records
from profiling.workers import WorkerPool
from tests.profiling.kernels.generated.test_own_schedules import MINE, with_own
from tests.profiling.kernels.models import floats, parsed

NETWORK = """g (float[64,512] x, float[64,512] mask) => (float[64,8] y) <float s = {0.5}> {
    a = Mul(x, s)
    b = Add(a, mask)
    c = Softmax<axis=-1>(b)
    y = MatMul(c, w)
}"""
PLAIN = Pipeline.of("generated")
SOURCE = parsed(NETWORK, {"w": floats(512, 8)})


def made(pipeline: Pipeline, target: Path) -> Trace:
    """The network after a pipeline, as a file."""
    model = complete(load_bytes(SOURCE, name="net.onnx"), isolate=within_worker)
    trace = optimize(model, pipeline, isolate=within_worker)
    write(model.ir, target)
    return trace


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("written") / "plain.onnx"
    made(PLAIN, target)
    return target


@pytest.fixture(scope="module")
def body(plain: Path) -> KernelBody:
    (found,) = kernel_bodies(plain).values()
    return found


@pytest.fixture(scope="module")
def own(body: KernelBody) -> OwnSchedule:
    """Its last Func in vectors of eight."""
    loops = algorithm_of(body.nodes, body.inputs, body.outputs, body.known, body.opset)
    func = loops.outputs[0]
    axis = loops.by_name[func].axes[-1].name
    order = Schedule((Split(func, axis, "o", "lane", 8), Vectorize(func, "lane")))
    return OwnSchedule(body.name, "mine", order)


def calls(path: Path) -> list[str]:
    """Names of the generated functions that a file calls."""
    return [node.op_type for node in ir.load(path).graph if node.domain == GENERATED]


def test_the_pass_writes_a_schedule_into_the_function_that_it_is_for(
    own: OwnSchedule, tmp_path: Path
) -> None:
    target = tmp_path / "own.onnx"
    trace = made(with_schedules_of(PLAIN, {own.kernel: own}), target)
    (found,) = kernel_bodies(target).values()
    assert (found.schedule, unscheduled(found.name)) == (own.schedule, own.kernel)
    assert calls(target) == [found.name]
    (step,) = [one for one in trace.rewrites if one.pass_id == GenerateKernels.id]
    assert step.reason.endswith("Its loops are in an order of their own.")
    (kernel,) = kernels_of(target, "halide")
    assert kernel.schedule == own.schedule


def test_a_schedule_of_another_kernel_changes_nothing(plain: Path, tmp_path: Path) -> None:
    target = tmp_path / "same.onnx"
    made(with_schedules_of(PLAIN, {MINE.kernel: MINE}), target)
    assert calls(target) == calls(plain)


def test_a_document_that_is_none_is_refused_by_the_pass(tmp_path: Path) -> None:
    pipeline = Pipeline((GenerateKernels(schedules="{}"),))
    with pytest.raises(StudioError, match="schedules of kernels"):
        made(pipeline, tmp_path / "none.onnx")


def test_a_file_gets_schedules_and_loses_the_kernel_under_its_plain_name(
    plain: Path, own: OwnSchedule, tmp_path: Path
) -> None:
    target, taken = tmp_path / "own.onnx", tmp_path / "none.onnx"
    named = with_schedules(plain, {own.kernel: own.schedule, MINE.kernel: MINE.schedule}, target)
    assert [*named] == [own.kernel]
    assert calls(target) == [named[own.kernel]]
    without_kernels(target, [own.kernel], taken)
    assert calls(taken) == []


def test_what_won_a_race_goes_into_the_pipeline_of_this_machine_alone(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_own(MINE, records)
    keep(with_own(0.5), records)
    found = with_won_schedules(PLAIN, lambda: records)
    (one,) = [each for each in found.passes if isinstance(each, GenerateKernels)]
    told = KERNEL_SCHEDULES.loads(one.schedules.encode())
    assert told == KernelSchedules({MINE.kernel: MINE.schedule})
    assert with_won_schedules(found, refused) == found  # it has some
    assert with_won_schedules(Pipeline.of("default"), refused) == Pipeline.of("default")


def refused() -> Records:
    raise DatabaseRefused("It does not answer.")


def test_without_a_database_kernels_are_in_their_default_order() -> None:
    assert with_won_schedules(PLAIN, refused) == PLAIN


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    with Records(f"sqlite:///{tmp_path}/records.sqlite") as found:
        yield found


@pytest.mark.skipif(importlib.util.find_spec("halide") is None, reason="needs Halide")
def test_a_network_with_a_schedule_of_its_own_computes_the_same(
    own: OwnSchedule, tmp_path: Path, shared_pool: WorkerPool
) -> None:
    source, target = tmp_path / "source.onnx", tmp_path / "own.onnx"
    source.write_bytes(SOURCE)
    made(with_schedules_of(PLAIN, {own.kernel: own}), target)
    assert not verify(source, target, isolate=shared_pool).failed
    assert load_path(target).ir.graph.num_nodes() == 2
