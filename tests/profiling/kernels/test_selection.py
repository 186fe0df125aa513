from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import onnx
import pytest

from optimizer.errors import Cancelled, StudioError
from optimizer.findings import Status
from profiling.config import Group, RunConfig, Value
from profiling.execution.availability import availability
from profiling.kernels.candidates import BASELINE, Candidate, candidates
from profiling.kernels.confirmation import (
    AS_IT_IS,
    BOTH,
    CONFIRMATION,
    OPTIONS,
    WRITTEN,
    adopted,
    confirm,
)
from profiling.kernels.decision import Choice, choose
from profiling.kernels.hotspots import Hotspot, Hotspots
from profiling.kernels.selection import SELECTION, Selection, WorkloadRace, select
from profiling.kernels.tuning import TuningResults, export_tuning, read_tuning
from profiling.kernels.workload import TensorSize, Workload
from profiling.racing.race import Variant
from profiling.workers import WorkerPool
from tests.profiling.kernels.models import floats
from tests.profiling.kernels.races import made_race

BRIEFLY = 0.2
"""Seconds of a race that has to end well, not to tell anything."""

HERE = Status(ok=True)
NO_GPU: dict[Group, Status] = {
    "session": HERE,
    "cpu": HERE,
    "cuda": Status(
        ok=False, reason="CUDAExecutionProvider is not available: no NVIDIA driver found."
    ),
}
WITH_GPU: dict[Group, Status] = {**NO_GPU, "cuda": HERE}
TUNED = [
    {
        "ep": "CUDAExecutionProvider",
        "results": {"GemmTunableOp_float_NN": {"NN_1_64_64": 3, "NN_2_64_64": 0}},
        "validators": {"ORT_VERSION": "1.31.1"},
    }
]
"""The form that the runtime writes: operator -> parameters -> kernel number."""


def work(kind: str, key: str = "k") -> Workload:
    size = TensorSize("FLOAT", (1, 8, 8, 8))
    return Workload(key, kind, f"{kind} {key}", (kind, "Relu"), (size,), "{}")


def raced(
    key: str,
    share: float,
    latencies: Mapping[str, float],
    ways: Mapping[str, Candidate],
    *,
    wrong: str = "",
) -> WorkloadRace:
    operator = Hotspot(work("Conv", key), (("n",),), 100 * share, share)
    offered = (Candidate(BASELINE), *ways.values())
    return WorkloadRace(operator, offered, made_race(latencies, wrong=wrong))


def selected(*races: WorkloadRace) -> Selection:
    hot = Hotspots("runtime profile", 100.0, tuple(race.operator for race in races))
    return Selection(RunConfig(), hot, races)


def option(label: str, **changes: Value) -> Candidate:
    return Candidate(label, "cpu", changes)


LAYOUT = option("layout", graph_optimization="all")
FUSED = option("fused", graph_optimization="extended")
CORES = option("cores", intra_threads=0)
PRODUCT = Candidate("product", "cpu", {}, "conv-matmul")
INT8 = Candidate("int8", "cpu", {}, "conv-int8")
WAYS = {c.label: c for c in (LAYOUT, FUSED, CORES, PRODUCT, INT8)}


def test_candidates_of_a_convolution_on_the_cpu_are_distinct_and_the_gpus_say_why_not() -> None:
    found = candidates(work("Conv"), RunConfig(), NO_GPU)
    here = [c for c in found if c.target == "cpu"]
    labels = [c.label for c in found]
    assert found[0].label == BASELINE
    assert len(labels) == len(set(labels))
    assert {"NCHWc layout", "fused by the runtime", "1×1 Conv as MatMul"} <= set(labels)
    assert len({(tuple(sorted(c.changes.items())), c.reformulation) for c in here}) == len(here)
    elsewhere = [c for c in found if c.target == "cuda"]
    assert len(elsewhere) >= 18
    assert {c.unavailable for c in elsewhere} == {"no NVIDIA driver found."}


def test_candidates_on_a_gpu_cover_search_layout_and_type() -> None:
    base = RunConfig(device="cuda")
    found = candidates(work("Conv"), base, WITH_GPU)
    assert not any(c.unavailable for c in found)
    seen = {
        (c.config(base).convolution_search, c.config(base).prefer_nhwc, c.config(base).tf32,
         c.reformulation)
        for c in found
    }  # fmt: skip
    for search in ("exhaustive", "heuristic", "default"):
        for nhwc in (False, True):
            assert {(search, nhwc, True, ""), (search, nhwc, False, "")} <= seen
            assert (search, nhwc, True, "float16") in seen
    kernels = {
        c.config(base).attention_kernel for c in candidates(work("Attention"), base, WITH_GPU)
    }
    assert {"flash", "efficient", "cudnn", "math"} <= kernels
    tuned = candidates(work("MatMul"), base, WITH_GPU)
    assert any(c.config(base).tune_kernels for c in tuned)


