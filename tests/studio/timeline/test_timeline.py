"""Profiles of real networks, from the run to the figure and to the viewer's colours."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any, cast

import pytest
from starlette.requests import Request
from streamlit.testing.v1 import AppTest

from optimizer.pipeline import Pipeline
from profiling.config import RunConfig
from profiling.config.session import GraphOptimization
from profiling.racing.race import Variant
from profiling.timeline.attribution import Kernel, attribute, kernels_of
from profiling.timeline.balance import balance
from profiling.timeline.events import Event, Run, Timeline
from profiling.timeline.memory import MemoryCurve
from profiling.timeline.origins import origins_of
from profiling.timeline.profile import Phase, Profile
from profiling.workers import default_pool
from studio import server
from studio.artifacts import jobs
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.experiment import Equipment
from studio.figures.change_bars import (
    change_bars,
    operator_times,
    row_became,
    row_title,
    tree_map,
)
from studio.gallery import gallery
from studio.overlays import offered
from studio.timeline.figure import gantt
from studio.timeline.job import PROFILE_EXPERIMENT, ProfileRequest, run_profile
from studio.timeline.memory_figure import memory_panels
from studio.timeline.page import how
from studio.timeline.result import ProfileReport
from studio.variants.variant import LAST, TraceVariant
from tests.coroutines import finished
from tests.profiling.timeline.measured import measured
from tests.studio.profiles import profiled

pytestmark = pytest.mark.long

VARIANTS = (
    TraceVariant("source", 0, RunConfig()),
    TraceVariant("default", LAST, RunConfig()),
    TraceVariant("runtime's own", 0, RunConfig(graph_optimization="all")),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(default_pool(), root=tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def subject(store: Store) -> tuple[OpenedModel, OpenedRun]:
    model = store.open_file(gallery.open_path("tour"), name="tour")
    return model, store.run(model, Pipeline.of("default"))


@pytest.fixture(scope="module")
def report(store: Store, subject: tuple[OpenedModel, OpenedRun]) -> ProfileReport:
    told: list[float] = []
    bench = Equipment(store, default_pool(), subject, lambda _, fraction: told.append(fraction))
    made = run_profile(bench, ProfileRequest(VARIANTS, runs=3))
    assert told == sorted(told)
    assert 0 <= told[0] <= told[-1] <= 1
    return made


@pytest.mark.parametrize("level", ["disabled", "all"])
@pytest.mark.parametrize("name", ["resnet50", "bert", "gpt2"])
def test_at_least_95_percent_of_real_networks_is_attributed(
    store: Store, name: str, level: GraphOptimization
) -> None:
    model = store.open_file(gallery.open_path(name), name=name)
    run = store.run(model, Pipeline.of("default"))
    last = int(run.result.steps)
    origins = default_pool()(origins_of, run.files, (0, last))
    sides: list[list[Kernel]] = []
    for step in (0, last):
        variant = Variant(
            "v", store.materialize(model, run, step), RunConfig(graph_optimization=level)
        )
        made = measured(variant, pool=default_pool(), runs=2)
        sides.append(kernels_of(made, origins.steps[step], "steady"))
        for one in made.timeline.runs:
            added = balance(one)
            assert sum(added.own_us) + added.gaps_us == one.duration_us
        assert made.steady is not None
        added_us = sum(balance(made.steady).own_us)
        assert sum(k.time_us for k in sides[-1]) == pytest.approx(added_us)
    found = attribute(*sides)
    assert found.before_share >= 0.95
    assert found.after_share >= 0.95
    assert sum(row.before_us for row in found.rows) > 0
    assert max(len(row.sources) for row in found.rows) < 40  # nothing was thrown into one row
    if level == "disabled":
        assert {s for k in sides[0] for s in k.sources} == set(origins.source)


def test_every_variant_has_its_runs_and_its_nodes(report: ProfileReport) -> None:
    assert [one.error for one in report.variants] == ["", "", ""]
    assert all(len(profile.timeline.runs) == 3 for profile in report.profiles.values())
    found = report.attribution("source", "runtime's own", "steady")
    assert (found.before_share, found.after_share) == (1, 1)
    assert len(report.variants[2].kernels("steady")) < len(report.variants[0].kernels("steady"))


def test_a_variant_that_does_not_run_leaves_its_reason_and_the_others_their_times(
    store: Store,
) -> None:
    model = store.open_file(gallery.open_path("tour"), name="another")
    subject = (model, store.run(model, Pipeline.of("default")))
    wrong = TraceVariant("wrong", 0, RunConfig(thread_affinities="900", intra_threads=2))
    bench = Equipment(store, default_pool(), subject)
    made = run_profile(bench, ProfileRequest((wrong, VARIANTS[0]), runs=2))
    assert list(made.profiles) == ["source"]
    assert "900" in made.variants[0].error


def test_equal_requests_have_equal_keys(subject: tuple[OpenedModel, OpenedRun]) -> None:
    key = PROFILE_EXPERIMENT.key
    keys = {key(subject, ProfileRequest(tuple(VARIANTS))) for _ in range(2)}
    assert len(keys) == 1
    assert keys != {key(subject, ProfileRequest(VARIANTS[:2]))}


def test_the_viewer_gets_the_times_by_their_content(
    store: Store,
    subject: tuple[OpenedModel, OpenedRun],
    report: ProfileReport,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, run = subject
    told = offered(model, run)["node_times"]
    assert offered(model, None) == {"node_times": told}
    assert told["url"] == f"/api/overlays/{model.key}/{run.key}/node_times/{told['key']}.json"
    monkeypatch.setattr(server, "store", lambda: store)
    place = {"model": model.key, "run": run.key, "overlay": "node_times", "key": told["key"]}
    response = answer(place)
    assert (response.status_code, response.headers["content-encoding"]) == (200, "gzip")
    data = json.loads(gzip.decompress(response.body))
    assert [(one["step"], one["label"]) for one in data["profiles"]][:1] == [(0, "source")]
    first = report.variants[0].kernels("steady")
    assert [k[1] for k in data["profiles"][0]["kernels"]] == [k.time_us for k in first]
    drawn = json.loads(gzip.decompress((model.folder / jobs.GRAPH).read_bytes()))
    timed = {node for k in data["profiles"][0]["kernels"] for node in k[3]}
    assert timed == {node["id"] for node in drawn["nodes"]}
    for change in ({"key": "../../secret"}, {"run": ".."}, {"key": "0" * 16}, {"overlay": "."}):
        assert answer({**place, **change}).status_code == 404


def answer(place: dict[str, str]) -> Any:
    request = Request({"type": "http", "path_params": place})
    return finished(server.overlay(request))


def long_run(count: int) -> Profile:
    ops = ("Conv", "Relu", "Add", "Reshape")
    events = tuple(
        Event(f"n{i}", ops[i % 4], "", 10 * i, 7, 1, i, 0, 0, 0, None) for i in range(count)
    )
    return Profile(Timeline(0, 0, (Run(0, 10 * count, events),)), ())


def test_ten_thousand_operators_are_a_handful_of_shapes() -> None:
    drawn: Any = gantt({"a <b>": long_run(10_000)}, "first", dark=False)
    assert len(drawn.layout.shapes) == 1 + 4
    boxes = sum(shape.path.count("Z") for shape in drawn.layout.shapes if shape.path)
    assert boxes == 10_000
    assert drawn.layout.title.text == (
        "First run: 70 ms in 10,000 operators, 30 ms in gaps between them"
    )
    assert drawn.layout.yaxis.ticktext == ("a &lt;b&gt; ",)


def test_figures_of_real_profiles_say_what_they_found(report: ProfileReport) -> None:
    steady: Any = gantt(report.profiles, "steady", dark=True)
    assert len(steady.layout.yaxis.tickvals) == 3
    ends = [run.duration_us for p in report.profiles.values() if (run := p.run("steady"))]
    assert steady.layout.xaxis.range[1] >= max(ends) / 1000
    found = report.attribution("source", "default", "steady")
    bars: Any = change_bars(
        found, report.source, labels=("source", "default"), colors=("#000", "#fff")
    )
    assert "100 % of the time is attributed" in bars.layout.title.text
    gone = [row for row in found.rows if not row.after]
    assert gone
    assert all(row_became(row, report.source) in ("gone", "computed ahead") for row in gone)
    assert all(row_title(row, report.source) for row in found.rows)
    trees: Any = tree_map({one.label: one.kernels("steady") for one in report.variants}, dark=False)
    assert [tree.values[0] for tree in trees.data] == [
        sum(k.time_us for k in one.kernels("steady")) for one in report.variants
    ]


@pytest.mark.parametrize("phase", ["steady", "first"])
def test_all_figures_of_a_profile_have_one_total(report: ProfileReport, phase: Phase) -> None:
    kernels = {one.label: one.kernels(phase) for one in report.variants}
    totals_us = [sum(kernel.time_us for kernel in each) for each in kernels.values()]
    runs = [run for profile in report.profiles.values() if (run := profile.run(phase)) is not None]
    assert [balance(run).operators_us for run in runs] == pytest.approx(totals_us)
    assert [sum(col) for col in zip(*operator_times(kernels).values(), strict=True)] == (
        pytest.approx(totals_us)
    )
    changes = report.attribution("source", "default", phase)
    rows = (*changes.rows, changes.unattributed)
    assert sum(row.before_us for row in rows) == pytest.approx(totals_us[0])
    ends = [
        note.x for note in cast("Any", gantt(report.profiles, phase, dark=False)).layout.annotations
    ]
    parts = [balance(run) for run in runs]
    assert ends == pytest.approx([(one.operators_us + one.gaps_us) / 1000 for one in parts])


def test_what_the_profiler_took_is_told_under_the_timeline(report: ProfileReport) -> None:
    assert "µs a node" in how(report)
    assert "measured here in turns with these runs" in how(report)
    bare = [replace(p, profiler=None) for p in report.profiles.values()]
    untold = [replace(v, profile=p) for v, p in zip(report.variants, bare, strict=True)]
    assert "are not taken off" in how(replace(report, variants=tuple(untold)))


def test_memory_splits_repacked_weights_off_and_takes_other_sources() -> None:
    live, held, used, device_bytes = (
        tuple(size << 20 for size in sizes)
        for sizes in ((100, 40), (900, 900), (320, 260), (1000, 1000))
    )
    runtime = MemoryCurve("runtime", (5, 9), live, held, used, 200 << 20, 330 << 20)
    device = MemoryCurve("device", (5, 9), device_bytes, ())
    drawn: Any = memory_panels({"v": [runtime, device]}, title="t", weights={"v": 150 << 20})
    by_name: dict[str, list[float]] = {
        trace.hovertemplate.partition("<br>")[0]: list(trace.y) for trace in drawn.data
    }
    assert by_name["v, repacked weights"] == [150] * 3
    assert by_name["v, planned block"] == [200] * 3
    assert by_name["v, requested"] == [300, 300, 240]
    assert by_name["v, device memory"] == [1000] * 3
    assert drawn.layout.yaxis.range[1] > 1000


def draw_timeline(report: object) -> None:
    from studio.timeline.page import show_timeline

    show_timeline(report)  # pyright: ignore[reportArgumentType] - its source runs elsewhere


def draw_memory(report: object) -> None:
    from studio.timeline.memory_page import show_memory

    show_memory(report)  # pyright: ignore[reportArgumentType] - its source runs elsewhere


def table(page: AppTest, number: int) -> dict[str, list[Any]]:
    found: Any = page.dataframe[number].value
    return found.to_dict("list")


def test_the_timeline_section_shows_figures_with_their_tables(report: ProfileReport) -> None:
    page = AppTest.from_function(draw_timeline, args=(report,), default_timeout=180).run()
    assert not page.exception
    assert [box.label for box in page.selectbox] == ["Before", "After"]
    assert [one.label for one in page.expander] == [
        "How each run adds up", "All nodes as a table", "Operators as a table",
    ]  # fmt: skip
    sums = table(page, 0)
    assert len(sums["variant"]) == 3
    for run_us, *parts in zip(*list(sums.values())[1:6], strict=True):
        assert sum(parts) == pytest.approx(run_us, rel=1e-9)
    assert set(table(page, 1)["became"]) & {"gone", "computed ahead"}


def test_the_memory_section_tells_weights_activations_and_block_apart(
    report: ProfileReport,
) -> None:
    page = AppTest.from_function(draw_memory, args=(report,), default_timeout=180).run()
    assert not page.exception
    found = table(page, 0)
    assert found["variant"] == [variant.label for variant in VARIANTS]
    assert set(found["from"]) == {"runtime"}
    assert "most taken on the GPU, MiB" not in found
    columns = (
        "repacked weights, MiB",
        "peak of activations, first run, MiB",
        "held by the arena, MiB",
    )
    for weights, peak, held in zip(*(found[name] for name in columns), strict=True):
        assert peak > 0
        assert held >= 0.99 * (weights + peak)


def test_the_memory_section_draws_what_a_gpu_has_taken_or_says_why_it_cannot() -> None:
    made = profiled(runs=2)
    curve = MemoryCurve("device", (0, 2_900), (400 << 20, 900 << 20), ())
    a = replace(made.variants[0], profile=replace(made.profiles["a"], device=(curve, curve)))
    c = replace(
        a, variant=replace(a.variant, label="c"),
        profile=replace(made.profiles["a"], device_missing="No driver."),
    )  # fmt: skip
    both = replace(made, variants=(a, c))
    page = AppTest.from_function(draw_memory, args=(both,), default_timeout=180).run()
    assert not page.exception
    assert [text.value for text in page.text] == ["No device memory of c: No driver."]
    assert table(page, 0)["most taken on the GPU, MiB"][0] == 900
    drawn = json.loads(page.get("plotly_chart")[0].proto.spec)  # pyright: ignore
    names = [trace["hovertemplate"].partition("<br>")[0] for trace in drawn["data"]]
    assert names == [
        "a, outputs still needed", "a, device memory", "c, outputs still needed",
    ]  # fmt: skip
    assert any("driver is asked" in one.value for one in page.caption)
