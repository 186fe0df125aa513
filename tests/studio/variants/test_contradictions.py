"""Options that contradict each other, whoever sets them, and the choice without that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from profiling.config.contradiction import Contradictory
from profiling.config.option import value_text
from profiling.config.settings import find_option
from studio.variants.chosen import chosen_of
from studio.variants.contradictions import ContradictoryQuestion, problem_of, with_mend
from studio.variants.link import LAST, SOURCE, RunChoice, VariantChoice
from studio.variants.problem import in_words, mend_text
from studio.workspace import Workspace

PAIR = (VariantChoice(SOURCE), VariantChoice(LAST))
SPINNING = ("spinning", True)
TWO_THREADS = ("intra_threads", 2)

COMMON = RunChoice(options=(SPINNING,), asked="bare")
OWN = RunChoice(variants=(PAIR[0], VariantChoice(LAST, (SPINNING,))), asked="bare")
NOT_BARE = RunChoice(options=(("graph_optimization", "all"),), asked="bare")
NOT_DEPLOYED = RunChoice(
    variants=tuple(replace(one, options=(("graph_optimization", "disabled"),)) for one in PAIR),
    asked="deployed",
)
BETWEEN = RunChoice(
    variants=(PAIR[0], VariantChoice(LAST, (("intra_threads", 1),))),
    options=(TWO_THREADS, SPINNING),
)
SEVERAL = RunChoice(
    variants=(
        VariantChoice(SOURCE, (("inter_threads", 4),)),
        VariantChoice(LAST, (("tf32", False), ("cudnn", False))),
    ),
    options=(SPINNING, ("optimizers_off", "ConstantFolding")),
    asked="bare",
)


def problem(choice: RunChoice) -> ContradictoryQuestion:
    found = problem_of(choice)
    assert found is not None
    return found


@pytest.mark.parametrize(("choice", "place"), [(COMMON, None), (OWN, 1), (BETWEEN, 1)])
def test_a_problem_says_whose_options_are_meant(choice: RunChoice, place: int | None) -> None:
    assert problem(choice).place == place


def test_common_options_that_every_variant_changes_for_itself_are_no_problem() -> None:
    varied = tuple(VariantChoice(LAST, (("intra_threads", count),)) for count in (2, 4))
    assert problem_of(RunChoice(variants=varied, options=(SPINNING,), asked="bare")) is None


def test_what_only_one_of_both_questions_cannot_run_is_no_problem() -> None:
    for choice in (COMMON, OWN):
        assert problem_of(replace(choice, asked="both")) is None


def test_the_level_of_another_question_is_a_problem_with_a_mend() -> None:
    for choice, place in ((NOT_BARE, None), (NOT_DEPLOYED, 0)):
        found = problem(choice)
        assert found.place == place
        sound = with_mend(choice, found, found.contradiction.mends[0])
        assert problem_of(sound) is None
    assert with_mend(NOT_BARE, problem(NOT_BARE), problem(NOT_BARE).contradiction.mends[0]) == (
        RunChoice(asked="bare")
    )
    assert "is bare and not deployed" in in_words(problem(NOT_DEPLOYED).contradiction)


def test_an_option_set_to_what_it_would_be_stays_set_by_a_mend() -> None:
    choice = RunChoice(options=(("intra_threads", 1), SPINNING), asked="bare")
    assert with_mend(choice, problem(choice), {"spinning": False}).options == (
        ("intra_threads", 1),
    )


@pytest.mark.parametrize("choice", [COMMON, OWN, BETWEEN, SEVERAL, NOT_BARE, NOT_DEPLOYED])
def test_every_mend_leaves_a_choice_that_can_be_run(choice: RunChoice) -> None:
    with pytest.raises(Contradictory):
        chosen_of(Workspace().having(choice), last=9)
    found = problem(choice)
    for mend in found.contradiction.mends:
        sound = with_mend(choice, found, mend)
        assert problem_of(sound) is None
        (variants,) = chosen_of(Workspace().having(sound), last=9).asked[:1]
        assert len(variants) == len(choice.variants)


def test_a_mend_changes_only_whose_options_were_wrong() -> None:
    off = {"spinning": False}
    assert with_mend(COMMON, problem(COMMON), off) == RunChoice(asked="bare")
    sound = with_mend(BETWEEN, problem(BETWEEN), off)
    assert sound.options == BETWEEN.options
    assert dict(sound.variants[1].options) == {"intra_threads": 1, "spinning": False}


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