def test_on_the_cpu_of_a_machine_with_a_gpu_its_candidates_wait_for_the_device() -> None:
    found = candidates(work("MatMul"), RunConfig(), WITH_GPU)
    assert {c.unavailable for c in found if c.target == "cuda"} == {
        "this race runs on the CPU; set device=cuda"
    }


def test_rows_are_ranked_and_no_clear_difference_keeps_what_there_is() -> None:
    ways = {"layout": LAYOUT, "cores": CORES}
    close = raced("a", 0.5, {BASELINE: 1.0, "layout": 1.0, "cores": 1.002}, ways)
    assert close.winner().candidate.label == BASELINE
    clear = raced("a", 0.5, {BASELINE: 1.0, "layout": 0.5, "cores": 2.0}, ways)
    assert [row.candidate.label for row in clear.rows()] == ["layout", BASELINE, "cores"]
    assert clear.winner().candidate.label == "layout"
    assert clear.row("cores").speedup == pytest.approx(0.5, rel=0.05)


def test_each_candidate_is_held_to_its_own_tolerance() -> None:
    ways = {"layout": LAYOUT, "int8": INT8}
    latencies = {BASELINE: 1.0, "layout": 0.5, "int8": 0.4}
    wrong = raced("a", 0.5, latencies, ways, wrong="layout")
    assert wrong.row("layout").verdict.startswith("wrong result")
    assert wrong.winner().candidate.label == BASELINE
    lossy = raced("a", 0.5, latencies, ways, wrong="int8")
    assert lossy.row("int8").believable
    assert lossy.winner().candidate.label == "layout"
    assert lossy.winner(lossy=True).candidate.label == "int8"


def test_options_are_chosen_by_what_they_save_over_all_workloads() -> None:
    ways = {"layout": LAYOUT, "fused": FUSED}
    heavy = raced("a", 0.6, {BASELINE: 1.0, "layout": 1.5, "fused": 0.8}, ways)
    light = raced("b", 0.2, {BASELINE: 1.0, "layout": 0.5, "fused": 1.0}, ways)
    choice = choose(selected(heavy, light))
    assert choice.options == {"graph_optimization": "extended"}
    assert choice.saved_by_options == pytest.approx(0.6 * 0.2, abs=0.01)
    assert not any("layout" in note for note in choice.notes)


def test_options_that_agree_are_combined_and_that_is_said() -> None:
    ways = {"layout": LAYOUT, "cores": CORES, "fused": FUSED}
    latencies = {BASELINE: 1.0, "layout": 0.5, "cores": 0.6, "fused": 0.9}
    choice = choose(selected(raced("a", 0.8, latencies, ways)))
    assert choice.options == {"graph_optimization": "all", "intra_threads": 0}
    assert choice.saved_by_options == pytest.approx(0.8 * (1 - 0.5 * 0.6), abs=0.02)
    assert any("contradicts" in note for note in choice.notes)
    assert "only the race of the whole model" in choice.notes[-1]


def test_what_two_sets_of_options_share_is_counted_once() -> None:
    ways = {
        "both": option("both", graph_optimization="all", intra_threads=0),
        "cores": CORES,
        "blocks": option("blocks", intra_threads=0, dynamic_blocks=4),
    }
    latencies = {BASELINE: 1.0, "both": 0.4, "cores": 0.6, "blocks": 0.5}
    choice = choose(selected(raced("a", 0.5, latencies, ways)))
    assert choice.options == {"graph_optimization": "all", "intra_threads": 0}
    assert choice.saved == pytest.approx(0.5 * 0.6, abs=0.02)


def test_a_reformulation_is_chosen_where_it_beats_the_chosen_options() -> None:
    ways = {"layout": LAYOUT, "product": PRODUCT}
    better = raced("a", 0.5, {BASELINE: 1.0, "layout": 0.8, "product": 0.4}, ways)
    worse = raced("b", 0.3, {BASELINE: 1.0, "layout": 0.5, "product": 0.9}, ways)
    choice = choose(selected(better, worse))
    assert choice.reformulations == {"a": "conv-matmul"}
    assert choice.saved == pytest.approx(0.5 * 0.6 + 0.3 * 0.5, abs=0.02)
    assert choice.saved_by_reformulations == pytest.approx(0.5 * 0.6, abs=0.02)


def test_wrong_options_and_fewer_bits_are_not_chosen_unasked() -> None:
    ways = {"layout": LAYOUT, "int8": INT8}
    latencies = {BASELINE: 1.0, "layout": 0.5, "int8": 0.4}
    wrong = selected(raced("a", 0.5, latencies, ways, wrong="layout"))
    assert choose(wrong) == Choice()
    assert choose(wrong, lossy=True).reformulations == {"a": "conv-int8"}


def test_only_what_is_surely_faster_in_the_whole_model_is_adopted() -> None:
    assert adopted(made_race({AS_IT_IS: 1.0, OPTIONS: 1.0, BOTH: 1.001})) == AS_IT_IS
    assert adopted(made_race({AS_IT_IS: 1.0, OPTIONS: 0.8, BOTH: 0.6, WRITTEN: 2.0})) == BOTH


