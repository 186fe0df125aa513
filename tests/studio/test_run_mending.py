"""Options that contradict each other, whoever sets them, and the choice without that."""

from __future__ import annotations

import pytest

from profiling.config.contradiction import Contradictory
from profiling.config.option import value_text
from profiling.config.settings import find_option
from studio.pages.run.problem import in_words, mend_text
from studio.pages.run.sidebar import entrants_of
from studio.run_choice import LAST, SOURCE, EntrantChoice, RunChoice
from studio.run_mending import Problem, problem_of, with_mend
from studio.workspace import Workspace

PAIR = (EntrantChoice(SOURCE), EntrantChoice(LAST))
SPINNING = ("spinning", True)
TWO_THREADS = ("intra_threads", 2)

COMMON = RunChoice(options=(SPINNING,))
OWN = RunChoice(entrants=(PAIR[0], EntrantChoice(LAST, (SPINNING,))))
BETWEEN = RunChoice(
    entrants=(PAIR[0], EntrantChoice(LAST, (("intra_threads", 1),))),
    options=(TWO_THREADS, SPINNING),
)
SEVERAL = RunChoice(
    entrants=(
        EntrantChoice(SOURCE, (("inter_threads", 4),)),
        EntrantChoice(LAST, (("tf32", False), ("cudnn", False))),
    ),
    options=(SPINNING, ("optimizers_off", "ConstantFolding")),
)


def problem(choice: RunChoice) -> Problem:
    found = problem_of(choice)
    assert found is not None
    return found


@pytest.mark.parametrize(("choice", "place"), [(COMMON, None), (OWN, 1), (BETWEEN, 1)])
def test_a_problem_says_whose_options_are_meant(choice: RunChoice, place: int | None) -> None:
    assert problem(choice).entrant == place


def test_common_options_that_every_variant_changes_for_itself_are_no_problem() -> None:
    varied = tuple(EntrantChoice(LAST, (("intra_threads", count),)) for count in (2, 4))
    assert problem_of(RunChoice(entrants=varied, options=(SPINNING,))) is None


@pytest.mark.parametrize("choice", [COMMON, OWN, BETWEEN, SEVERAL])
def test_every_mend_leaves_a_choice_that_can_be_run(choice: RunChoice) -> None:
    with pytest.raises(Contradictory):
        entrants_of(Workspace(choice=choice), last=9)
    found = problem(choice)
    for mend in found.contradiction.mends:
        sound = with_mend(choice, found, mend)
        assert problem_of(sound) is None
        assert len(entrants_of(Workspace(choice=sound), last=9)) == len(choice.entrants)


def test_a_mend_changes_only_whose_options_were_wrong() -> None:
    off = {"spinning": False}
    assert with_mend(COMMON, problem(COMMON), off) == RunChoice()
    sound = with_mend(BETWEEN, problem(BETWEEN), off)
    assert sound.options == BETWEEN.options
    assert dict(sound.entrants[1].options) == {"intra_threads": 1, "spinning": False}


def test_a_problem_is_told_in_labels() -> None:
    parallel = problem(RunChoice(options=(("execution_mode", "parallel"),)))
    said = in_words(parallel.contradiction)
    assert said == "'Execution mode: parallel' needs more than one of 'Inter-op threads'"
    threads, mode = map(mend_text, parallel.contradiction.mends)
    assert threads == "Inter-op threads: one per physical core"
    assert mode == "Execution mode: sequential"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("folding_limit_mib", 8, "8 MiB"),
        ("folding_limit_mib", 0, "no limit"),
        ("spinning", True, "on"),
        ("optimizers_off", "", "none"),
    ],
)
def test_a_value_is_told_with_its_unit(name: str, value: bool | int | str, text: str) -> None:
    assert value_text(find_option(name), value) == text
