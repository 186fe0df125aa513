"""What passes would do at a step, asked in two parts, and of the source before anybody asks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx_ir as ir
import pytest

from optimizer.isolation import silent
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.rewrite import what_if as asking
from optimizer.rewrite.graph_at import graph_at
from optimizer.rewrite.what_if import what_if
from profiling.workers import default_pool
from studio import opening, preview, services
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.store import Store
from studio.gallery import gallery
from studio.opening import ask_ahead, preview_task
from studio.preview import PARTS, Question, StepPreview, asked_passes, know_values, make_preview
from studio.tasks import Tasks

Opened = tuple[Store, OpenedModel, OpenedRun]


@pytest.fixture
def subject(tmp_path: Path) -> Opened:
    store = Store(default_pool(), root=tmp_path)
    model = store.open_file(gallery.open_path("tour"), name="tour")
    return store, model, store.run(model, Pipeline.of("portable"))


@pytest.mark.parametrize("share", [0, 1 / 3, 1 / 2, 1])
def test_both_parts_together_say_what_all_passes_say(
    subject: Opened, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    monkeypatch.setattr(preview, "PASS_SECONDS", 60)
    run = subject[2]
    step = round(run.result.steps * share)
    know_values(run.files)
    pipeline = Pipeline.of("portable")
    asked = asked_passes(pipeline)
    found = what_if(graph_at(run.files, step), asked, pipeline, seconds=60)
    parts: list[StepPreview] = []
    for part in PARTS:  # and meanwhile others look at another step
        parts.append(make_preview(run.files, Question(step, part), progress=silent))
        graph_at(run.files, run.result.steps - step)
    make_preview(run.files, Question(run.result.steps - step, PARTS[0]), progress=silent)
    parts[0] = make_preview(run.files, Question(step, PARTS[0]), progress=silent)
    told = [one for part in parts for one in part.passes]
    assert {one.pass_id: one for one in told} == {
        one.pass_id: one for one in found if one.matches or one.declined
    }
    assert len(told) == len({one.pass_id for one in told})
    looks_globally = {one.id for one in asked if one.global_analysis}
    assert looks_globally >= {"assign-layout", "convert-to-float16", "outline-repeats"}
    assert looks_globally.isdisjoint(one.pass_id for one in parts[0].passes)


def test_what_is_asked_ahead_is_there_before_anybody_asks(
    subject: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, model, run = subject
    tasks = Tasks()
    for module in (opening, services):
        monkeypatch.setattr(module, "store", lambda: store)
        monkeypatch.setattr(module, "tasks", lambda: tasks)
    done: list[object] = []

    def isolate(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        done.append(function)
        return default_pool()(function, *args, **options)

    monkeypatch.setattr(store, "_isolate", isolate)
    for opened_before in (False, True):
        ask_ahead(model, run)
        (ahead,) = tasks.running(()).values()
        assert ahead.wait(60)
        assert ahead.error is None
        assert done.pop(0) is know_values
        assert len(done) == (0 if opened_before else len(PARTS))
        tasks.drop(("what-if ahead", model.key, run.key))
        done.clear()
    for part in PARTS:
        asking = preview_task(model, run, Question(0, part))
        assert asking.wait(60)
        assert asking.result is not None
    assert not done


def test_what_is_known_of_the_source_is_not_found_out_again_at_another_step(
    subject: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = subject[2]
    begun: list[ir.Model] = []

    class Noted(SymbolicValues):
        def __init__(self, model: ir.Model) -> None:
            begun.append(model)
            super().__init__(model)

    monkeypatch.setattr(asking, "SymbolicValues", Noted)
    know_values(run.files)
    for step in (0, 3, run.result.steps):
        make_preview(run.files, Question(step, "local"), progress=silent)
    assert len(begun) == 1