@pytest.fixture(scope="module")
def selection(convolutions: bytes, shared_pool: WorkerPool) -> Selection:
    seen: list[int] = []
    with pytest.MonkeyPatch.context() as patch:  # nobody asks here which of them is faster
        patch.setattr("profiling.kernels.selection.LEAST_SECONDS", BRIEFLY)
        found = select(
            Variant("m", convolutions), pool=shared_pool, groups=availability(shared_pool),
            seconds=BRIEFLY, top=2, observe=lambda partial: seen.append(len(partial.races)),
        )  # fmt: skip
    assert seen == [1, 2]
    return found


@pytest.mark.thorough
def test_real_races_measure_every_candidate_of_this_machine(selection: Selection) -> None:
    assert [race.error for race in selection.races] == ["", ""]
    for race in selection.races:
        rows = [row for row in race.rows() if row.candidate.target == "cpu"]
        measured = [row for row in rows if row.p50_ms is not None]
        assert len(measured) >= 6
        assert all(row.believable for row in measured)
        assert all("kernel" in row.verdict or "type" in row.verdict
                   for row in rows if row.p50_ms is None)  # fmt: skip
        assert any(row.candidate.reformulation == "conv-int8" for row in measured)


@pytest.mark.thorough
def test_a_selection_survives_as_json(selection: Selection) -> None:
    data = json.loads(json.dumps(SELECTION.to_json(selection), allow_nan=False))
    again = SELECTION.from_json(data)
    assert again.hotspots == selection.hotspots
    assert [race.rows() for race in again.races] == [race.rows() for race in selection.races]
    assert again.config == selection.config
    with pytest.raises(StudioError, match="schema"):
        SELECTION.from_json({"schema": "other"})
    with pytest.raises(StudioError, match="damaged"):
        SELECTION.from_json({**data, "races": [{"error": ""}]})


@pytest.mark.thorough
def test_what_was_chosen_is_raced_in_the_whole_model(
    selection: Selection, convolutions: bytes, shared_pool: WorkerPool, tmp_path: Path
) -> None:
    key = next(r.operator.workload.key for r in selection.races if len(r.operator.nodes) == 2)
    choice = Choice({"graph_optimization": "all"}, {key: "conv-int8"}, 0.2, 0.1, 0.25)
    found = confirm(
        Variant("m", convolutions), selection, choice, pool=shared_pool, folder=tmp_path / "k",
        seconds=BRIEFLY, tuning=json.dumps(TUNED),
    )  # fmt: skip
    assert [t.label for t in found.race.timings] == [AS_IT_IS, OPTIONS, WRITTEN, BOTH]
    assert [found.race.verdict(t.label) for t in found.race.timings if not t.believable] == []
    assert found.predicted == {OPTIONS: 0.2, WRITTEN: 0.1, BOTH: 0.25}
    assert found.changed[key].places == 2
    assert "predicted" in found.finding
    assert found.file is not None
    written = onnx.load(found.file)
    assert [n.op_type for n in written.graph.node].count("ConvInteger") == 2
    assert written.metadata_props[0].key == "tuning_results"
    again = CONFIRMATION.from_json(json.loads(json.dumps(CONFIRMATION.to_json(found))))
    assert again == replace(found, file=None)


@pytest.mark.thorough
def test_nothing_to_apply_is_one_sentence(
    selection: Selection, convolutions: bytes, shared_pool: WorkerPool, tmp_path: Path
) -> None:
    with pytest.raises(StudioError, match="nothing to apply"):
        confirm(Variant("m", convolutions), selection, Choice(), pool=shared_pool, folder=tmp_path)


def test_a_selection_can_be_cancelled(convolutions: bytes, shared_pool: WorkerPool) -> None:
    seen: list[str] = []
    with pytest.raises(Cancelled):
        select(
            Variant("m", convolutions), pool=shared_pool, groups=NO_GPU, seconds=60,
            progress=lambda text, _: seen.append(text),
            cancelled=lambda: any("1 of" in text for text in seen),
        )  # fmt: skip


def test_the_cpu_keeps_no_tuning_results_and_says_so(
    write_model: Callable[..., bytes], shared_pool: WorkerPool
) -> None:
    body = "g (float[4,8] x) => (float[4,8] y) { y = MatMul(x, w) }"
    variant = Variant("m", write_model(body, {"w": floats(8, 8)}))
    found = export_tuning(variant, isolate=shared_pool)
    assert found == TuningResults("[]", 0, found.remark)
    assert "CPU provider tunes nothing" in found.remark
    with pytest.raises(StudioError, match="no list of tuning results"):
        read_tuning('{"a": 1}')


def test_tuning_results_of_a_gpu_are_counted() -> None:
    assert read_tuning(json.dumps(TUNED)).choices == 2
