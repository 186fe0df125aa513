"""Who asks passes first: whoever waits for an answer, then of a rest, then of the source."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from studio.turns import Turns

RUN, OTHER = Path("run"), Path("other")
LONG_S = 60


def begun(act: Callable[[], None]) -> threading.Thread:
    """It, in a thread of its own."""
    thread = threading.Thread(target=act, daemon=True)
    thread.start()
    return thread


def test_of_a_run_nobody_is_answered_while_a_little_is_asked_ahead_and_of_others_all_are() -> None:
    turns, answered = Turns(), threading.Event()

    def answer() -> None:
        with turns.answering(RUN):
            answered.set()

    with turns.ahead(RUN, 0) as wanted:
        assert wanted
        waiting = begun(answer)
        with turns.answering(OTHER):
            assert not answered.is_set()
    waiting.join(LONG_S)
    assert answered.is_set()


def test_nothing_is_asked_ahead_while_anybody_is_answered() -> None:
    turns, order = Turns(quiet_seconds=0), list[str]()

    def ahead() -> None:
        with turns.ahead(RUN, 0):
            order.append("ahead")

    with turns.answering(OTHER):
        waiting = begun(ahead)
        with turns.answering(RUN):
            order.append("answered")
    waiting.join(LONG_S)
    assert order == ["answered", "ahead"]


def test_a_rest_ends_what_is_asked_about_the_step_before_and_holds_up_the_source() -> None:
    turns, order = Turns(resting_seconds=0), list[int]()

    def ahead(step: int) -> None:
        with turns.ahead(RUN, step) as wanted:
            order.append(step if wanted else -step)

    turns.rest(RUN, 3)
    with turns.ahead(OTHER, 0):
        waiting = [begun(lambda: ahead(3)), begun(lambda: ahead(0))]
        turns.rest(RUN, 5)
        waiting[0].join(LONG_S)
    ahead(5)
    turns.leave(RUN, 3)
    assert order == [-3, 5]
    turns.leave(RUN, 5)
    waiting[1].join(LONG_S)
    assert order == [-3, 5, 0]


def test_while_somebody_goes_from_step_to_step_the_source_is_not_asked_about_between() -> None:
    turns, order = Turns(quiet_seconds=0, resting_seconds=10 * LONG_S), list[Path]()

    def ahead(run: Path) -> None:
        with turns.ahead(run, 0):
            order.append(run)

    turns.rest(RUN, 3)
    turns.leave(RUN, 3)
    waiting = begun(lambda: ahead(RUN))
    ahead(OTHER)
    waiting.join(0.2)
    assert (order, waiting.is_alive()) == ([OTHER], True)
