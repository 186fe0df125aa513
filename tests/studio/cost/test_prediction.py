"""Predicted times of an open run: step by step, node by node, and kept on disk."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from optimizer.cost.device import DEVICE_FORM, DeviceProfile, Level
from optimizer.cost.devices import CORTEX_X4, H200
from optimizer.cost.node import node_cost
from optimizer.cost.predict import predict_graph
from optimizer.cost.sizes import Sizes
from optimizer.model.graph import walk_nodes
from optimizer.model.loader import load_path
from optimizer.pipeline import Pipeline
from optimizer.rewrite.trace_file import open_trace_over
from profiling.workers import WorkerPool
from profiling.worth.waterfall import waterfall
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.cost.prediction.job import (
    PREDICTED_GRAPH,
    PREDICTED_STEPS,
    STEPS_FORM,
    PredictedSteps,
    device_text,
)
from studio.cost.prediction.steps import PricedSteps
from studio.cost.trace_costs import trace_costs
from studio.cost.waterfall.figure import elsewhere_label, static_waterfall
from studio.gallery import gallery

pytestmark = pytest.mark.long

Subject = tuple[OpenedModel, OpenedRun]


@pytest.fixture(scope="module")
def store(pool: WorkerPool, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(pool, root=tmp_path_factory.mktemp("store"))


def opened(store: Store, name: str) -> Subject:
    model = store.open_file(gallery.open_path(name), name=name)
    return model, store.run(model, Pipeline.of("runtime"))


def with_cache(device: DeviceProfile, size_bytes: int) -> DeviceProfile:
    """The device with one cache: weights that outgrow it are read ten times slower."""
    return replace(device, levels=(Level("cache", size_bytes, 1e11), Level("memory", None, 1e10)))


@pytest.mark.parametrize(
    ("network", "every"), [("tour", 1), pytest.param("gpt2", 25, marks=pytest.mark.slow)]
)
def test_walking_the_trace_gives_at_every_step_what_the_whole_graph_gives(
    store: Store, network: str, every: int
) -> None:
    _model, run = opened(store, network)
    cursor = open_trace_over(run.files.trace, load_path(run.files.source).ir)
    sizes = Sizes.of(cursor.seek(0).graph)
    nodes = walk_nodes(cursor.model.graph)
    weights = sum(cost.weight_bytes for node in nodes if (cost := node_cost(node, sizes)))
    device = with_cache(CORTEX_X4, weights - 1)
    priced = PricedSteps(cursor.state, device)
    total, checked = priced.total_ns, 0
    for rewrite in cursor.trace.rewrites:
        cursor.seek(rewrite.step)
        total += priced.after(rewrite)
        assert priced.total_ns == total
        if rewrite.step % every == 0 or rewrite.step == cursor.trace.steps:
            anew = predict_graph(cursor.model.graph, Sizes.of(cursor.model.graph), device)
            assert total == sum(round(1000 * node.parts.total_us) for node in anew.nodes)
            assert priced.unknown == len(anew.unknown)
            checked += 1
    assert checked > 10


def test_weights_that_come_to_fit_into_a_cache_change_the_time_of_nodes_nobody_touched(
    store: Store,
) -> None:
    _model, run = opened(store, "tour")
    cursor = open_trace_over(run.files.trace, load_path(run.files.source).ir)

    def weights() -> int:
        sizes = Sizes.of(cursor.model.graph)
        costs = (node_cost(node, sizes) for node in walk_nodes(cursor.model.graph))
        return sum(cost.weight_bytes for cost in costs if cost is not None)

    cursor.seek(0)
    before = weights()
    cursor.seek(cursor.trace.steps)
    after = weights()
    assert after != before
    cursor.seek(0)
    device = with_cache(CORTEX_X4, min(before, after))
    priced = PricedSteps(cursor.state, device)
    for rewrite in cursor.trace.rewrites:
        cursor.seek(rewrite.step)
        priced.after(rewrite)
    anew = predict_graph(cursor.model.graph, Sizes.of(cursor.model.graph), device)
    assert priced.total_ns == sum(round(1000 * node.parts.total_us) for node in anew.nodes)


COLD = replace(with_cache(CORTEX_X4, 1 << 16), far_us=0.5)


@pytest.mark.parametrize("device", [H200, COLD], ids=["sheet", "cold caches"])
def test_a_worker_predicts_a_run_once_and_finds_it_again(
    store: Store, pool: WorkerPool, device: DeviceProfile
) -> None:
    subject = opened(store, "tour")
    run = subject[1]
    found = store.get(PREDICTED_STEPS, subject, device_text(device))
    assert len(found.changes_ns) == run.result.steps
    first, last = (
        store.get(PREDICTED_GRAPH, subject, (step, device_text(device)))
        for step in (0, len(found.changes_ns))
    )
    assert found.before_ns == pytest.approx(1000 * first.total_us, rel=1e-3)
    assert found.after_ns == pytest.approx(1000 * last.total_us, rel=1e-3)
    assert found.unknown == (first.unknown, last.unknown)

    def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("computed again")

    idle = Store(refuse, root=store.root)
    assert idle.get(PREDICTED_STEPS, subject, device_text(device)) == found
    assert idle.get(PREDICTED_GRAPH, subject, (0, device_text(device))) == first


def test_colder_caches_elsewhere_get_a_row_of_their_own(store: Store, pool: WorkerPool) -> None:
    subject = opened(store, "gpt2")
    costs = trace_costs(store, *subject).with_predicted(
        store.get(PREDICTED_STEPS, subject, device_text(COLD))
    )
    found = waterfall(costs.steps, costs.totals, metric="predicted")
    assert found.elsewhere
    assert abs(found.elsewhere) < abs(found.after - found.before) / 5
    names = [bar.pass_id for bar in found.bars]
    figure, rows = static_waterfall(found, names, ["fusion"] * len(names))
    assert rows[-1] == ()
    changes = [sum(bar.change for bar in row) for row in rows[:-1]]
    assert sum(changes) + found.elsewhere == found.after - found.before
    assert elsewhere_label(found) in str(figure.to_json())


def test_a_device_calibrated_anew_is_another_device() -> None:
    assert device_text(H200) == device_text(replace(H200))
    assert device_text(replace(H200, launch_us=5.0)) != device_text(H200)
    assert DEVICE_FORM.to_json(H200) == DEVICE_FORM.to_json(replace(H200))


def test_steps_come_back_as_they_were_written() -> None:
    found = PredictedSteps(5000, 4010, (-1000, 20), (1, 0))
    assert STEPS_FORM.loads(STEPS_FORM.dumps(found)) == found
