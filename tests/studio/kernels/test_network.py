"""The decision about a whole network: as it is drawn, and as the page has it made."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline
from profiling.codegen.compiler import compiler_missing
from profiling.kernels.generated.decisions import DECISION, KernelDecision
from profiling.kernels.generated.network import NETWORK, NetworkDecision, finding
from profiling.kernels.generated.settling import PartRace
from profiling.records import Recording
from profiling.workers import WorkerPool
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.experiment import Equipment
from studio.kernels import network_job
from studio.kernels.network import kernel_table, outcomes
from studio.kernels.network_job import Alone, Keeping, NetworkRequest, decide, write_folder
from studio.kernels.region_page import regions_table
from studio.kernels.regions import REGIONS, PlannedRegions, RegionsRequest
from tests.profiling.kernels.generated.decided import decision
from tests.profiling.kernels.generated.test_networks import GELU, SOFTMAX, contrast, network
from tests.profiling.kernels.models import floats, parsed

MODEL = """g (float[n,12] x, float[n,12] mask) => (float[n,8] y) <float s = {0.5}> {
    a = Mul(x, s)
    b = Add(a, mask)
    c = Softmax<axis=-1>(b)
    y = MatMul(c, w)
}"""
Subject = tuple[OpenedModel, OpenedRun]


@pytest.fixture(scope="module")
def place(
    shared_pool: WorkerPool, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Store, Subject]:
    folder = tmp_path_factory.mktemp("network")
    path = folder / "net.onnx"
    path.write_bytes(parsed(MODEL, {"w": floats(12, 8)}))
    store = Store(shared_pool, root=folder / "store")
    model = store.open_file(path, name="net.onnx")
    return store, (model, store.run(model, Pipeline.of("generated")))


@pytest.fixture(scope="module")
def regions(place: tuple[Store, Subject]) -> PlannedRegions:
    store, subject = place
    return store.get(REGIONS, subject, RegionsRequest(1))


def test_a_region_is_planned_with_its_sizes_and_its_code(regions: PlannedRegions) -> None:
    (one,) = regions.kernels
    assert one.region.title == "softmax of 3 nodes: Mul, Add, Softmax"
    assert one.work.startswith("Mul + Add + Softmax on ")
    assert one.code is not None
    assert "x0: float[" in one.code.operators
    assert "Softmax <axis: int = -1>" in one.code.operators
    assert ".Vectorize(" in one.code.schedule
    assert "Parallel(" in one.code.schedule
    assert f"int {one.region.name}(" in one.code.c
    assert not one.code.refused


def test_regions_are_planned_anew_where_other_code_writes_their_kernels() -> None:
    now, other = RegionsRequest(1), RegionsRequest(1, "other")
    assert REGIONS.name(now) == REGIONS.name(RegionsRequest(1))
    assert REGIONS.name(now) != REGIONS.name(other)


def test_a_region_says_what_won_alone_and_what_became_of_it(regions: PlannedRegions) -> None:
    (one,) = regions.kernels
    name = one.region.name
    table = regions_table(regions, {}, None)
    assert (table["alone"], table["in the network"]) == (["not raced"], ["not raced"])
    alone = replace(decision(), name=name)
    table = regions_table(regions, {name: alone}, None)
    assert table["alone"] == ["Halide, before: ONNX Runtime"]
    assert table["times as fast"] == [pytest.approx(2.0, rel=0.01)]


def test_kernels_that_stay_come_first_with_their_regions_and_what_they_gain_alone() -> None:
    table = kernel_table(network(SOFTMAX.name, slow=GELU.name))
    assert table["region"] == [
        "softmax of 2 nodes: Add, Softmax, 2 times",
        "kernel of BiasGelu, 12 times",
    ]
    assert table["times as fast alone"] == [2.0, 1.5]
    assert table["in the network"] == ["stays: 1.12×", "in the network: 0.90× as fast with it"]


def test_kernels_that_were_asked_about_together_say_so() -> None:
    found = network(GELU.name, SOFTMAX.name)
    part = PartRace((GELU.name, SOFTMAX.name), contrast(1.2), True)
    found = replace(found, settled=replace(found.settled, parts=(part,)))
    assert {*outcomes(found).values()} == {"stays: 1.20× with 1 other"}


def test_a_decision_is_drawn_with_times_before_and_after_and_the_way_to_run_it() -> None:
    def script(document: object) -> None:
        from profiling.kernels.generated.network import NETWORK
        from studio.kernels.network import show_network

        show_network(NETWORK.from_json(document))

    document = json.loads(NETWORK.dumps(network(GELU.name, SOFTMAX.name)))
    app = AppTest.from_function(script, args=(document,), default_timeout=60).run()
    assert not app.exception
    assert "2 ms a run without kernels, 1.6 ms with those that stay" in app.caption[
        0
    ].value.replace("\\", "")
    assert "Other code writes the kernels now" in app.text[0].value


def decided(
    place: tuple[Store, Subject],
    shared_pool: WorkerPool,
    monkeypatch: pytest.MonkeyPatch,
    found: NetworkDecision,
) -> tuple[list[Recording], list[Alone], NetworkDecision]:
    """What the job keeps and publishes where races take no time."""
    store, subject = place
    alone = decision()

    def kernels(_kernels: Any, shelf: Any, **_: Any) -> dict[str, KernelDecision]:
        shelf.keep(alone)
        return {alone.name: alone}

    def together(*_args: Any, **_: Any) -> NetworkDecision:
        return found

    monkeypatch.setattr(network_job, "compiler_missing", str)
    monkeypatch.setattr(network_job, "decide_kernels", kernels)
    monkeypatch.setattr(network_job, "decide_together", together)
    kept, told = list[Recording](), list[Alone]()

    def keep(recording: Recording) -> int:
        kept.append(recording)
        return len(kept)

    bench = Equipment(store, shared_pool, subject, partial=told.append)
    return kept, told, decide(bench, NetworkRequest(), Keeping(lambda _key: None, keep))


def test_every_decision_is_kept_and_published_as_soon_as_it_is_made(
    place: tuple[Store, Subject], shared_pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = network(GELU.name, SOFTMAX.name)
    kept, told, found = decided(place, shared_pool, monkeypatch, wanted)
    assert found == wanted
    single, whole = kept
    assert DECISION.reads(single.payload)
    assert NETWORK.reads(whole.payload)
    assert whole.title == finding(wanted)
    assert whole.model_hash == place[1][0].summary.digest
    assert [*told[0].decisions] == [decision().name]


def test_what_stays_is_written_as_a_folder_and_kernels_of_before_are_not(
    place: tuple[Store, Subject], shared_pool: WorkerPool, regions: PlannedRegions
) -> None:
    if missing := compiler_missing():
        pytest.skip(missing)
    store, subject = place
    found = network(GELU.name, SOFTMAX.name)
    bench = Equipment(store, shared_pool, subject)
    with pytest.raises(StudioError, match="race the network once more"):
        write_folder(bench, found)
    name = regions.kernels[0].region.name
    now = replace(found, settled=replace(found.settled, kept=(name,)))
    packed: Path = write_folder(bench, now)
    with zipfile.ZipFile(packed) as archive:
        assert {"model.onnx", "kernels.so", "run.py", "run.c"} <= {*archive.namelist()}
