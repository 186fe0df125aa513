"""Why fusion pays: chains of a model, what they move, and a race of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimizer.cost.device import DeviceProfile
from optimizer.cost.devices import CORTEX_X4, H200
from optimizer.errors import StudioError
from optimizer.model.graph import node_id
from optimizer.model.loader import load_path
from optimizer.pipeline import Pipeline
from profiling.machine import this_machine
from profiling.records import Recording
from profiling.workers import WorkerPool
from studio.artifacts import opened
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.cost.fusion.chain import Chain, chain_of, find_chains
from studio.cost.fusion.examples import EXAMPLES
from studio.cost.fusion.figure import fusion_bars, fusion_title
from studio.cost.fusion.fusion import FUSION_FORM
from studio.cost.fusion.job import ChainRequest, Explained, explained
from studio.cost.fusion.memory_figure import memory_picture
from studio.cost.fusion.race import (
    AS_IT_IS,
    FUSION_EXPERIMENT,
    PASSES,
    RUNTIME,
    FusionRaceRequest,
    fusion_finding,
    variants_of,
)
from studio.cost.prediction.job import device_text
from studio.experiment import Equipment
from studio.gallery import gallery
from studio.race.job import RACE_EXPERIMENT

pytestmark = pytest.mark.long

Subject = tuple[OpenedModel, OpenedRun]


@pytest.fixture(scope="module")
def tour(pool: WorkerPool, tmp_path_factory: pytest.TempPathFactory) -> Subject:
    store = Store(pool, root=tmp_path_factory.mktemp("store"))
    model = store.open_file(gallery.open_path("tour"), name="tour")
    return model, store.run(model, Pipeline.of("default"))


@pytest.fixture(scope="module")
def chains(pool: WorkerPool, tour: Subject) -> tuple[Chain, ...]:
    return pool(find_chains, tour[1].files)


def on_device(
    pool: WorkerPool, subject: Subject, request: ChainRequest, device: DeviceProfile
) -> Explained:
    store = Store(pool, root=subject[0].folder.parents[1])
    return explained(store, subject, (request, device_text(device)))


def example(pool: WorkerPool, subject: Subject, name: str, **dims: int) -> Explained:
    request = ChainRequest(name, example=name, dims=tuple(sorted(dims.items())))
    return on_device(pool, subject, request, CORTEX_X4)


def test_the_chains_of_a_model_are_found_with_their_places(chains: tuple[Chain, ...]) -> None:
    titles = [chain.title for chain in chains]
    assert any("BatchNormalization + Relu" in title for title in titles)
    assert all(len(chain.nodes) > 1 and chain.places >= 1 for chain in chains)
    moved = [chain.between_bytes * chain.places for chain in chains]
    assert moved == sorted(moved, reverse=True)


def test_conv_batch_norm_relu_goes_from_three_launches_and_six_trips_to_one_and_two(
    pool: WorkerPool, tour: Subject, chains: tuple[Chain, ...]
) -> None:
    chain = next(chain for chain in chains if "BatchNormalization + Relu" in chain.title)
    found = on_device(pool, tour, ChainRequest(chain.title, chain.nodes), CORTEX_X4).fusion
    before, after = found.before, found.after
    assert [kernel.op_type for kernel in before.kernels] == ["Conv", "BatchNormalization", "Relu"]
    assert [kernel.op_type for kernel in after.kernels] == ["FusedConv"]
    assert (len(before.activations), len(after.activations)) == (6, 2)
    between = [access for access in before.activations if access.role == "between"]
    assert before.activation_bytes - after.activation_bytes == sum(a.size_bytes for a in between)
    assert found.ideal is None
    assert found.speedup == before.total_us / after.total_us > 1
    assert FUSION_FORM.loads(FUSION_FORM.dumps(found)) == found


@pytest.mark.parametrize(
    ("name", "fused"),
    [("example-conv", "FusedConv"), ("example-matmul", "FusedGemm"), ("example-gelu", "Gelu")],
)
def test_every_example_becomes_one_kernel(
    pool: WorkerPool, tour: Subject, name: str, fused: str
) -> None:
    found = example(pool, tour, name).fusion
    assert [kernel.op_type for kernel in found.after.kernels] == [fused]
    assert len(found.after.activations) == 2
    assert found.before.total_us > found.after.total_us


def test_an_example_has_the_size_that_was_chosen_and_no_other(
    pool: WorkerPool, tour: Subject
) -> None:
    found = example(pool, tour, "example-matmul", rows=8, inner=16, columns=7).fusion
    product = found.before.kernels[0]
    assert [access.shape for access in product.reads] == ["8×16", "16×1024"]
    assert EXAMPLES["example-matmul"].sizes({"rows": 8, "columns": 7})["columns"] == 1024


def test_what_no_pass_fuses_is_shown_beside_one_kernel_as_it_would_be(
    pool: WorkerPool, tour: Subject, chains: tuple[Chain, ...]
) -> None:
    chain = next(chain for chain in chains if chain.title.startswith("MatMul"))
    found = on_device(pool, tour, ChainRequest(chain.title, chain.nodes), H200).fusion
    assert found.ideal is not None
    (one,) = found.ideal.kernels
    assert found.best is found.ideal
    assert len(found.ideal.activations) < len(found.before.activations)
    parts = [kernel.parts for kernel in found.before.kernels]
    assert one.parts.emit_us == max(each.emit_us for each in parts)
    assert one.parts.compute_us == pytest.approx(sum(each.compute_us for each in parts))
    assert one.parts.read_us < sum(each.read_us for each in parts)
    assert "One kernel would be" in fusion_title(found)


def test_nodes_selected_in_the_viewer_are_a_chain_or_the_reason_why_not(tour: Subject) -> None:
    graph = load_path(tour[0].folder / opened.SOURCE).ir.graph
    nodes = list(graph)
    conv = next(node for node in nodes if node.op_type == "Conv")
    norm = next(iter(conv.outputs[0].uses())).node
    block = chain_of(graph, [node_id(norm), node_id(conv)])
    assert block.nodes == (conv, norm)
    with pytest.raises(StudioError, match="at least two nodes"):
        chain_of(graph, [node_id(conv)])
    apart = [node_id(conv), node_id(next(n for n in nodes if n.op_type == "MatMul"))]
    with pytest.raises(StudioError, match="used outside of the selection"):
        chain_of(graph, apart)


def test_a_selection_that_no_step_has_is_refused(pool: WorkerPool, tour: Subject) -> None:
    with pytest.raises(StudioError, match="not in one graph"):
        on_device(pool, tour, ChainRequest("Selected", ("no-such", "nodes"), (0, 1)), H200)


def test_the_rows_are_as_long_as_the_versions_take(pool: WorkerPool, tour: Subject) -> None:
    found = example(pool, tour, "example-gelu").fusion
    figure: Any = fusion_bars(found)
    unit = 1000 if found.before.total_us >= 1000 else 1
    for row, version in enumerate((found.before, found.after)):
        ends = [
            base + x
            for trace in figure.data
            for base, x, y in zip(trace.base, trace.x, trace.y, strict=True)
            if round(y) == row
        ]
        assert max(ends) == pytest.approx(version.total_us / unit)
    assert "5 launches → 1" in figure.layout.title.text


def test_the_picture_has_an_arrow_for_every_access(pool: WorkerPool, tour: Subject) -> None:
    found = example(pool, tour, "example-conv").fusion
    figure: Any = memory_picture(found, dark=False)
    arrows = [note for note in figure.layout.annotations if note.showarrow]
    weights = 2 + 1  # those of Conv and those of BatchNormalization; those of FusedConv
    assert len(arrows) == 6 + 2 + weights
    texts = [note.text for note in figure.layout.annotations]
    assert sum(text == "not in<br>memory" for text in texts) == 2


def test_a_race_of_a_chain_says_predicted_and_measured_and_is_kept_as_a_race(
    pool: WorkerPool, tour: Subject, tmp_path: Path
) -> None:
    explanation = example(pool, tour, "example-gelu", rows=64, columns=256)
    labels = [variant.label for variant in variants_of(explanation)]
    assert labels == [AS_IT_IS, PASSES, RUNTIME]
    kept: list[Recording] = []

    def keep(recording: Recording) -> int:
        kept.append(recording)
        return 7

    here = replace(CORTEX_X4, id="this", name=this_machine().cpu, measured=True)
    request = FusionRaceRequest(ChainRequest("example-gelu"), explanation, here, 1.0)
    store = Store(pool, root=tmp_path)
    found = FUSION_EXPERIMENT.conducted(Equipment(store, pool, tour), request, keep)
    assert found.record_id == 7
    (race,) = found.races
    assert all(timing.believable for timing in race.timings)
    told = fusion_finding(race, explanation.fusion, here)
    assert f"Predicted {explanation.fusion.speedup:.2f}×, measured: our passes" in told
    for other in (CORTEX_X4, replace(here, name="another CPU"), replace(here, measured=False)):
        elsewhere = fusion_finding(race, explanation.fusion, other)
        assert elsewhere.startswith("Measured: our passes")
        assert other.name not in elsewhere
    (recording,) = kept
    assert recording.kind == "race"
    assert recording.title == found.title == f"example-gelu: {told}"
    again = RACE_EXPERIMENT.form.from_json(
        json.loads(json.dumps(recording.payload, allow_nan=False))
    )
    assert again == replace(found, record_id=None)
    assert [row.step for row in recording.measurements] == [None, None, None]
