"""What passes would do at a step, asked in two parts, and of the source before anybody asks."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import onnx_ir as ir
import pytest

from optimizer.isolation import silent
from optimizer.limits import JobLimits
from optimizer.model.symbolic import SymbolicValues
from optimizer.pipeline import Pipeline
from optimizer.rewrite import what_if as asking
from optimizer.rewrite.graph_at import graph_at
from optimizer.rewrite.what_if import what_if
from profiling.workers import default_pool
from studio import opening, services
from studio.artifacts import preview
from studio.artifacts.opened import OpenedModel, OpenedRun
from studio.artifacts.preview import (
    PREVIEW,
    StepPreview,
    ask_some,
    ask_soon,
    asked_passes,
    make_preview,
)
from studio.artifacts.store import Store
from studio.gallery import gallery
from studio.opening import ask_ahead, preview_task, soon_task
from studio.tasks import Tasks
from studio.turns import Turns
from tests.studio.artifacts import beside

LIMITS = JobLimits(seconds=60)
Opened = tuple[Store, OpenedModel, OpenedRun]


@pytest.fixture
def subject(tmp_path: Path) -> Opened:
    store = Store(default_pool(), root=tmp_path)
    model = store.open_file(gallery.open_path("tour"), name="tour")
    run = store.run(model, Pipeline.of("portable"))
    shutil.rmtree(run.folder / PREVIEW.name(0), ignore_errors=True)  # where there was time for it
    return store, model, run


def all_known(run: OpenedRun, step: int | None) -> None:
    """Ask ahead, here, until nothing is left."""
    while not ask_some(run.files, step):
        pass


def asked_here(run: OpenedRun, step: int) -> StepPreview:
    """What all passes say, found out here."""
    return make_preview(run.files, step, progress=silent)


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("share", [0, 1 / 3, 1 / 2, 1])
def test_what_is_said_soon_grows_into_what_all_passes_say(
    subject: Opened, monkeypatch: pytest.MonkeyPatch, share: float, ahead: bool
) -> None:
    monkeypatch.setattr(preview, "PASS_SECONDS", 60)
    monkeypatch.setattr(preview, "SOON_SECONDS", 0)
    monkeypatch.setattr(preview, "_seconds", {})
    run = subject[2]
    step = round(run.result.steps * share)
    all_known(run, step if ahead else None)
    pipeline = Pipeline.of("portable")
    asked = asked_passes(pipeline)
    found = what_if(graph_at(run.files, step), asked, pipeline, seconds=60)
    asking = partial(ask_soon, run.files, step)
    parts = [asking()]
    while parts[-1].unasked:
        graph_at(run.files, run.result.steps - step)  # meanwhile others look at another step
        parts.append(asking())
    assert len(parts) == (1 if ahead else len(asked))
    for one, other in pairwise(parts):
        assert {*one.passes} <= {*other.passes}
        assert {*one.unasked} > {*other.unasked}
    whole = StepPreview(step, tuple(one for one in found if one.matches or one.declined))
    asked_here(run, run.result.steps - step)
    assert asked_here(run, step) == parts[-1] == whole


def test_who_may_take_long_is_asked_last_where_somebody_waits(
    subject: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = subject[2]
    passes = asked_passes(Pipeline.of("portable"))
    slow = "eliminate-identity"
    monkeypatch.setattr(preview, "_seconds", {(slow, False): 1000.0})
    monkeypatch.setattr(preview, "SOON_SECONDS", 0)
    asked = [set(ask_soon(run.files, 0).unasked) for _ in passes]
    order = [*({one.id for one in passes} - asked[0])]
    order += [one for before, after in pairwise(asked) for one in before - after]
    assert len(order) == len(passes)
    globally = {one.id for one in passes if one.global_analysis}
    assert {*globally} >= {"assign-layout", "convert-to-float16", "outline-repeats"}
    assert {*order[-len(globally) :]} == globally
    assert order[-len(globally) - 1] == slow


def test_processes_that_share_the_passes_say_what_one_says(subject: Opened) -> None:
    store, model, run = subject
    step = run.result.steps // 2
    assert store.get(PREVIEW, (model, run), step) == asked_here(run, step)


def test_the_source_is_asked_about_while_the_run_is_made(subject: Opened, tmp_path: Path) -> None:
    _, model, run = subject
    pipeline = Pipeline.of("portable").to_json()
    default_pool()(beside.rewritten, model.folder, tmp_path, pipeline, limits=LIMITS)
    assert PREVIEW.read(tmp_path / PREVIEW.name(0), 0) == asked_here(run, 0)


@pytest.mark.parametrize("most", [0, 1, 50])
def test_who_was_heard_while_the_run_was_made_is_not_asked_again(
    subject: Opened, tmp_path: Path, most: int
) -> None:
    _, model, run = subject
    pipeline = Pipeline.of("portable").to_json()
    found = default_pool()(
        beside.interrupted, model.folder, tmp_path, pipeline, most, limits=LIMITS
    )  # fmt: skip
    assert not (tmp_path / PREVIEW.name(0)).exists()
    lies = {one.pass_id for one in found.passes if one.matches == beside.LIE}
    assert len(lies) == most
    true = {one for one in asked_here(run, 0).passes if one.pass_id not in lies}
    assert {one for one in found.passes if one.pass_id not in lies} == true
    assert not found.unasked


@dataclass
class Served:
    """A server's tasks, and what its workers did for them, in order."""

    tasks: Tasks
    done: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    then: Callable[[], None] = lambda: None
    """Called after each job."""

    def ended(self) -> None:
        """Wait for all tasks; none has failed."""
        while running := self.tasks.running(()):
            for task in running.values():
                assert task.wait(60)
                assert task.error is None


