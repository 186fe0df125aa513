"""The same variants raced for each question, one question after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from optimizer.isolation import Following
from profiling.config.question import ask
from profiling.racing.executor import JobOutcome, Observe, RaceJob
from profiling.racing.plan import RacePlan
from profiling.racing.questions import run_races
from profiling.racing.race import Race, Variant
from tests.studio.races import race, timing


class Recorder:
    """An executor that tells half of each race and then all of it, and keeps what it was given."""

    def __init__(self) -> None:
        self.jobs: list[RaceJob] = []

    def run(
        self,
        jobs: Sequence[RaceJob],
        *,
        observe: Observe | None = None,
        **following: Unpack[Following],
    ) -> list[JobOutcome]:
        progress = following.get("progress")
        (job,) = jobs
        self.jobs.append(job)
        assert progress is not None
        assert observe is not None
        progress("round 1", 0.5)
        for rounds in (3, 6):
            observe(0, found := raced(job, rounds))
        return [JobOutcome(found)]


def raced(job: RaceJob, rounds: int) -> Race:
    question = "bare" if job.variants[0].config.intra_threads == 1 else "deployed"
    return race([timing(one.label, rounds=rounds, question=question) for one in job.variants])


def test_questions_are_raced_in_turn_and_progress_says_which() -> None:
    said: list[tuple[str, float]] = []
    known: list[list[int]] = []
    asked = [
        [Variant(label, b"", config) for label, config in zip("ab", configs, strict=True)]
        for configs in ask("both", [{}, {}]).configs
    ]
    executor = Recorder()
    races = run_races(
        asked, RacePlan(seconds=4.0), executor,
        progress=lambda text, share: said.append((text, share)),
        partial=lambda found: known.append([len(one.timings[0].blocks_ms) for one in found]),
    )  # fmt: skip
    assert [one.question for one in races] == ["deployed", "bare"]
    assert said == [("deployed, round 1", 0.25), ("bare, round 1", 0.75)]
    assert known == [[3], [6], [6, 3], [6, 6]]
    assert [job.plan.seconds for job in executor.jobs] == [4.0, 4.0]


def test_one_question_alone_is_not_named() -> None:
    said: list[str] = []
    asked = [[Variant("a", b"", config) for config in ask("bare", [{}]).configs[0]]]
    run_races(asked, RacePlan(), Recorder(), progress=lambda text, _: said.append(text))
    assert said == ["round 1"]
