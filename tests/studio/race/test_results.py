"""What is left of a race: its recording, and what was known when it was cancelled."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from optimizer.errors import Cancelled, StudioError
from profiling.config.question import question_of_options
from profiling.racing.race import Race
from profiling.records import Recording
from studio.race.finding import finding
from studio.race.job import RACE_EXPERIMENT, RacedGraph, RaceReport
from studio.race.sweep.job import SWEEP_EXPERIMENT, SweepReport
from studio.tasks import Task
from tests.studio.races import SWEPT, THREE, deployed


def report() -> RaceReport:
    graphs = (RacedGraph(0, "", "ab"), RacedGraph(52, "", "cd"), RacedGraph(-1, "runtime", "ef"))
    return RaceReport("resnet50", "12" * 32, (THREE,), graphs)


def recorded(found: RaceReport) -> Recording:
    recording = RACE_EXPERIMENT.recording(found)
    assert recording is not None
    return recording


def test_a_recorded_race_is_the_same_race() -> None:
    recording = recorded(report())
    again = RACE_EXPERIMENT.form.from_json(json.loads(json.dumps(recording.payload)))
    assert again == report()
    assert recording.title == finding(THREE)


def test_a_recording_of_both_questions_keeps_both_and_each_row_says_which() -> None:
    both = replace(report(), races=(deployed(THREE), THREE))
    recording = recorded(both)
    written = json.loads(json.dumps(recording.payload))
    assert RACE_EXPERIMENT.form.from_json(written) == both
    assert [race["as"] for race in written["races"]] == ["deployed", "bare"]
    assert recording.title == finding(*both.races)
    assert recording.seconds == 2 * THREE.seconds
    asked = [question_of_options(row.options) for row in recording.measurements]
    assert asked == ["deployed"] * 3 + ["bare"] * 3


def test_a_recording_from_before_the_questions_opens_and_is_bare() -> None:
    old = dict(recorded(report()).payload)
    (race,) = old.pop("races")
    del race["as"]
    again = RACE_EXPERIMENT.form.from_json(
        {**old, "schema": "passlens.race-report/1", "race": race}
    )
    assert again == report()
    assert again.races[0].question == "bare"


def test_a_recording_has_a_flat_row_for_every_variant() -> None:
    rows = recorded(report()).measurements
    assert [row.label for row in rows] == ["source", "default preset", "runtime preset"]
    assert [row.step for row in rows] == [0, 52, None]
    assert rows[1].p50_ms == pytest.approx(0.81, rel=0.02)
    assert rows[1].first_ms == 8.0
    assert rows[2].workload == "ef"


def test_a_recorded_sweep_is_the_same_sweep() -> None:
    swept = SweepReport("tour", "34" * 32, (SWEPT,), (RacedGraph(0), RacedGraph(5)))
    recording = SWEEP_EXPERIMENT.recording(swept)
    assert recording is not None
    assert SWEEP_EXPERIMENT.form.from_json(json.loads(json.dumps(recording.payload))) == swept
    assert [row.label for row in recording.measurements][:2] == [
        "source, batch 1",
        "default preset, batch 1",
    ]


def test_a_recorded_sweep_from_before_the_questions_opens() -> None:
    swept = SweepReport("tour", "34" * 32, (SWEPT,), (RacedGraph(0), RacedGraph(5)))
    recording = SWEEP_EXPERIMENT.recording(swept)
    assert recording is not None
    old = dict(recording.payload)
    (sweep,) = old.pop("sweeps")
    again = SWEEP_EXPERIMENT.form.from_json(
        {**old, "schema": "passlens.sweep-report/1", "sweep": sweep}
    )
    assert again == swept
    assert again.sweeps[0].question == "bare"


def test_a_sweep_in_which_nothing_ran_is_not_kept() -> None:
    empty = replace(SWEPT, points=SWEPT.points[1:2])
    report = SweepReport("tour", "", (empty,), (RacedGraph(0), RacedGraph(5)))
    assert SWEEP_EXPERIMENT.recording(report) is None


@pytest.mark.parametrize("payload", [{}, {"schema": "passlens.race-report/1"}])
def test_a_damaged_recording_is_one_sentence(payload: dict[str, Any]) -> None:
    with pytest.raises(StudioError, match=r"race"):
        RACE_EXPERIMENT.form.from_json(payload)


def test_what_was_known_stays_when_a_task_is_cancelled() -> None:
    def work(*, progress: Any, cancelled: Any, partial: Any = None) -> None:
        del progress, cancelled
        partial(THREE)
        raise Cancelled("Cancelled.")

    task: Task[None] = Task()
    task.run(work)
    known: Race = task.partial
    assert isinstance(task.error, Cancelled)
    assert known is THREE


def test_work_that_publishes_nothing_is_not_asked_to() -> None:
    def work(*, progress: Any, cancelled: Any) -> str:
        progress("half", 0.5)
        return f"done, {cancelled()}"

    task: Task[str] = Task()
    thread = threading.Thread(target=task.run, args=(work,))
    thread.start()
    assert task.wait(10)
    thread.join()
    assert (task.result, task.partial, task.text) == ("done, False", None, "half")


def cancelled_page(rounds: int) -> None:
    """A page on which a race was cancelled: before its first round, or after some."""
    from dataclasses import replace

    from optimizer.errors import Cancelled
    from studio.page.launch import launch
    from studio.race.report import show_race_cut_short, show_race_so_far
    from studio.services import tasks
    from tests.studio.races import race, timing

    ready = replace(timing("source", rounds=rounds), outputs=())
    waiting = replace(timing("default preset"), blocks_ms=(), phases=None)

    def work(*, progress: object, cancelled: object, partial: object = None) -> None:
        assert callable(partial)
        partial((race([ready, waiting]),))
        raise Cancelled("Cancelled during the race.")

    key = ("cancelled race", rounds)
    tasks().start(key, work).wait(30)
    launch(
        key, work, explain=lambda: None, show=lambda _: None, name="Race",
        show_partial=show_race_so_far, show_left=show_race_cut_short,
    )  # fmt: skip


@pytest.mark.parametrize("rounds", [0, 8])
def test_a_cancelled_race_says_so_and_waits_for_nothing(rounds: int) -> None:
    page = AppTest.from_function(cancelled_page, args=(rounds,)).run(timeout=180)
    assert not page.exception
    said = [one.value for one in page.text]
    assert "Cancelled: what follows is incomplete." in said
    figures: list[Any] = list(page.get("plotly_chart"))
    drawn = " ".join([*said, *(figure.proto.spec for figure in figures)])
    for promise in ("Getting ready", "waiting for its turn", "no times yet"):
        assert promise not in drawn
    if rounds:
        assert "Stopped after 8 rounds: " in drawn
        assert "not measured" in drawn
    else:
        assert "It was stopped before the first round, so there is nothing to compare." in said
        assert "The first result takes" in drawn