@pytest.fixture
def served(subject: Opened, monkeypatch: pytest.MonkeyPatch) -> Served:
    """Pages and tasks over the store of `subject`."""
    store, served, turns = subject[0], Served(Tasks()), Turns()
    for module in (opening, services):
        monkeypatch.setattr(module, "store", lambda: store)
        monkeypatch.setattr(module, "tasks", lambda: served.tasks)
        monkeypatch.setattr(module, "turns", lambda: turns)

    def isolate(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        served.done.append((function, args[1]))
        result = default_pool()(function, *args, **options)
        served.then()
        return result

    monkeypatch.setattr(store, "_isolate", isolate)
    return served


def answered(subject: Opened, step: int) -> bool:
    """Whether all that can be asked about a step lies in the store."""
    store, model, run = subject
    return store.has(PREVIEW, (model, run), step)


def test_what_is_asked_ahead_is_there_before_anybody_asks(subject: Opened, served: Served) -> None:
    _, model, run = subject
    for opened_before in (False, True):
        ask_ahead(model, run)
        served.ended()
        *ahead, last = served.done if opened_before else served.done[:-1]
        assert all(function is ask_some for function, _ in [*ahead, last])
        assert last[1] == (None if opened_before else 0)
        served.tasks.drop(("what-if ahead", model.key, run.key, 0))
        served.done.clear()
    for task in (preview_task, soon_task):
        asking = task(model, run, 0)
        assert asking.wait(60)
        assert asking.result is not None
    assert not served.done


def test_the_step_where_somebody_rests_is_asked_about_before_anybody_asks(
    subject: Opened, served: Served
) -> None:
    _, model, run = subject
    for _ in range(2):
        ask_ahead(model, run, 3)
        served.ended()
    assert answered(subject, 3)
    assert served.done[-1][1] == 3


def test_who_rests_elsewhere_is_not_answered_about_the_step_before(
    subject: Opened, served: Served
) -> None:
    _, model, run = subject

    def move() -> None:
        served.then = lambda: None
        ask_ahead(model, run, 5)

    served.then = move
    ask_ahead(model, run, 3)
    served.ended()
    assert served.done[0] == (ask_some, 3)
    assert not any(request == 3 for _, request in served.done[1:])
    assert (answered(subject, 3), answered(subject, 5)) == (False, True)


def test_who_waits_for_an_answer_comes_before_what_is_left_to_ask_ahead(
    subject: Opened, served: Served
) -> None:
    _, model, run = subject

    def click() -> None:
        served.then = lambda: None
        soon_task(model, run, 5)
        while not services.turns().is_waited_for:
            time.sleep(0.01)

    served.then = click
    ask_ahead(model, run, 3)
    served.ended()
    assert served.done[:2] == [(ask_some, 3), (ask_soon, 5)]
    assert answered(subject, 3)


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
    all_known(run, None)
    for step in (0, 3, run.result.steps):
        asked_here(run, step)
    assert len(begun) == 1
