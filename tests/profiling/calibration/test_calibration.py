"""This machine calibrated for real, and what the parts of it promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import onnx_ir as ir
import pytest

from optimizer.cost import Sizes
from optimizer.cost.classes import MOVING, OperatorClass
from optimizer.cost.device import DeviceProfile, Level
from optimizer.cost.devices import CORTEX_X4
from optimizer.cost.predict import BROADCAST, predict, predict_graph
from optimizer.errors import Cancelled, RunError
from profiling.calibration import (
    CALIBRATED,
    CalibrationError,
    cached,
    calibrate,
    launches,
)
from profiling.calibration.calibrate import Timings, cache_sizes, path_of, profile_of
from profiling.calibration.derive import derive, footprints, levels, samples
from profiling.calibration.launches import launches_of
from profiling.calibration.micro import Micro, model_of
from profiling.calibration.table import BANDWIDTH, LAUNCH, PACKING, micros
from profiling.calibration.timing import node_times
from profiling.workers import WorkerPool

CACHES = (2 << 20, 32 << 20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("calibration")


@pytest.fixture(scope="module")
def device(shared_pool: WorkerPool, folder: Path) -> DeviceProfile:
    assert cached(folder) is None
    return calibrate(shared_pool, folder=folder)


@pytest.mark.thorough
@pytest.mark.alone
def test_a_calibrated_machine_knows_every_class_and_is_found_again(
    device: DeviceProfile, folder: Path
) -> None:
    computing = set(OperatorClass) - MOVING - {
        OperatorClass.VIEW, OperatorClass.CONTROL, OperatorClass.TRANSCENDENTAL,
    }  # fmt: skip
    assert computing <= set(device.rates)
    assert set(device.strided) == MOVING
    assert device.measured
    assert device.threads == 1
    assert cached(folder) == device


@pytest.mark.thorough
@pytest.mark.alone
def test_what_was_measured_is_plausible(device: DeviceProfile) -> None:
    rates = [curve.best for curve in device.rates.values()]
    assert all(1e6 < rate < 1e14 for rate in rates)
    assert all(1e7 < level.bytes_per_s < 1e13 for level in device.levels)
    assert device.element_operations["Tanh"] > device.element_operations["Relu"]
    dense, depthwise = OperatorClass.DENSE_CONV, OperatorClass.DEPTHWISE_CONV
    assert device.rates[dense].best > device.rates[depthwise].best


@pytest.mark.thorough
@pytest.mark.alone
def test_a_longer_product_is_predicted_to_take_longer(device: DeviceProfile) -> None:
    times: list[float] = []
    for rows in (64, 512):
        node = model_of(Micro("MatMul", ((rows, 256),), ((256, 256),))).graph[0]
        found = predict(node, Sizes(), device)
        assert found is not None
        times.append(found.parts.compute_us)
    assert times[1] > 4 * times[0]


@pytest.mark.thorough
@pytest.mark.alone
def test_other_threads_and_a_broken_file_are_not_found(
    device: DeviceProfile, folder: Path, tmp_path: Path
) -> None:
    assert device.measured
    assert cached(folder, replace(CALIBRATED, intra_threads=2)) is None
    path_of(tmp_path).write_text("{}")
    assert cached(tmp_path) is None


def test_a_cancelled_calibration_keeps_nothing(shared_pool: WorkerPool, tmp_path: Path) -> None:
    with pytest.raises((Cancelled, RunError)):
        calibrate(shared_pool, folder=tmp_path, cancelled=lambda: True)
    assert list(tmp_path.iterdir()) == []


def test_every_micro_model_has_a_class_and_a_shape() -> None:
    table = micros(footprints(CACHES))
    assert len(samples(table, [10.0] * len(table))) == len(table)


def test_a_rate_is_what_is_counted_over_the_time_without_the_launch() -> None:
    table = micros(footprints(CACHES))
    times = [2.0 if one.purpose == LAUNCH else 12.0 for one in table]
    rates = derive(samples(table, times)).rates
    width, rate = rates[OperatorClass.GEMM].points[-1]
    assert width == 256
    assert rate == pytest.approx(2 * 256 * 512 * 512 / 10e-6)


def test_a_micro_model_that_did_not_run_is_left_out() -> None:
    table = micros(footprints(CACHES))
    times = [None if one.operator == "Softmax" else 12.0 for one in table]
    found = derive(samples(table, times))
    assert OperatorClass.SOFTMAX not in found.rates
    assert OperatorClass.GEMM in found.rates


def test_an_operator_unlike_its_class_has_a_pace_of_its_own() -> None:
    table = micros(footprints(CACHES))
    plain = derive(samples(table, [12.0] * len(table)))
    slow = derive(samples(table, [900.0 if m.operator == "LRN" else 12.0 for m in table]))
    assert slow.rates == plain.rates
    assert slow.operators["LRN"].best < plain.operators["LRN"].best / 50


@pytest.mark.thorough
@pytest.mark.parametrize(("load", "told"), [(0.1, False), (64.0, True)])
def test_a_busy_machine_is_told(load: float, told: bool) -> None:
    table = micros(footprints(cache_sizes()))
    launched = {node.name or "": 2.0 for node in launches.model().graph}
    timings = Timings(launched, (12.0,) * len(table), load)
    assert ("busy (load 64.0)" in profile_of(timings).source) == told


def test_without_launches_there_is_no_profile() -> None:
    table = micros(footprints(cache_sizes()))
    with pytest.raises(CalibrationError, match="refused too many"):
        profile_of(Timings({}, (12.0,) * len(table), 0.1))


def test_of_several_rounds_the_faster_half_counts() -> None:
    rounds = [
        Timings({"a": us, "b": 1.0}, (us, None, None if us > 5 else us), us)
        for us in (4.0, 90.0, 2.0, 50.0)
    ]
    found = Timings.over(rounds)
    assert found == Timings({"a": 3.0, "b": 1.0}, (3.0, None, 2.0), 2.0)
    assert Timings.over(rounds[:1]) == rounds[0]


def streaming(table: Sequence[Micro]) -> list[float | None]:
    """1 ns to read four bytes and 2 ns to write them; 10 µs for all else, without a launch."""
    times: list[float | None] = []
    for one in table:
        elements = one.inputs[0][0] if one.purpose == BANDWIDTH else 0
        times.append(elements * (len(one.inputs) + 2) / 1e3 if elements else 10.0)
    times[0] = 0.0
    return times


def test_bandwidths_tell_reading_from_writing() -> None:
    table = micros(footprints(CACHES))
    found = levels(samples(table, streaming(table)), CACHES)
    assert len(found) == len(footprints(CACHES))
    for level in found:
        assert level.bytes_per_s == pytest.approx(4e9)
        assert level.writing == pytest.approx(2e9)


def test_a_level_that_was_disturbed_is_no_slower_than_the_one_behind_it() -> None:
    table = micros(footprints(CACHES))
    per_element = [(9.0, 9.5), (2.0, 2.9), (2.5, 2.6)]
    streams = iter(ns for level in per_element for ns in level)
    times: list[float | None] = []
    for one in table:
        times.append(one.inputs[0][0] * next(streams) / 1e3 if one.purpose == BANDWIDTH else 5.0)
    times[0] = 0.0
    found = levels(samples(table, times), CACHES)
    for rates in ([one.bytes_per_s for one in found], [one.writing for one in found]):
        assert rates == sorted(rates, reverse=True)


def test_only_products_with_a_variable_right_side_are_for_packing() -> None:
    for one in micros(footprints(CACHES)):
        if one.purpose == PACKING:
            assert (one.operator, len(one.inputs), one.weights) == ("MatMul", 2, ())


def test_every_kind_of_tiny_operator_comes_several_times_between_sweeps() -> None:
    names = [node.name or "" for node in launches.model().graph]
    counts = Counter(name.split()[0] for name in names)
    sweeps = counts.pop(launches.APART)
    assert min(counts.values()) >= 20
    assert sweeps > 10


def test_no_two_tiny_nodes_share_a_constant() -> None:
    readers = Counter(
        value.name
        for node in launches.model().graph
        for value in node.inputs
        if value is not None and value.is_initializer()
    )
    assert set(readers.values()) == {1}


def test_launches_are_found_again_near_and_far() -> None:
    near_bytes = 1 << 20
    warm_us = {"Shape": 1.0, "Concat": 3.0, BROADCAST: 4.0}
    levels = (Level("near", near_bytes, 1e11), Level("memory", None, 1e10))
    device = replace(CORTEX_X4, levels=levels, launch_us=2.0, launches_us=warm_us, far_us=0.25)
    nodes = predict_graph(launches.model().graph, Sizes(), device).nodes
    found_us, far_us = launches_of({node.name: node.parts.emit_us for node in nodes}, near_bytes)
    assert far_us == pytest.approx(0.25)
    for operator, us in found_us.items():
        assert us == pytest.approx(warm_us.get(operator, 2.0))
    assert set(warm_us) < set(found_us)


def test_a_disturbed_launch_changes_little() -> None:
    times = {node.name or "": 3.0 for node in launches.model().graph}
    first = next(name for name in times if name.startswith("Slice"))
    found_us, _ = launches_of(times | {first: 3000.0}, 1 << 20)
    assert found_us["Slice"] == pytest.approx(3.0, rel=0.1)


def test_the_time_of_a_node_is_that_of_its_fastest_runs() -> None:
    model = model_of(Micro("Add", ((64,), (64,))))
    here = replace(CALIBRATED, denormals_as_zero=False)  # this process runs other tests too
    times = node_times(model, here, runs=4)
    assert list(times) == ["node"]
    assert 0 <= times["node"] < 1e6
    assert isinstance(model, ir.Model)
