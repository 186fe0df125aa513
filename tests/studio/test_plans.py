"""Pipelines with options behind a link: kept, opened, compared with, and gone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from optimizer.errors import StudioError
from optimizer.pipeline import Pipeline
from optimizer.registry import find
from profiling.precision.building import prelude
from profiling.workers import WorkerPool
from studio.artifacts.contents import clear
from studio.artifacts.plans import hold_plan, keep_plan, kept_plan
from studio.artifacts.store import Store
from studio.gallery import gallery
from studio.opening import run_task, versus_task
from studio.tasks import Task
from studio.variants.chosen import chosen_of
from studio.variants.link import SOURCE, RunChoice, VariantChoice, graph_of
from studio.variants.variant import run_of
from studio.viewing import changed_pipeline, workbench
from studio.workspace import Workspace, from_query, to_query

GONE = "The plan of this link is not on this server any more"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PASSLENS_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def plan() -> Pipeline:
    """Static int8 at one place."""
    declared = find("quantize-statically")
    assert declared is not None
    own = declared(**{"ranges": (("x", -1.0, 2.0),)})
    first = prelude()
    return replace(first, passes=(*first.passes, own), places={own.id: frozenset({"n1"})})


def test_a_plan_is_opened_with_its_options_and_a_pass_of_it_can_be_switched_off(
    plan: Pipeline,
) -> None:
    workspace = Workspace(model="tour", preset="none").with_plan(keep_plan(plan))
    again = from_query(to_query(workspace))
    assert json.dumps(again.pipeline().to_json()) == json.dumps(plan.to_json())
    without = again.with_pass("quantize-statically", enabled=False).pipeline()
    assert "quantize-statically" not in without.ids
    assert not without.places
    assert again.with_preset("default").pipeline() == Pipeline.of("default")


def test_a_plan_that_is_compared_with_keeps_its_options(plan: Pipeline) -> None:
    workspace = Workspace(model="tour").with_plan(keep_plan(plan))
    beside = changed_pipeline(workspace, {"versus": "now"}).with_preset("runtime")
    assert beside.plan == ""
    again = from_query(to_query(beside)).versus
    assert again is not None
    assert json.dumps(again.pipeline().to_json()) == json.dumps(plan.to_json())
    assert again.name().endswith("as planned")


def test_a_link_whose_plan_is_gone_says_so_keeps_it_and_runs_nothing(
    plan: Pipeline, cache: Path, shared_pool: WorkerPool
) -> None:
    key = keep_plan(plan)
    workspace = changed_pipeline(Workspace(model="tour").with_plan(key), {"versus": "now"})
    store = Store(shared_pool)
    model = store.open_file(gallery.open_path("tour"), name="tour")
    clear(cache)
    for task in (run_task(workspace, model), versus_task(workspace, model)):
        assert task is not None
        assert task.done
        assert task.result is None
        assert task.error is not None
        assert GONE in task.error.message
    assert to_query(workspace)["plan"] == key
    assert not [one for one in model.folder.iterdir() if one.is_dir()]
    shown = workbench(workspace, Task(result=model), run_task(workspace, model))
    assert GONE in shown["message"]["text"]
    assert "quantize-statically" in shown["pipeline"]["enabled"]
    assert workspace.with_preset("default").pipeline() == Pipeline.of("default")


def test_a_plan_stays_as_long_as_somebody_has_it_open(plan: Pipeline, cache: Path) -> None:
    key = keep_plan(plan, title="static int8 in <b>1</b> of 2_regions")
    held = hold_plan(key)
    clear(cache)
    assert kept_plan(key).title == "static int8 in b 1 /b of 2_regions"
    del held
    clear(cache)
    assert hold_plan(key) is None
    with pytest.raises(StudioError, match=GONE):
        kept_plan(key)


def test_a_plan_is_a_variant_of_a_race_whatever_rewrite_shows(
    cache: Path, shared_pool: WorkerPool
) -> None:
    store = Store(shared_pool)
    model = store.open_file(gallery.open_path("tour"), name="tour")
    key = keep_plan(Pipeline.of("none", enable=["eliminate-identity"]), title="identities")
    variants = (VariantChoice(SOURCE), VariantChoice(graph_of(key)))
    workspace = Workspace(model="tour").having(RunChoice(variants=variants))
    again = from_query(to_query(workspace))
    assert again.plans == {key}
    assert again.with_model("bert").of(RunChoice) == RunChoice()
    source, planned = chosen_of(again, last=5).asked[0]
    assert (source.label, planned.label) == ("source", "identities")
    subject = model, store.run(model, Pipeline.of("none"))
    assert run_of(planned, store, subject).result.steps > 0
    assert again.pipeline() == Pipeline.of("default")
    clear(cache)
    assert chosen_of(again, last=5).asked[0][1].label == "a plan that is gone"
    with pytest.raises(StudioError, match=GONE):
        run_of(planned, store, subject)
