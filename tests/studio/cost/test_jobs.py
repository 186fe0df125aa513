"""What rewrites are worth, from an open run to a recording and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline
from profiling.config import RunConfig
from profiling.config.question import config_for
from profiling.records.recording import Recording
from profiling.workers import WorkerPool
from profiling.worth.waterfall import METRICS, By, waterfall
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.cost.ablation.job import ABLATION_EXPERIMENT, AblationReport, AblationRequest
from studio.cost.break_even.job import BREAK_EVEN_EXPERIMENT, BreakEvenRequest
from studio.cost.trace_costs import steps_text, trace_costs
from studio.cost.waterfall.figure import signed_text, static_waterfall
from studio.cost.waterfall.job import WATERFALL_EXPERIMENT, WaterfallReport
from studio.cost.worth import WorthRequest
from studio.experiment import Equipment, Keep
from studio.gallery import gallery
from studio.history.opened import OPENERS
from tests.lanes import slow_but

pytestmark = pytest.mark.long

Subject = tuple[OpenedModel, OpenedRun]


@pytest.fixture(scope="module")
def store(pool: WorkerPool, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(pool, root=tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def tour(store: Store) -> Subject:
    model = store.open_file(gallery.open_path("tour"), name="tour")
    return model, store.run(model, Pipeline.of("default"))


@pytest.fixture(scope="module")
def hidden(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Subject:
    path = tmp_path_factory.mktemp("model") / "hidden.onnx"
    path.write_bytes(hidden_batch_norm())
    model = store.open_file(path, name="hidden")
    return model, store.run(model, Pipeline.of("default"))


def keeping(kept: list[Recording]) -> Keep:
    def keep(recording: Recording) -> int:
        kept.append(recording)
        return 7

    return keep


def reread(recording: Recording) -> object:
    """Through text, as a database and a bundle do."""
    payload = json.loads(json.dumps(recording.payload, allow_nan=False))
    (found,) = (e.form.from_json(payload) for e, _ in OPENERS if e.form.reads(payload))
    return found


@pytest.mark.parametrize("network", slow_but(["tour", "resnet50"], ["tour", "resnet50", "gpt2"]))
def test_static_bars_of_a_real_network_add_up_to_its_totals(store: Store, network: str) -> None:
    model = store.open_file(gallery.open_path(network), name=network)
    run = store.run(model, Pipeline.of("runtime"))
    costs = trace_costs(store, model, run)
    ways: tuple[By, ...] = ("pass", "rule", "step")
    for metric in METRICS:
        assert tuple(costs.totals[metric]) == run.result.totals[metric]
        for by in ways:
            found = waterfall(costs.steps, costs.totals, metric=metric, by=by)
            assert found.elsewhere == 0
            labels = [bar.pass_id for bar in found.bars]
            families = [costs.names[bar.pass_id].family for bar in found.bars]
            figure, rows = static_waterfall(found, labels, families)
            drawn = [bar for row in rows for bar in row]
            assert sorted(drawn, key=hash) == sorted(found.bars, key=hash)
            plot: Any = figure
            traces: list[Any] = list(plot.data)
            moved = sum(trace.x[0] for trace in traces if trace.type == "bar")
            ends = [trace.x[0] for trace in traces if trace.type == "scatter"]
            assert moved == pytest.approx(ends[1] - ends[0], abs=1e-6)


def test_a_measured_waterfall_is_kept_and_comes_back_as_it_was(
    store: Store, pool: WorkerPool, hidden: Subject
) -> None:
    kept: list[Recording] = []
    partial: list[WaterfallReport] = []
    request = WorthRequest(RunConfig(), seconds=2)
    bench = Equipment(store, pool, hidden, partial=partial.append)
    report = WATERFALL_EXPERIMENT.conducted(bench, request, keeping(kept))
    (recording,) = kept
    assert (recording.kind, recording.title) == ("worth", report.title)
    assert report.title.startswith("Bare · ")
    assert recording.measurements[0].label == "source"
    assert recording.measurements[0].p50_ms
    assert partial
    again = reread(recording)
    assert isinstance(again, WaterfallReport)
    assert again.title == report.title
    assert again.measured.segments == report.measured.segments
    assert again.steps == report.steps
    assert WATERFALL_EXPERIMENT.recording(again) == recording


def test_leaving_out_a_pass_shows_what_others_could_not_do_without_it(
    store: Store, pool: WorkerPool, hidden: Subject
) -> None:
    kept: list[Recording] = []
    request = AblationRequest(RunConfig(), 1, Pipeline.of("default"))
    report = ABLATION_EXPERIMENT.conducted(Equipment(store, pool, hidden), request, keeping(kept))
    worth = {entry.pass_id: entry for entry in report.ablation.worth("nodes")}
    identity, fuse = worth["eliminate-identity"], worth["fuse-conv-batch-norm"]
    assert (identity.fired, identity.alone, identity.missing) == (1, 1, 2)
    assert identity.others == {"fuse-conv-batch-norm": -1}
    assert (fuse.fired, fuse.alone, fuse.missing) == (1, 0, 1)
    assert report.title == "Remove Identity is missed most: +2 nodes without it"
    assert report.race is not None
    assert set(report.raced) == {"", "eliminate-identity", "fuse-conv-batch-norm"}
    assert report.slower_without("eliminate-identity") is not None
    again = reread(kept[0])
    assert isinstance(again, AblationReport)
    assert again.ablation.worth("nodes") == report.ablation.worth("nodes")
    assert again.race == report.race


def hidden_batch_norm() -> bytes:
    """A BatchNormalization behind an Identity behind a Conv."""
    weights = np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)
    vectors = {
        name: np.full(4, value, np.float32) for name, value in zip("sbmv", range(1, 5), strict=True)
    }
    shape = [1, 3, 8, 8]
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["c"]),
            helper.make_node("Identity", ["c"], ["i"]),
            helper.make_node("BatchNormalization", ["i", *"sbmv"], ["y"]),
        ],
        "hidden",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 6, 6])],
        [numpy_helper.from_array(v, n) for n, v in {"w": weights, **vectors}.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, ir_version=8, opset_imports=opsets).SerializeToString()


def test_a_break_even_takes_the_optimizers_own_seconds_and_tuning_into_account(
    store: Store, pool: WorkerPool, tour: Subject
) -> None:
    kept: list[Recording] = []
    request = BreakEvenRequest(config_for("deployed", {}), seconds=2, tune_s=5)
    report = BREAK_EVEN_EXPERIMENT.conducted(Equipment(store, pool, tour), request, keeping(kept))
    result = report.result
    assert result is not None
    assert report.title == f"Deployed · {result}"
    assert report.race.question == "deployed"
    assert result.after.optimize_s == tour[1].result.seconds
    assert result.after.tune_s == 5
    assert result.before.optimize_s == result.before.tune_s == 0
    assert result.before.create_s > 0
    assert result.after.first_s > 0
    assert reread(kept[0]) == replace(report, record_id=None)
    untuned = report.with_tuning(0).result
    assert untuned is not None
    assert untuned.extra_s == pytest.approx(result.extra_s - 5)


def test_equal_requests_have_equal_keys_and_other_options_another(tour: Subject) -> None:
    plain, threads = RunConfig(), RunConfig(intra_threads=2)
    key = BREAK_EVEN_EXPERIMENT.key
    first = key(tour, BreakEvenRequest(plain, 10))
    assert first == key(tour, BreakEvenRequest(RunConfig(), 10))
    assert first == key(tour, BreakEvenRequest(RunConfig(), 10, tune_s=5))
    assert first != key(tour, BreakEvenRequest(threads, 10))


def test_a_damaged_recording_is_one_sentence() -> None:
    form = WATERFALL_EXPERIMENT.form
    with pytest.raises(StudioError, match="This is no recorded waterfall"):
        form.from_json({"section": "other"})
    with pytest.raises(StudioError, match="This recorded waterfall is damaged"):
        form.from_json({"schema": form.schema})


def test_amounts_and_steps_are_short() -> None:
    assert signed_text(-16_800, "bytes") == "−16.4 KiB"
    assert signed_text(3, "nodes") == "+3 nodes"
    assert signed_text(-1, "nodes") == "−1 node"
    assert steps_text((4,)) == "step 4"
    assert steps_text((4, 5, 6)) == "steps 4–6"
    assert steps_text((4, 6)) == "2 steps between 4 and 6"


def test_bars_of_generated_kernels_are_called_by_their_regions(store: Store) -> None:
    model = store.open_file(gallery.open_path("bert"), name="bert")
    run = store.run(model, Pipeline.of("generated"))
    costs = trace_costs(store, model, run)
    bars = waterfall(costs.steps, costs.totals, metric="nodes", by="rule").bars
    told = [bar.rule for bar in bars if costs.names[bar.pass_id].family == "kernels"]
    assert told
    assert len(set(told)) == len(told)
    assert all(" of " in one and not one.endswith("RegionAsKernel") for one in told)
    assert [step.rule for step in costs.steps if step.rule.startswith(("softmax", "norm"))]
